import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { TrainerClient } from '../../src/worker/client';
import type { WorkerLike } from '../../src/worker/client';
import type { WorkerCommand, WorkerEvent } from '../../src/worker/protocol';

class FakeWorker implements WorkerLike {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;
  readonly got: WorkerCommand[] = [];
  ended = false;

  postMessage(message: WorkerCommand): void {
    this.got.push(message);
  }

  terminate(): void {
    this.ended = true;
  }

  say(data: unknown): void {
    this.onmessage?.({ data } as MessageEvent);
  }
}

function setUp(): { client: TrainerClient; workers: FakeWorker[]; seen: WorkerEvent[] } {
  const workers: FakeWorker[] = [];
  const client = new TrainerClient(() => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  });
  const seen: WorkerEvent[] = [];
  client.onAny((event) => seen.push(event));
  return { client, workers, seen };
}

const config = presetConfig('grpo', 'small');
const ready: WorkerEvent = { type: 'phase', phase: 'ready', message: 'Ready', progress: 1 };

describe('TrainerClient', () => {
  it('starts the worker with the first command and passes commands on', () => {
    const { client, workers } = setUp();
    expect(workers).toHaveLength(0);
    client.send({ type: 'probe' });
    client.send({ type: 'init', config, modelsUrl: 'models/' });
    client.send({ type: 'play' });
    expect(workers).toHaveLength(1);
    expect(workers[0].got.map((c) => c.type)).toEqual(['probe', 'init', 'play']);
  });

  it('hands out the events of a message in order, to those who asked for them', () => {
    const { client, workers, seen } = setUp();
    client.send({ type: 'probe' });
    const phases: string[] = [];
    const stop = client.on('phase', (e) => phases.push(e.phase));
    const notice: WorkerEvent = { type: 'notice', problems: [{ field: 'epochs', message: 'clamped' }] };
    workers[0].say([ready, notice]);
    stop();
    workers[0].say([ready]);
    expect(seen).toEqual([ready, notice, ready]);
    expect(phases).toEqual(['ready']);
  });

  it.each([[ready], [[{ type: 'phase' }]], ['ready'], [[{ ...ready, extra: 1 }]], [[{ ...ready, progress: NaN }]]])('refuses %j as a whole', (data) => {
    const { client, workers, seen } = setUp();
    client.send({ type: 'probe' });
    workers[0].say(data);
    expect(seen.map((e) => e.type === 'error' && e.kind)).toEqual(['internal']);
  });

  it('reports a crash, and the next reset starts a fresh worker with an init', () => {
    const { client, workers, seen } = setUp();
    client.send({ type: 'init', config, modelsUrl: 'models/' });
    workers[0].onerror?.({ message: 'boom' } as ErrorEvent);
    expect(workers[0].ended).toBe(true);
    expect(seen.at(-1)).toMatchObject({ type: 'error', kind: 'crashed', fatal: true, message: 'The trainer crashed: boom.' });
    client.send({ type: 'play' });
    expect(workers).toHaveLength(1);
    expect(seen.at(-1)).toMatchObject({ type: 'error', message: 'The trainer is not running.' });
    client.send({ type: 'reset', config });
    expect(workers[1].got).toEqual([{ type: 'init', config, modelsUrl: 'models/' }]);
    client.send({ type: 'reset', config });
    expect(workers[1].got[1].type).toBe('reset');
    // A last word of the dead worker is not heard.
    const before = seen.length;
    workers[0].say([ready]);
    expect(seen).toHaveLength(before);
  });

  it.each(['messageerror', 'crashed'] as const)('ends a worker after %s, as after a crash', (how) => {
    const { client, workers, seen } = setUp();
    client.send({ type: 'init', config, modelsUrl: 'models/' });
    if (how === 'messageerror') workers[0].onmessageerror?.({} as MessageEvent);
    else workers[0].say([{ type: 'error', kind: 'crashed', message: 'Boom.', hint: '', fatal: true }]);
    expect([workers[0].ended, seen.at(-1)]).toEqual([true, expect.objectContaining({ type: 'error', kind: 'crashed', fatal: true })]);
    client.send({ type: 'init', config, modelsUrl: 'models/' });
    expect(workers).toHaveLength(2);
  });

  it('tells every new worker its greeting first', () => {
    const workers: FakeWorker[] = [];
    const client = new TrainerClient(() => (workers.push(new FakeWorker()), workers.at(-1)!), [{ type: 'engine', engine: 'tfjs' }]);
    client.send({ type: 'probe' });
    workers[0].onerror?.({ message: 'boom' } as ErrorEvent);
    client.send({ type: 'reset', config });
    for (const worker of workers) expect(worker.got[0]).toEqual({ type: 'engine', engine: 'tfjs' });
    expect(workers.map((worker) => worker.got.length)).toEqual([2, 2]);
  });

  it('pairs snapshots with their requests', async () => {
    const { client, workers } = setUp();
    client.send({ type: 'probe' });
    const [first, second] = [client.snapshot(), client.snapshot()];
    const ids = workers[0].got.flatMap((c) => (c.type === 'snapshot' ? [c.requestId] : []));
    workers[0].say([{ type: 'snapshot', requestId: ids[1], report: null, batch: null }]);
    await expect(second).resolves.toEqual({ report: null, batch: null });
    workers[0].onerror?.({ message: '' } as ErrorEvent);
    await expect(first).rejects.toThrow('could not be loaded');
  });
});
