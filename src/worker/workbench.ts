import type { RunConfig } from '../config/runConfig';
import type { PolicyEngine, ReferencePolicy } from '../engines/engine';
import type { ModelId } from '../model/config';
import type { ShowcaseAnswer } from '../trainer/report';
import type { BasePolicy, EngineWish, Environment, GpuHandle } from './environment';
import type { ErrorKind, Phase, WorkerEvent } from './protocol';

/** A base policy with what was made of it. */
export interface Loaded {
  model: ModelId;
  task: string;
  modelsUrl: string;
  policy: BasePolicy;
  /** Its showcase answers, once they are known. */
  answers: ShowcaseAnswer[];
  reference: ReferencePolicy | null;
}

/** How the workbench speaks up, and how it asks whether it is still wanted. */
export interface WorkbenchHooks {
  phase(phase: Phase, message: string, progress: number | null): void;
  send(event: WorkerEvent): void;
  /** The device is gone; whatever the workbench holds was forgotten before. */
  gpuFailed(kind: 'deviceLost' | 'gpuError', message: string): void;
  /** Waits for a promise; a failure is reported as of this kind, and the caller is stopped by an exception. */
  guarded<T>(promise: Promise<T>, kind: ErrorKind): Promise<T>;
}

/** Device, engine, base policy and reference: made when first needed, kept from run to run as long as they fit. */
export class Workbench<G extends GpuHandle> {
  private readonly env: Environment<G>;
  /** Which engine the next device is opened for. */
  wish: EngineWish = 'auto';
  private gpu: G | null = null;
  private engine: { model: ModelId; engine: PolicyEngine } | null = null;
  private loaded: Loaded | null = null;

  constructor(env: Environment<G>) {
    this.env = env;
  }

  /** The device; the first call finds one and announces it. */
  async openGpu(hooks: WorkbenchHooks): Promise<G> {
    if (this.gpu) return this.gpu;
    hooks.phase('starting', 'Looking for a GPU', null);
    // Kept even when a reset has overtaken the caller, because the next one will want it.
    const opened = this.env.openGpu(this.wish).then((gpu) => {
      gpu.onFailure = (kind, message) => {
        if (this.gpu !== gpu) return;
        // Nothing on the device can be waited for any more, not even its own destruction.
        this.gpu = null;
        this.engine = null;
        this.loaded = null;
        // Out of memory: the next device needs the room.
        if (kind === 'gpuError') gpu.destroy();
        hooks.gpuFailed(kind, message);
      };
      this.gpu = gpu;
      hooks.send({ type: 'capability', adapter: gpu.adapter });
      return gpu;
    });
    return hooks.guarded(opened, 'noWebGpu');
  }

  /** The device if there is one. */
  get openedGpu(): G | null {
    return this.gpu;
  }

  /** The engine and base policy for a configuration: the present ones where they fit. The engine may hold any parameters. */
  async load(config: RunConfig, modelsUrl: string, hooks: WorkbenchHooks): Promise<{ engine: PolicyEngine; loaded: Loaded }> {
    const { model, task } = config;
    if (this.engine && this.engine.model !== model) await this.close();
    const loaded = await this.loadPolicy(model, task, modelsUrl, hooks);
    if (!this.engine) {
      const gpu = await this.openGpu(hooks);
      hooks.phase('compiling', 'Compiling the shaders', 0);
      await hooks.guarded(
        this.env.createEngine(gpu, model, (done) => hooks.phase('compiling', 'Compiling the shaders', done)).then((engine) => {
          // Kept even when a reset has overtaken the caller, because the next one will want it; not when the device was lost.
          if (this.gpu === gpu) this.engine = { model, engine };
        }),
        'internal',
      );
    }
    if (!this.engine) throw new Error('the device was lost while the engine was made');
    return { engine: this.engine.engine, loaded };
  }

  /** The frozen base policy; the first call starts it. */
  async reference(loaded: Loaded, hooks: WorkbenchHooks): Promise<ReferencePolicy> {
    loaded.reference ??= await this.env.loadReference(await this.openGpu(hooks), loaded.model, loaded.policy);
    return loaded.reference;
  }

  private async loadPolicy(model: ModelId, task: string, modelsUrl: string, hooks: WorkbenchHooks): Promise<Loaded> {
    const present = this.loaded;
    if (present && present.model === model && present.task === task && present.modelsUrl === modelsUrl) return present;
    await present?.reference?.destroy();
    this.loaded = null;
    // The device first: without one there is nothing to load a policy for.
    await this.openGpu(hooks);
    hooks.phase('loadingModel', 'Loading the base policy', 0);
    const policy = await hooks.guarded(
      this.env.loadPolicy(modelsUrl, model, task, (done) => hooks.phase('loadingModel', 'Loading the base policy', done)),
      'badModel',
    );
    this.loaded = { model, task, modelsUrl, policy, answers: [], reference: null };
    return this.loaded;
  }

  /** An engine takes its device along. */
  private async close(): Promise<void> {
    const { engine, gpu, loaded } = this;
    this.engine = null;
    this.gpu = null;
    this.loaded = null;
    await loaded?.reference?.destroy();
    engine?.engine.destroy();
    gpu?.destroy();
  }
}
