import type { RunConfig } from '../config/runConfig';
import { getObjective, groupAdvantages, sequenceAdvantages } from '../objectives';

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
  return getObjective(config.objective).advantageEstimator === 'sequenceLevel' && config.baseline === 'value';
}

/** Group id of each row; [R]. */
export function groupsOf(rows: number, groupSize: number): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, r) => Math.floor(r / groupSize));
}

/** One advantage per row, by the estimator of the objective in force; [R]. */
export function estimateAdvantages(config: RunConfig, input: AdvantageInput): Float64Array {
  const { rewards, groupSize, valueLogits } = input;
  switch (getObjective(config.objective).advantageEstimator) {
    case 'groupMeanStd':
      return groupAdvantages(rewards, groupsOf(rewards.length, groupSize), 'population', 1e-4);
    case 'sequenceLevel':
      return sequenceAdvantages(rewards, { baseline: config.baseline, normalize: config.normalizeAdvantage, ...(valueLogits && { valueLogits }) });
  }
}
