import type { RunConfig } from '../config/runConfig';
import type { BatchMetrics } from '../objectives/types';

/** What the trainer reports: plain data that can be posted between threads and written to a file. */

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

/** BCE (nats), mean V(prompt) and correlation of V with reward; null when either does not vary. */
export interface CriticReport {
  loss: number;
  meanValue: number;
  correlation: number | null;
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
  /** SPPO with a learnt baseline; else null. */
  critic: CriticReport | null;
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
  /** As the last update that trained on this row saw it (before that update); oldLogp where none did. */
  newLogp: Float32Array;
  entropy: Float32Array;
  refLogp: Float32Array | null;
  /** Subsentence index of each token. */
  segments: Uint32Array;
  reward: number;
  advantage: number;
  /** V(prompt) as a probability; null without a critic. */
  value: number | null;
  /** Which update of the iteration (from 1) newLogp belongs to; 0 for a row that was left out (dynamicSampling). */
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
