import { UserError } from '../core/errors';
import { groupAdvantages, looAdvantages, sequenceAdvantages, type AdvantageStd, type Baseline } from './advantages';

/** The ways from the rewards of a rollout to one advantage per response, as data: the trainer, `eval` and the docs read this list. */

export interface EstimatorInput {
  /** [B]; NaN is left out. */
  rewards: ArrayLike<number>;
  /** Group (prompt) of each response; [B]. */
  groups: ArrayLike<number>;
  /** Logits of V(prompt); [B]; `sequenceLevel` with the baseline `value` needs them. */
  valueLogits?: ArrayLike<number>;
  /** Read by `groupMeanStd`; default `population`. */
  std?: AdvantageStd;
  /** Read by `sequenceLevel`; default `value`. */
  baseline?: Baseline;
  normalize?: boolean;
}

export interface EstimatorSpec {
  /** For a control, e.g. "group mean and spread (GRPO)". */
  title: string;
  /** The rule in words, for the docs. */
  text: string;
  /** How many answers to one prompt it asks for: several to compare, exactly one, or either. */
  answers: 'several' | 'one' | 'any';
  estimate(input: EstimatorInput): Float64Array;
}

const table = {
  groupMeanStd: {
    title: 'group mean and spread (GRPO)',
    text: '(reward - group mean) / (group sd + 1e-4), exactly 0 in a group without spread',
    answers: 'several',
    estimate: ({ rewards, groups, std }) => groupAdvantages(rewards, groups, std),
  },
  groupMean: {
    title: 'group mean (Dr.GRPO)',
    text: 'reward - group mean, not divided by the spread (Dr.GRPO, arXiv 2503.20783)',
    answers: 'several',
    estimate: ({ rewards, groups }) => groupAdvantages(rewards, groups, 'none'),
  },
  leaveOneOut: {
    title: 'leave one out (RLOO)',
    text: 'reward - mean of the other rewards of the group (RLOO, arXiv 2402.14740)',
    answers: 'several',
    estimate: ({ rewards, groups }) => looAdvantages(rewards, groups),
  },
  batchMean: {
    title: 'batch mean',
    text: 'reward - mean reward of the batch',
    answers: 'any',
    estimate: ({ rewards }) => sequenceAdvantages(rewards, { baseline: 'batchMean' }),
  },
  reward: {
    title: 'reward alone (no baseline)',
    text: 'the reward itself: nothing is subtracted',
    answers: 'any',
    estimate: ({ rewards }) => sequenceAdvantages(rewards, { baseline: 'zero' }),
  },
  sequenceLevel: {
    title: 'reward minus V(prompt) (SPPO)',
    text: 'reward - V(prompt), or minus the batch mean, or minus nothing',
    answers: 'one',
    estimate: ({ rewards, valueLogits, baseline = 'value', normalize = false }) => {
      if (baseline === 'value' && !valueLogits) throw new UserError('The baseline V(prompt) needs one value logit per response.', 'Give `values`, or choose another baseline.');
      return sequenceAdvantages(rewards, { baseline, normalize, ...(valueLogits && { valueLogits }) });
    },
  },
} as const satisfies Record<string, EstimatorSpec>;

/** Where an objective's advantages come from. */
export type AdvantageEstimator = keyof typeof table;

export const ESTIMATORS: Readonly<Record<AdvantageEstimator, EstimatorSpec>> = table;

/** Their ids, in the order of the list. */
export const ADVANTAGE_ESTIMATORS = Object.keys(table) as AdvantageEstimator[];
