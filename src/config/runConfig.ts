import type { SamplerPrecision } from '../engines/engine';
import type { ModelId } from '../model/config';
import type { LossAggMode } from '../objectives/types';

/**
 * Everything that decides a run, flat so that the URL, `--set` and the controls share one set of names.
 * Bounds, help and "takes effect live" stand in fields.ts; named settings in presets.ts.
 */
export interface RunConfig {
  preset: string;
  objective: string;
  task: string;
  model: ModelId;
  /** u32. */
  seed: number;
  /** Planned iterations (rollout + updates); the run pauses there. */
  totalSteps: number;
  /** Prompts per iteration (P) and completions per prompt (G); P*G rollout rows. */
  prompts: number;
  groupSize: number;
  temperature: number;
  /** Off-policy dials. minibatches * epochs updates reuse one rollout. */
  minibatches: number;
  epochs: number;
  /** Sampler parameters are this many iterations old. */
  samplerLag: number;
  samplerPrecision: SamplerPrecision;
  /** Who computes oldLogp: the sampler's own numbers, or the trainer's parameters before the first update. */
  oldLogpSource: 'sampler' | 'trainer';
  learningRate: number;
  warmupUpdates: number;
  maxGradNorm: number;
  /** Each level's clip widths: token for grpo and sppo, segment for sspo and lpo, sequence for gspo. */
  clipLowToken: number;
  clipHighToken: number;
  clipLowSegment: number;
  clipHighSegment: number;
  clipLowSequence: number;
  clipHighSequence: number;
  /** Dual clip c > 1 for A < 0; 0 = off. */
  dualClip: number;
  /** SSPO's entropy scaling: eps_k = eps * clamp(H_k / mean H, low, high). Ours. */
  entropyScaleLow: number;
  entropyScaleHigh: number;
  /** Weight of the k3 KL to the reference policy, in the loss. */
  beta: number;
  lossAggMode: LossAggMode;
  /** SPPO: what is subtracted from the reward. */
  baseline: 'value' | 'batchMean' | 'zero';
  /** SPPO: divide R - V by max(batch sd, .1). Ours; the paper has none. */
  normalizeAdvantage: boolean;
  criticLearningRate: number;
  /** Held-out greedy evaluation every n iterations (0 = never) on this many prompts. */
  evalEvery: number;
  evalPrompts: number;
  /** Control: rewards are shuffled over the batch, so that nothing can be learnt. */
  shuffleRewards: boolean;
  /** Iterations per second at most; 0 = as fast as it goes. */
  speed: number;
}
