import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { Trainer } from '../../src/trainer/trainer';
import { isCommand, isEvent, isEventList } from '../../src/worker/guards';
import type { WorkerCommand, WorkerEvent } from '../../src/worker/protocol';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';

const config = presetConfig('sppo', 'small');

/** A step event as the trainer really makes it, with every part that may be null present. */
async function realStep(): Promise<WorkerEvent> {
  const settings = { ...config, prompts: 8, beta: 0.1 };
  const reference = { description: '', logp: (b: { positions: number }) => Promise.resolve(new Float32Array(b.positions)), destroy: () => Promise.resolve() };
  const trainer = new Trainer(new FakeEngine({ initial: habit }), fakeTask, settings, { loadReference: () => Promise.resolve(reference) });
  return { type: 'step', ...(await trainer.runStep()) };
}

/** Paths to every field of a value, first items of lists only. */
function paths(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.length > 0 ? paths(value[0], [...at, 0]) : [];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...at, key], ...paths(inner, [...at, key])]);
}

/** A clone with one field changed by `change`. */
function changed(event: object, path: (string | number)[], change: (owner: Record<string | number, unknown>, key: string | number) => void): unknown {
  const clone: unknown = structuredClone(event);
  let owner = clone as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) owner = owner[key] as Record<string | number, unknown>;
  change(owner, path.at(-1) ?? '');
  return clone;
}

describe('message guards', () => {
  it('take a machine with and without a fallback, and refuse half of one', () => {
    const adapter = { vendor: '', architecture: '', device: '', description: '', software: true, f16: false, subgroups: false, timestamps: false };
    const fallback = { title: 'tfjs WASM', reason: 'No WebGPU.' };
    expect(isEvent({ type: 'capability', adapter })).toBe(true);
    expect(isEvent({ type: 'capability', adapter: { ...adapter, fallback } })).toBe(true);
    for (const bad of [undefined, null, {}, { title: 'tfjs WASM' }, { ...fallback, more: 1 }]) expect(isEvent({ type: 'capability', adapter: { ...adapter, fallback: bad } })).toBe(false);
    expect(isCommand({ type: 'engine', engine: 'other' })).toBe(false);
  });

  it('take a real step event, and refuse it with any one field missing, wrong or added', async () => {
    const event = await realStep();
    expect(isEvent(event)).toBe(true);
    // Aliases may hold any names; every other field is known.
    const all = paths(event).filter((p) => !p.includes('aliases') || p.at(-1) === 'aliases');
    expect(all.length).toBeGreaterThan(150);
    for (const path of all) {
      const name = path.join('.');
      expect(isEvent(changed(event, path, (owner, key) => delete owner[key])), `without ${name}`).toBe(false);
      expect(isEvent(changed(event, path, (owner, key) => (owner[key] = { odd: 'x' }))), `odd ${name}`).toBe(false);
      expect(isEvent(changed(event, path, (owner) => (owner.unheardOf = 1))), `beside ${name}`).toBe(false);
    }
  });

  it.each<WorkerCommand>([
    { type: 'probe' }, { type: 'init', config, modelsUrl: 'models/' }, { type: 'configure', patch: { objective: 'sppo@sequence/token' } }, { type: 'configure', patch: { epochs: 2 } }, { type: 'configure', patch: {} },
    { type: 'play' }, { type: 'pause' }, { type: 'step', count: 2 }, { type: 'reset', config }, { type: 'snapshot', requestId: 1 }, { type: 'loseDevice' }, { type: 'engine', engine: 'tfjs' },
  ])('take the command $type, and refuse it with any field missing or added', (command) => {
    expect(isCommand(command)).toBe(true);
    expect(isCommand({ ...command, more: 1 })).toBe(false);
    for (const path of paths(command)) {
      if (command.type === 'configure' && path[0] === 'patch' && path.length > 1) continue;
      expect(isCommand(changed(command, path, (owner, key) => delete owner[key])), path.join('.')).toBe(false);
    }
  });

  it('refuse an objective that is neither listed nor a mixture of one', () => {
    for (const objective of ['cispo@token', 'grpo@word', 'grpo@', 'nobody']) expect(isCommand({ type: 'configure', patch: { objective } }), objective).toBe(false);
  });

  it.each([null, undefined, 0, 'play', [], {}, { type: 1 }, { type: 'constructor' }, { type: 'toString' }, [{ type: 'play' }]])('refuse %j', (value) => {
    expect([isCommand(value), isEvent(value)]).toEqual([false, false]);
    expect(isEventList([value])).toBe(false);
  });
});
