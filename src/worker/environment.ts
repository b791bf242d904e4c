import type { AdapterReport, PolicyEngine, ReferencePolicy } from '../engines/engine';
import type { ModelId } from '../model/config';
import type { Task } from '../tasks/task';
import type { RunTokenLoss } from './inspectLoss';

/** `auto`: WebGPU, and tfjs where there is none. `tfjs`: tfjs in any case, for tests and comparisons. */
export const ENGINE_WISHES = ['auto', 'tfjs'] as const;
export type EngineWish = (typeof ENGINE_WISHES)[number];

/** A device at work; tfjs's backend counts as one. */
export interface GpuHandle {
  readonly adapter: AdapterReport;
  /** Called once when the device is lost or reports an error that nobody caught. */
  onFailure: (kind: 'deviceLost' | 'gpuError', message: string) => void;
  /** Loses the device on purpose, for tests: `onFailure` hears of it. */
  lose(): void;
  /** Frees the device and all that was made on it. */
  destroy(): void;
}

/** A base policy as shipped. */
export interface BasePolicy {
  passRate: number;
  greedy: number;
  parameters: number;
  /** The file, for the reference policy. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Flat weights, as paramLayout lays them out. */
  params: Float32Array;
}

/** Everything outside that a run needs; the worker has the browser's (browserEnvironment.ts), tests their own. */
export interface Environment<G extends GpuHandle = GpuHandle> {
  /** Throws UserError where nothing can train. */
  openGpu(wish: EngineWish): Promise<G>;
  /** Fetches and checks a base policy; `onProgress` gets the share loaded, 0..1. Throws UserError. */
  loadPolicy(modelsUrl: string, model: ModelId, task: string, onProgress: (done: number) => void): Promise<BasePolicy>;
  /** Compiles the engine for a model size; `onProgress` gets the share compiled, 0..1. */
  createEngine(gpu: G, model: ModelId, onProgress: (done: number) => void): Promise<PolicyEngine>;
  /** Starts the frozen base policy that KL is measured against. */
  loadReference(gpu: G, model: ModelId, policy: BasePolicy): Promise<ReferencePolicy>;
  /** The way to run a token loss once on this device; null where it has no shaders. Missing: none is offered. */
  tokenLossRunner?(gpu: G): RunTokenLoss | null;
  getTask(id: string): Task;
  /** A steady clock, ms. */
  now(): number;
  /** Resolves after `ms`, and lets messages in before; 0 only lets messages in. */
  sleep(ms: number): Promise<void>;
}
