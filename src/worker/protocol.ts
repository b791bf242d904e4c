import type { Problem } from '../config/fieldTypes';
import type { RunConfig } from '../config/runConfig';
import type { AdapterReport } from '../engines/engine';
import type { Checkpoint } from '../trainer/checkpoint';
import type { BatchRecord, EvalReport, ShowcaseAnswer, StepReport } from '../trainer/report';
import type { EngineWish } from './environment';
import type { LossInspection } from './inspectLoss';

export type { LossInspection } from './inspectLoss';
export type { Checkpoint } from '../trainer/checkpoint';
export type { BatchRecord, CompletionRecord, CriticReport, EvalReport, ShowcaseAnswer, StepReport, UpdateReport } from '../trainer/report';

/** What the page may ask of the worker. Guards (`isCommand`, `isEvent`) stand in guards.ts. */
export type WorkerCommand =
  /** Looks for a GPU and answers with `capability` (or an error), so that the page can choose the model size for `init`. */
  | { type: 'probe' }
  /** `resume`: goes on from a checkpoint of the same task and model, playing or not. */
  | { type: 'init'; config: RunConfig; modelsUrl: string; resume?: { checkpoint: Checkpoint; play: boolean } }
  /** Which engine to use from the next device on; comes before `probe` or `init`. */
  | { type: 'engine'; engine: EngineWish }
  | { type: 'configure'; patch: Partial<RunConfig> }
  | { type: 'play' }
  | { type: 'pause' }
  | { type: 'step'; count: number }
  | { type: 'reset'; config: RunConfig }
  /** Goes back to the last checkpoint, under the settings in force, and pauses there. */
  | { type: 'rewind' }
  | { type: 'snapshot'; requestId: number }
  /** Asks for an objective's kernel, and for a comparison of it with the f64 reference. */
  | { type: 'inspectLoss'; requestId: number; objective: string; customObjective: string }
  /** For tests: destroys the device, or makes the policy NaN, on purpose. */
  | { type: 'loseDevice' }
  | { type: 'poison' };

export type Phase = 'starting' | 'loadingModel' | 'compiling' | 'loadingReference' | 'ready' | 'running' | 'paused' | 'finished' | 'failed';

/** What the worker tells the page. One message holds a list of these, in order, so that a fast run does not flood the page. */
export type WorkerEvent =
  | { type: 'phase'; phase: Phase; message: string; /** 0..1 or null when unknown */ progress: number | null }
  | { type: 'capability'; adapter: AdapterReport }
  | { type: 'base'; manifest: { passRate: number; greedy: number; parameters: number; bytes: number }; answers: ShowcaseAnswer[] }
  | { type: 'step'; report: StepReport; batch: BatchRecord }
  | { type: 'eval'; report: EvalReport; answers: ShowcaseAnswer[] }
  /** The config now in force; `changes` names what a live change altered, from which step on. */
  | { type: 'config'; config: RunConfig; step: number; changes: { field: string; from: string; to: string }[] }
  /** Settings of an `init`, `reset` or `configure` that were clamped or refused, for a notice. */
  | { type: 'notice'; problems: Problem[] }
  | { type: 'snapshot'; requestId: number; report: StepReport | null; batch: BatchRecord | null }
  /** Null with a problem in words where the kernel could not be made or run. */
  | { type: 'lossInspected'; requestId: number; inspection: LossInspection | null; problem: string }
  /** What the run could go on from; the page keeps the last one, for a worker that dies. */
  | { type: 'checkpoint'; checkpoint: Checkpoint }
  /** The run stands at an earlier iteration again: whatever came after it is void. */
  | { type: 'rewound'; step: number; updates: number }
  /** `rewindTo`: the iteration that `rewind` would go back to, where it can help. */
  | { type: 'error'; kind: ErrorKind; message: string; hint: string; fatal: boolean; rewindTo?: number };

export type ErrorKind = 'noWebGpu' | 'deviceLost' | 'badModel' | 'badConfig' | 'notFinite' | 'reference' | 'crashed' | 'internal';
