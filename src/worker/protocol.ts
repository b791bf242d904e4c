import type { Problem } from '../config/fieldTypes';
import type { RunConfig } from '../config/runConfig';
import type { AdapterReport } from '../engines/engine';
import type { BatchMetrics } from '../objectives/types';

/** What the page may ask of the worker. Guards (`isCommand`, `isEvent`) stand in guards.ts. */
export type WorkerCommand =
  /** Looks for a GPU and answers with `capability` (or an error), so that the page can choose the model size for `init`. */
  | { type: 'probe' }
  | { type: 'init'; config: RunConfig; modelsUrl: string }
  | { type: 'configure'; patch: Partial<RunConfig> }
  | { type: 'play' }
  | { type: 'pause' }
  | { type: 'step'; count: number }
  | { type: 'reset'; config: RunConfig }
  | { type: 'snapshot'; requestId: number }
  /** For tests: destroys the device on purpose. */
  | { type: 'loseDevice' };

export type Phase = 'starting' | 'loadingModel' | 'compiling' | 'loadingReference' | 'ready' | 'running' | 'paused' | 'finished' | 'failed';

/** One finished minibatch update. */
export interface UpdateReport {
  /** Counts from 0 over the whole run. */
  update: number;
  /** Iteration it belongs to (from 1), and its place in it: epoch and minibatch from 1. */
  step: number;
  epoch: number;
  minibatch: number;
  metrics: BatchMetrics;
  gradNorm: number;
  learningRate: number;
}

/** One finished iteration. */
export interface StepReport {
  step: number;
  objective: string;
  /** Mean reward of the rollout batch; share of well-formed answers; mean response length, tokens. */
  reward: number;
  formatRate: number;
  meanLength: number;
  truncatedFraction: number;
  /** Share of groups whose rewards are all alike (advantage 0); null when groupSize is 1. */
  deadGroups: number | null;
  /** SPPO: BCE of the critic (nats), mean V(prompt), correlation of V with reward; else null. */
  critic: { loss: number; meanValue: number; correlation: number | null } | null;
  updates: UpdateReport[];
  /** max |log ratio| at the first update after the rollout; ok is null when the dials make it meaningless. */
  selfCheck: { maxAbsLogRatio: number; ok: boolean | null };
  /** Wall time by phase, ms, and sampled tokens per second of the rollout phase. */
  ms: { rollout: number; verify: number; reference: number; update: number; total: number };
  tokensPerSecond: number;
}

/** One completion as the text view and the lens need it. Arrays are over its response tokens. */
export interface CompletionRecord {
  /** Group (prompt) index within the batch. */
  group: number;
  tokens: string[];
  oldLogp: Float32Array;
  /** As the last update that trained on this row saw it (before that update). */
  newLogp: Float32Array;
  entropy: Float32Array;
  refLogp: Float32Array | null;
  /** Subsentence index of each token. */
  segments: Uint32Array;
  reward: number;
  advantage: number;
  /** V(prompt) as a probability; null without a critic. */
  value: number | null;
  /** Which update of the iteration (from 1) newLogp belongs to. */
  minibatch: number;
}

/** A whole rollout batch, kept for the text view and the lens. */
export interface BatchRecord {
  step: number;
  objective: string;
  config: RunConfig;
  prompts: string[];
  completions: CompletionRecord[];
  /** Mean entropy over all response tokens, nats. */
  meanEntropy: number;
}

export interface EvalReport {
  step: number;
  prompts: number;
  /** Share right on held-out prompts, argmax decoding. */
  greedy: number;
}

/** An answer to one of the task's showcase prompts, argmax decoding. */
export interface ShowcaseAnswer {
  step: number;
  prompt: string;
  response: string;
  correct: boolean;
  expected: string;
}

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
  | { type: 'error'; kind: ErrorKind; message: string; hint: string; fatal: boolean };

export type ErrorKind = 'noWebGpu' | 'deviceLost' | 'badModel' | 'badConfig' | 'notFinite' | 'reference' | 'internal';
