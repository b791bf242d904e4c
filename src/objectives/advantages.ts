import { UserError } from '../core/errors';
import { sigmoidOf } from './evaluate';

/** From rewards to one advantage per response. All arrays are [B]; rewards that are NaN are left out and get advantage 0. */

/**
 * How a group's spread divides. `population` is the trainer's; `trl` and `verl` are those libraries' (Bessel-corrected);
 * `none` is Dr.GRPO (arXiv 2503.20783), which does not divide.
 */
export const ADVANTAGE_STDS = ['population', 'trl', 'verl', 'none'] as const;
export type AdvantageStd = (typeof ADVANTAGE_STDS)[number];

const STD_RULES: Record<AdvantageStd, { bessel: boolean; epsilon: number; divide: boolean }> = {
  population: { bessel: false, epsilon: 1e-4, divide: true },
  trl: { bessel: true, epsilon: 1e-4, divide: true },
  verl: { bessel: true, epsilon: 1e-6, divide: true },
  none: { bessel: false, epsilon: 0, divide: false },
};

/** Rewards closer together than this are alike: rounding must not be blown up into an advantage (pitfall 39). */
const ALIKE = 1e-6;

/** True for rewards between these bounds that count as one and the same. */
export const areAlike = (lowest: number, highest: number): boolean => !(highest - lowest >= ALIKE);

/** Indices of the rows of each group, in order of first appearance; rows with a NaN reward are left out. */
export function rowsByGroup(rewards: ArrayLike<number>, groups: ArrayLike<number>): number[][] {
  const byGroup = new Map<number, number[]>();
  for (let i = 0; i < rewards.length; i++) {
    const rows = byGroup.get(groups[i]) ?? [];
    byGroup.set(groups[i], rows);
    if (!Number.isNaN(rewards[i])) rows.push(i);
  }
  return [...byGroup.values()];
}

/** True when no member differs from another, so that the group can teach nothing. */
function isDead(rewards: ArrayLike<number>, rows: number[]): boolean {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const i of rows) {
    lowest = Math.min(lowest, rewards[i]);
    highest = Math.max(highest, rewards[i]);
  }
  return areAlike(lowest, highest);
}

/** (reward - mean) / (sd + epsilon) by a rule, from the sum of squared deviations of n rewards that are not all alike. */
export function standardise(reward: number, mean: number, squares: number, n: number, std: AdvantageStd, epsilon?: number): number {
  const rule = STD_RULES[std];
  return (reward - mean) / (rule.divide ? Math.sqrt(squares / (rule.bessel ? n - 1 : n)) + (epsilon ?? rule.epsilon) : 1);
}

/**
 * GRPO's advantage (arXiv 2402.03300): (R - group mean) / (group sd + epsilon), by two passes; exactly 0 in a group without spread.
 * @param groups group (prompt) id of each response; [B]
 * @param epsilon overrides the rule's own
 */
export function groupAdvantages(rewards: ArrayLike<number>, groups: ArrayLike<number>, std: AdvantageStd = 'population', epsilon?: number): Float64Array {
  if (rewards.length !== groups.length) throw new UserError(`There are ${rewards.length} rewards but ${groups.length} group ids.`, 'Give one of each per response.');
  const out = new Float64Array(rewards.length);
  for (const rows of rowsByGroup(rewards, groups)) {
    if (isDead(rewards, rows)) continue;
    const average = rows.reduce((s, i) => s + rewards[i], 0) / rows.length;
    const squares = rows.reduce((s, i) => s + (rewards[i] - average) ** 2, 0);
    for (const i of rows) out[i] = standardise(rewards[i], average, squares, rows.length, std, epsilon);
  }
  return out;
}

/**
 * RLOO's advantage (arXiv 2402.14740): R minus the mean reward of the other members of the group; exactly 0 in a group
 * without spread, or of one. Equal to n/(n-1) times R minus the group mean, and computed so.
 */
export function looAdvantages(rewards: ArrayLike<number>, groups: ArrayLike<number>): Float64Array {
  const out = groupAdvantages(rewards, groups, 'none');
  for (const rows of rowsByGroup(rewards, groups)) {
    if (rows.length > 1) for (const i of rows) out[i] *= rows.length / (rows.length - 1);
  }
  return out;
}

