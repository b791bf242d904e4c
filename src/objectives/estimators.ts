import { UserError } from '../core/errors';
import { groupAdvantages, looAdvantages, sequenceAdvantages, type AdvantageStd, type Baseline } from './advantages';
import { gaeAdvantages, whitenTokens } from './gae';
import { smoothedAdvantages, type PastRewards } from './smoothing';

/** The ways from the rewards of a rollout to advantages, as data: the trainer, `eval` and the docs read this list. */

export interface EstimatorInput {
  /** [B]; NaN is left out. */
  rewards: ArrayLike<number>;
  /** Group (prompt) of each response; [B]. */
  groups: ArrayLike<number>;
  /** Logits of V(prompt); [B]; `sequenceLevel` with the baseline `value` needs them. */
  valueLogits?: ArrayLike<number>;
  /** Read by `groupMeanStd` and `smoothed`; default `population`. */
  std?: AdvantageStd;
  /** Read by `sequenceLevel`; default `value`. */
  baseline?: Baseline;
  normalize?: boolean;
  /** Read by `smoothed`: what answers to a group's prompt have earned before; without it every prompt is new. */
  pastOf?: (group: number) => PastRewards | null;
}

/** What a token-level estimator reads; [B][T], ragged. */
export interface TokenEstimatorInput {
  /** Reward that arrives with each token: the verifier's at the last one, a KL penalty at each. */
  rewards: ArrayLike<number>[];
  /** V of the state before each token. */
  values: ArrayLike<number>[];
  /** Discount, and how far a later surprise is credited back; both 0 to 1. */
  gamma: number;
  lambda: number;
  whiten?: boolean;
}

interface EstimatorHead {
  /** For a control, e.g. "group mean and spread (GRPO)". */
  title: string;
  /** The rule in words, for the docs. */
  text: string;
  /** How many answers to one prompt it asks for: several to compare, exactly one, or either. */
  answers: 'several' | 'one' | 'any';
}

/** One advantage per answer, [B], or one per token, [B][T], with the returns that its critic is trained towards. */
export type EstimatorSpec = EstimatorHead &
  (
    | { unit: 'answer'; estimate(input: EstimatorInput): Float64Array }
    | { unit: 'token'; estimate(input: TokenEstimatorInput): { advantages: Float64Array[]; returns: Float64Array[] } }
  );

const table = {
  groupMeanStd: {
    title: 'group mean and spread (GRPO)',
    text: '(reward - group mean) / (group sd + 1e-4), exactly 0 in a group without spread',
    answers: 'several',
    unit: 'answer',
    estimate: ({ rewards, groups, std }) => groupAdvantages(rewards, groups, std),
  },
  groupMean: {
    title: 'group mean (Dr.GRPO)',
    text: 'reward - group mean, not divided by the spread (Dr.GRPO, arXiv 2503.20783)',
    answers: 'several',
    unit: 'answer',
    estimate: ({ rewards, groups }) => groupAdvantages(rewards, groups, 'none'),
  },
  smoothed: {
    title: 'smoothed over a prompt\u2019s visits (DCPO)',
    text: 'as by group mean and sd, mixed with the same over all answers that the prompt has had so far (DCPO, arXiv 2509.02333); a prompt that comes for the first time has no past, and gets the former alone',
    answers: 'several',
    unit: 'answer',
    estimate: ({ rewards, groups, std, pastOf }) => smoothedAdvantages(rewards, groups, pastOf, std),
  },
  leaveOneOut: {
    title: 'leave one out (RLOO)',
    text: 'reward - mean of the other rewards of the group (RLOO, arXiv 2402.14740)',
    answers: 'several',
    unit: 'answer',
    estimate: ({ rewards, groups }) => looAdvantages(rewards, groups),
  },
  batchMean: {
    title: 'batch mean',
    text: 'reward - mean reward of the batch',
    answers: 'any',
    unit: 'answer',
    estimate: ({ rewards }) => sequenceAdvantages(rewards, { baseline: 'batchMean' }),
  },
  reward: {
    title: 'reward alone (no baseline)',
    text: 'the reward itself: nothing is subtracted',
    answers: 'any',
    unit: 'answer',
    estimate: ({ rewards }) => sequenceAdvantages(rewards, { baseline: 'zero' }),
  },
  sequenceLevel: {
    title: 'reward minus V(prompt) (SPPO)',
    text: 'reward - V(prompt), or minus the batch mean, or minus nothing',
    answers: 'one',
    unit: 'answer',
    estimate: ({ rewards, valueLogits, baseline = 'value', normalize = false }) => {
      if (baseline === 'value' && !valueLogits) throw new UserError('The baseline V(prompt) needs one value logit per response.', 'Give `values`, or choose another baseline.');
      return sequenceAdvantages(rewards, { baseline, normalize, ...(valueLogits && { valueLogits }) });
    },
  },
  gae: {
    title: 'GAE with a token critic (PPO)',
    text: 'generalised advantage estimation over the tokens with V before each, whitened over the batch if wanted (PPO, arXiv 1707.06347)',
    answers: 'any',
    unit: 'token',
    estimate: ({ rewards, values, gamma, lambda, whiten = false }) => {
      const rows = rewards.map((row, i) => gaeAdvantages(row, values[i], gamma, lambda));
      const advantages = rows.map((row) => row.advantages);
      return { advantages: whiten ? whitenTokens(advantages) : advantages, returns: rows.map((row) => row.returns) };
    },
  },
} as const satisfies Record<string, EstimatorSpec>;

/** Where an objective's advantages come from. */
export type AdvantageEstimator = keyof typeof table;

export const ESTIMATORS: Readonly<typeof table> = table;

/** Their ids, in the order of the list. */
export const ADVANTAGE_ESTIMATORS = Object.keys(table) as AdvantageEstimator[];
