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

/** V against what came of it, in one range of V. */
export interface CalibrationBin {
  /** Range of V, `to` excluded but for the last bin. */
  from: number;
  to: number;
  /** Answers whose V(prompt) lay in it, their mean V, and their mean reward. */
  count: number;
  meanValue: number;
  successRate: number;
}

/** V(prompt), given before the answer was sampled, against the reward that it earned, over the last iterations. */
export interface Calibration {
  /** How many iterations, and how many answers in all. */
  iterations: number;
  answers: number;
  /** Ten ranges of V from 0 to 1; values outside count in the first or last. Empty bins are left out. */
  bins: CalibrationBin[];
  /** Correlation of V(prompt) with reward over those answers; null when either does not vary. */
  pearson: number | null;
  spearman: number | null;
}

/** What the critic is and what it has learnt. */
export interface CriticReport {
  /** `prompt`: one probability per answer, from the prompt alone (SPPO). `token`: one value per state of the answer, before each token (PPO). */
  level: 'prompt' | 'token';
  /** Mean over the iteration's updates, each before its step: BCE in nats (`prompt`), half the squared error, clipped as trained (`token`). */
  loss: number;
  /** Mean V(prompt) over answers. */
  meanValue: number;
  /** Correlation of V(prompt) with reward over this batch; null when either does not vary. */
  correlation: number | null;
  /** 1 - Var(target - V) / Var(target) over answers (`prompt`: target is the reward) or tokens (`token`: target is the return); null when the target does not vary. */
  explainedVariance: number | null;
  /** Share of tokens whose value was held by the value clip (gradient 0), over all updates; null without value clip. */
  clippedValues: number | null;
  calibration: Calibration;
}

/** One finished iteration. */
export interface StepReport {
  step: number;
  objective: string;
  /** Mean reward of all sampled answers; share of well-formed answers; mean response length, tokens. */
  reward: number;
  formatRate: number;
  meanLength: number;
  truncatedFraction: number;
  /** Share of all sampled groups whose rewards are all alike (advantage 0, unless a past smooths it); null when groupSize is 1. */
  deadGroups: number | null;
  /**
   * Groups (prompts) sampled in all, and those that took part in the updates; of those sampled, how many answer a prompt that came before, where
   * advantages are smoothed over its visits (else null).
   */
  groups: { drawn: number; trained: number; revisited: number | null };
  /** SPPO with a learnt baseline, and PPO; else null. */
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
  /** The answer's advantage; the mean over its tokens where they differ. */
  advantage: number;
  /** Each token's own advantage, where they differ within an answer (GAE); else null. */
  advantages: Float32Array | null;
  /** V(prompt): a probability for SPPO, an expected return for PPO; null without a critic. */
  value: number | null;
  /** V before each token, from a critic that sees the answer so far (PPO); else null. */
  values: Float32Array | null;
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