/**
 * DAPO's soft overlong penalty (arXiv 2503.14476), added to the reward: 0 up to maxTokens - cache, then falling linearly to
 * -1 at maxTokens, -1 beyond. Lengths in tokens; a cache of 0 turns it off.
 */
export function softOverlongPenalty(length: number, maxTokens: number, cache: number): number {
  if (!(cache > 0)) return 0;
  return Math.max(-1, Math.min(0, (maxTokens - cache - length) / cache));
}

/** Which responses belong to a group without spread: no member can teach anything; [B], 1 = dead. */
export function deadRows(rewards: ArrayLike<number>, groups: ArrayLike<number>): Uint8Array {
  const dead = new Uint8Array(rewards.length);
  for (let i = 0; i < rewards.length; i++) if (Number.isNaN(rewards[i])) dead[i] = 1;
  for (const rows of rowsByGroup(rewards, groups)) if (isDead(rewards, rows)) for (const i of rows) dead[i] = 1;
  return dead;
}

/** Share of groups whose rewards are all alike (their advantages are 0); NaN without groups. */
export function deadGroupShare(rewards: ArrayLike<number>, groups: ArrayLike<number>): number {
  const all = rowsByGroup(rewards, groups);
  return all.filter((rows) => isDead(rewards, rows)).length / all.length;
}

/** What SPPO subtracts from the reward: the critic's V(prompt), the mean reward of the batch, or nothing (successes only). */
export type Baseline = 'value' | 'batchMean' | 'zero';

export interface SequenceAdvantageOptions {
  baseline: Baseline;
  /** Logits of V(prompt); [B]; needed by `value`. */
  valueLogits?: ArrayLike<number>;
  /** Divide by max(population sd of the advantages over the batch, .1). Ours; SPPO has none. */
  normalize?: boolean;
}

/** Least divisor of a normalised advantage, so that a settled critic's noise is not blown up. */
const LEAST_SD = 0.1;

/** SPPO's advantage (arXiv 2604.08865, `sequence_level_adv`): R - sigmoid(logit), no group, no whitening. */
export function sequenceAdvantages(rewards: ArrayLike<number>, options: SequenceAdvantageOptions): Float64Array {
  const { baseline, valueLogits, normalize = false } = options;
  if (baseline === 'value' && valueLogits?.length !== rewards.length) {
    throw new UserError('The baseline V(prompt) needs one value logit per response.', 'Give `values`, or choose another baseline.');
  }
  const counted = Array.from({ length: rewards.length }, (_, i) => i).filter((i) => !Number.isNaN(rewards[i]));
  const n = Math.max(1, counted.length);
  const batchMean = counted.reduce((s, i) => s + rewards[i], 0) / n;
  const out = new Float64Array(rewards.length);
  for (const i of counted) {
    const base = baseline === 'value' ? sigmoidOf((valueLogits as ArrayLike<number>)[i]) : baseline === 'batchMean' ? batchMean : 0;
    out[i] = rewards[i] - base;
  }
  if (!normalize) return out;
  const average = counted.reduce((s, i) => s + out[i], 0) / n;
  const sd = Math.sqrt(counted.reduce((s, i) => s + (out[i] - average) ** 2, 0) / n);
  const divisor = Math.max(sd, LEAST_SD);
  return out.map((a) => a / divisor);
}

/**
 * SPPO's critic loss: mean binary cross-entropy of sigmoid(logit) against the reward, nats, and its derivative by each logit,
 * (sigmoid(logit) - R) / B.
 */
export function criticLoss(rewards: ArrayLike<number>, valueLogits: ArrayLike<number>): { loss: number; gradient: Float64Array; value: Float64Array } {
  const B = rewards.length;
  const gradient = new Float64Array(B);
  const value = new Float64Array(B);
  let loss = 0;
  for (let i = 0; i < B; i++) {
    const z = valueLogits[i];
    value[i] = sigmoidOf(z);
    gradient[i] = (value[i] - rewards[i]) / Math.max(1, B);
    // log(1 + e^z) - R z without overflow.
    loss += Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - rewards[i] * z;
  }
  return { loss: loss / Math.max(1, B), gradient, value };
}

/** One advantage per response, repeated over its tokens: the [B][T] that ObjectiveBatch wants. */
export function broadcastAdvantages(advantages: ArrayLike<number>, mask: ArrayLike<number>[]): Float64Array[] {
  return mask.map((row, i) => new Float64Array(row.length).fill(advantages[i]));
}
