import { estimatorOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { ESTIMATORS } from '../objectives';

export interface AdvantageInput {
  /** [R]. */
  rewards: readonly number[];
  /** Row r belongs to group floor(r / groupSize). */
  groupSize: number;
  /** Logits of V(prompt), [R]; null without a critic. */
  valueLogits: Float64Array | null;
}

/** True when the settings ask for a critic: an objective that subtracts V(prompt), with the learnt baseline. */
export function needsCritic(config: RunConfig): boolean {
  return estimatorOf(config) === 'sequenceLevel' && config.baseline === 'value';
}

/** Group id of each row; [R]. */
export function groupsOf(rows: number, groupSize: number): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, r) => Math.floor(r / groupSize));
}

/** One advantage per row, by the estimator in force; [R]. */
export function estimateAdvantages(config: RunConfig, input: AdvantageInput): Float64Array {
  const { rewards, groupSize, valueLogits } = input;
  return ESTIMATORS[estimatorOf(config)].estimate({
    rewards,
    groups: groupsOf(rewards.length, groupSize),
    baseline: config.baseline,
    normalize: config.normalizeAdvantage,
    ...(valueLogits && { valueLogits }),
  });
}
