import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import type { PolicyEngine } from '../../src/engines/engine';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import type { ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { columnAddition } from '../../src/tasks/defs/columnAddition';
import type { Task } from '../../src/tasks/task';
import type { Checkpoint } from '../../src/trainer/checkpoint';
import type { StepResult } from '../../src/trainer/step';
import { Trainer } from '../../src/trainer/trainer';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';

const noReference = { loadReference: () => Promise.reject(new Error('not expected')) };

/** Everything of an iteration but how long it took. */
const told = ({ report, batch }: StepResult) => ({ ...report, ms: null, tokensPerSecond: null, batch });

async function run(trainer: Trainer, steps: number) {
  const out = [];
  for (let i = 0; i < steps; i++) out.push(told(await trainer.runStep()));
  return out;
}

/** As it arrives after a way through a message to the page and back. */
const posted = (checkpoint: Checkpoint): Checkpoint => structuredClone(checkpoint);

const KINDS = [
  ['grpo', {}],
  ['gspo', { samplerLag: 2, epochs: 2 }],
  ['sppo', { groupSize: 1, prompts: 32 }],
  ['ppo', { groupSize: 1, prompts: 32, samplerPrecision: 'e5m2' }],
  ['dcpo', { advantage: 'smoothed' }],
] as const satisfies readonly (readonly [string, Partial<RunConfig>])[];

describe('a checkpoint', () => {
  const config = (objective: string, patch: Partial<RunConfig>): RunConfig => ({ ...presetConfig(objective, 'small'), prompts: 8, learningRate: 0.05, ...patch });

  it.each(KINDS)('of %s with %j: the run goes on elsewhere as it would have here', async (objective, patch) => {
    const trainer = new Trainer(new FakeEngine({ initial: habit }), fakeTask, config(objective, patch), noReference);
    await run(trainer, 4);
    const checkpoint = posted(await trainer.checkpoint());
    const here = await run(trainer, 4);
    const elsewhere = new Trainer(new FakeEngine(), fakeTask, config(objective, patch), noReference);
    await elsewhere.restore(checkpoint);
    expect(elsewhere.step).toBe(4);
    expect(await run(elsewhere, 4)).toEqual(here);
  });

  it('is a copy: what comes after does not touch it, and it can be taken back twice', async () => {
    const trainer = new Trainer(new FakeEngine({ initial: habit }), fakeTask, config('ppo', { groupSize: 1, prompts: 32 }), noReference);
    await run(trainer, 2);
    const checkpoint = await trainer.checkpoint();
    const kept = posted(checkpoint);
    const first = await run(trainer, 3);
    expect(checkpoint).toEqual(kept);
    await trainer.restore(checkpoint);
    expect(await run(trainer, 3)).toEqual(first);
    await trainer.restore(checkpoint);
    expect(await run(trainer, 3)).toEqual(first);
  });

  it('mends a run that had failed, under the settings that are in force then', async () => {
    const engine = new FakeEngine({ initial: habit });
    const trainer = new Trainer(engine, fakeTask, config('grpo', {}), noReference);
    await run(trainer, 2);
    const checkpoint = await trainer.checkpoint();
    engine.poison = { inUpdates: 1, field: 'newLogp' };
    await expect(trainer.runStep()).rejects.toThrow(/not a finite number/);
    await expect(trainer.runStep()).rejects.toThrow(/not a finite number/);
    trainer.configure({ learningRate: 0.01 });
    await trainer.restore(checkpoint);
    const [next] = await run(trainer, 1);
    expect([next.step, next.updates[0].learningRate]).toEqual([3, 0.01 * 0.9]);
  });
});

describe('on WebGPU', () => {
  const TINY: ModelConfig = { id: 'tiny', C: 16, L: 1, H: 2, V: 32, T: 64, ropeBase: 100, normEps: 1e-5 };
  const easy: Task = { ...columnAddition, maxNewTokens: 12, verify: (_prompt, response) => (/^[0-4]/.test(response) ? 1 : 0), wellFormed: () => true };
  const open = async (): Promise<WebGpuEngine> => createWebGpuEngine(await requestNodeGpu(), TINY, { rolloutRows: 64, updatePositions: 1024, maxLag: 2 });
  let engines: WebGpuEngine[] = [];
  beforeAll(async () => {
    engines = [await open(), await open()];
  });
  afterAll(() => engines.forEach((engine) => engine.destroy()));

  const begin = (engine: PolicyEngine, objective: string, patch: Partial<RunConfig>) => {
    engine.loadParams(initialParams(TINY, 5));
    return new Trainer(engine, easy, { ...presetConfig(objective, 'small'), prompts: 4, groupSize: 8, minibatches: 2, learningRate: 0.01, ...patch }, noReference);
  };

  it.each([
    ['grpo', { samplerLag: 1, epochs: 2 }],
    ['sspo', { samplerPrecision: 'e4m3' }],
    ['ppo', { groupSize: 1, prompts: 32 }],
  ] as const)('%s with %j: the same seed gives the same bits, and so does a run that moved to another device half way', async (objective, patch) => {
    const [first, second] = engines;
    const once = begin(first, objective, patch);
    const a = await run(once, 2);
    const checkpoint = posted(await once.checkpoint());
    const b = await run(once, 2);
    const end = await first.readParams();

    const again = begin(first, objective, patch);
    expect(await run(again, 4)).toEqual([...a, ...b]);
    expect(await first.readParams()).toEqual(end);

    const moved = begin(second, objective, patch);
    await moved.restore(checkpoint);
    expect(await run(moved, 2)).toEqual(b);
    expect(await second.readParams()).toEqual(end);
    expect(end.every(Number.isFinite)).toBe(true);
  });

  it('makes nothing on the device', async () => {
    const trainer = begin(engines[0], 'ppo', { groupSize: 1, prompts: 32 });
    await trainer.runStep();
    const before = engines[0].ctx.objectsCreated;
    await trainer.restore(await trainer.checkpoint());
    expect(engines[0].ctx.objectsCreated).toBe(before);
  });
});
