import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { isEventList } from '../../src/worker/guards';
import type { WorkerEvent } from '../../src/worker/protocol';
import { Runner } from '../../src/worker/runner';
import { FakeEnvironment } from './fakeEnvironment';

export type EventOf<K extends WorkerEvent['type']> = Extract<WorkerEvent, { type: K }>;

/** A short run of the fake task. */
export const CONFIG: RunConfig = { ...presetConfig('grpo', 'small'), prompts: 4, learningRate: 0.01, totalSteps: 6, evalEvery: 2, evalPrompts: 16 };

/** A runner with everything that it posted. */
export class Bench {
  readonly env = new FakeEnvironment();
  readonly messages: WorkerEvent[][] = [];
  readonly runner = new Runner(this.env, (events) => {
    // What crosses to the page must survive structured cloning and the page's own check.
    const cloned: unknown = structuredClone(events);
    if (!isEventList(cloned)) throw new Error(`not events: ${JSON.stringify(events.map((e) => e.type))}`);
    this.messages.push(cloned);
  });

  get events(): WorkerEvent[] {
    return this.messages.flat();
  }

  all<K extends WorkerEvent['type']>(type: K): EventOf<K>[] {
    return this.events.filter((e): e is EventOf<K> => e.type === type);
  }

  phases(): string[] {
    return this.all('phase').map((e) => e.phase).filter((p, i, all) => p !== all[i - 1]);
  }

  /** Waits until the loop rests and the results have been posted. */
  async settle(): Promise<void> {
    await this.runner.idle();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }

  async until(done: () => boolean): Promise<void> {
    const started = performance.now();
    while (!done()) {
      if (performance.now() - started > 10_000) throw new Error(`waited too long; events: ${this.events.map((e) => e.type).join(' ')}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async init(patch: Partial<RunConfig> = {}): Promise<void> {
    this.runner.handle({ type: 'init', config: { ...CONFIG, ...patch }, modelsUrl: 'models/' });
    await this.settle();
  }
}
