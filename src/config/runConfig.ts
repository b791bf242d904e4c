import type { SamplerPrecision } from '../engines/engine';
import type { ModelId } from '../model/config';
import type { AdvantageEstimator } from '../objectives/estimators';
import type { LossAggMode } from '../objectives/types';

/** An objective's own number that no other shares, e.g. `cispo.cap`; its field is made from the definition (ownFields.ts). */
export type OwnHyperparameter = `${string}.${string}`;

/** How the trainer weighs tokens whose sampler was not the policy that oldLogp comes from (mismatch.ts). */
export const MISMATCH_CORRECTIONS = ['none', 'token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask'] as const;
export type MismatchCorrection = (typeof MISMATCH_CORRECTIONS)[number];

/**
 * Everything that decides a run, flat so that the URL, `--set` and the controls share one set of names.
 * Bounds, help and "takes effect live" stand in fields.ts; named settings in presets.ts.
 */
export interface RunConfig {
  /** Present for every name in OWN_FIELDS. */
  [own: OwnHyperparameter]: number | undefined;
  preset: string;
  /** Id of a listed objective, or `custom:...`, which follows from `customObjective`. */
  objective: string;
  /** Text of an objective that a person typed (objectives/custom), and those of its parameters that differ from their defaults, as "eps=0.3,tau=2"; '' for a listed one. */
  customObjective: string;
  customParameters: string;
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
  /** Importance weights between the sampler and oldLogp, detached, on the aggregation weights; needs oldLogpSource `trainer`. */
  mismatchCorrection: MismatchCorrection;
  /** Ratio above which such a weight is truncated or masked, and, when masking, below which it is masked. */
  mismatchCap: number;
  mismatchFloor: number;
  learningRate: number;
  warmupUpdates: number;
  maxGradNorm: number;
  /** Each level's clip widths; an objective trains with those of its own level (log widths for GMPO). */
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
  /** Where the KL penalty goes: into the loss, or (k1, summed over the answer) off the reward. */
  klPlacement: 'loss' | 'reward';
  lossAggMode: LossAggMode;
  /** Where advantages come from; `own`: the objective's own rule. */
  advantage: 'own' | AdvantageEstimator;
  /** DAPO: groups whose rewards are all alike are left out of the updates. */
  dynamicSampling: boolean;
  /** DAPO: with `dynamicSampling`, other prompts are drawn until as many groups can teach something as there were prompts, at most REFILLS times. */
  refillGroups: boolean;
  /** DAPO: answers that met the length budget are left out of the updates. */
  overlongFilter: boolean;
  /** DAPO: tokens before the length budget over which reward falls by up to 1; 0 = off. */
  overlongCache: number;
  /** SPPO: what is subtracted from the reward. */
  baseline: 'value' | 'batchMean' | 'zero';
  /** SPPO: divide R - V by max(batch sd, .1). Ours; the paper has none. */
  normalizeAdvantage: boolean;
  criticLearningRate: number;
  /** GAE (PPO): discount, and how far a later surprise is credited back. */
  gaeGamma: number;
  gaeLambda: number;
  /** GAE: advantages shifted and scaled to mean 0, variance 1 over the batch's tokens. */
  whitenAdvantages: boolean;
  /** PPO: V is held within this of its value before the updates where that makes the value loss larger; 0 = no clip. */
  valueClip: number;
  /** Held-out greedy evaluation every n iterations (0 = never) on this many prompts. */
  evalEvery: number;
  evalPrompts: number;
  /** Control: rewards are shuffled over the batch, so that nothing can be learnt. */
  shuffleRewards: boolean;
  /** Iterations per second at most; 0 = as fast as it goes. */
  speed: number;
}
