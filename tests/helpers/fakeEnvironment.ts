import { UserError } from '../../src/core/errors';
import type { AdapterReport, ReferencePolicy } from '../../src/engines/engine';
import type { Task } from '../../src/tasks/task';
import type { BasePolicy, Environment, GpuHandle } from '../../src/worker/environment';
import { FakeEngine } from './fakeEngine';
import { fakeTask, habit } from './fakeTask';

const ADAPTER: AdapterReport = {
  vendor: 'fake', architecture: '', device: '', description: 'none', software: true, f16: false, subgroups: false, timestamps: false,
};

/** The outside of a worker without a GPU: a table for a policy, everything else in a list. Fields may be replaced by a test. */
export class FakeEnvironment implements Environment {
  readonly log: string[] = [];
  readonly engines: FakeEngine[] = [];
  readonly gpus: GpuHandle[] = [];
  /** Set to make the n-th answer of a kind an error; looked at once. */
  failures: Partial<Record<'openGpu' | 'loadPolicy' | 'createEngine' | 'loadReference', Error>> = {};
  /** Every sleep, ms. */
  readonly sleeps: number[] = [];

  private taken(name: keyof FakeEnvironment['failures']): void {
    this.log.push(name);
    const error = this.failures[name];
    if (error) {
      delete this.failures[name];
      throw error;
    }
  }

  async openGpu(): Promise<GpuHandle> {
    this.taken('openGpu');
    const handle: GpuHandle = {
      adapter: ADAPTER,
      onFailure: () => {},
      lose: () => handle.onFailure('deviceLost', 'on purpose'),
      destroy: () => void this.log.push('destroy gpu'),
    };
    this.gpus.push(handle);
    return handle;
  }

  async loadPolicy(_url: string, model: string, task: string, onProgress: (done: number) => void): Promise<BasePolicy> {
    await this.sleepReally();
    this.taken('loadPolicy');
    this.log.push(`policy ${task} ${model}`);
    onProgress(0.5);
    onProgress(1);
    return { passRate: 0.3, greedy: 0.4, parameters: 8192, bytes: new Uint8Array(10), params: Float32Array.from(new FakeEngine({ initial: habit }).params) };
  }

  async createEngine(_gpu: GpuHandle, _model: string, onProgress: (done: number) => void): Promise<FakeEngine> {
    await this.sleepReally();
    this.taken('createEngine');
    onProgress(1);
    const engine = new FakeEngine();
    this.engines.push(engine);
    return engine;
  }

  async loadReference(): Promise<ReferencePolicy> {
    this.taken('loadReference');
    return {
      description: 'fake',
      logp: (batch) => Promise.resolve(new Float32Array(batch.positions).fill(-1)),
      destroy: () => {
        this.log.push('destroy reference');
        return Promise.resolve();
      },
    };
  }

  getTask(id: string): Task {
    if (id !== 'columnAddition' && id !== 'chainSum') throw new UserError(`There is no task "${id}".`);
    return { ...fakeTask, id };
  }

  now(): number {
    return performance.now();
  }

  sleep(ms: number): Promise<void> {
    if (ms > 0) this.sleeps.push(ms);
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  private sleepReally(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 1));
  }
}
