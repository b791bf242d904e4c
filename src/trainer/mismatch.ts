import type { MismatchCorrection } from '../config/runConfig';

/** Importance weights of every token, detached: as applied to the loss, and whole, before truncation or masking. */
export interface TokenImportance {
  applied: Float64Array;
  whole: Float64Array;
}

/** The guard of the objectives' log ratios, nats, here for the same reason: beyond it no sample means anything. */
const GUARD = 20;

/**
 * Weights that make up for a sampler which is not the policy of oldLogp (lower precision, other kernels, older parameters):
 * exp(oldLogp - samplerLogp) of each token, or of the summed answer, repeated over its tokens. `truncate` holds them at `cap`
 * (truncated importance sampling); `mask` keeps those in [floor, cap] as they are and makes the others 0. TRL names the four modes
 * token_truncate, token_mask, sequence_truncate and sequence_mask (its default, cap 3); verl's rollout correction has the same with
 * a cap of 2 and a floor. The answer's weight is the exp of a sum, so it shrinks or grows with length (pitfall 18).
 * @param samplerLogp nats, [R][T]
 * @param oldLogp nats, [R][T]
 */
export function importanceWeights(
  correction: MismatchCorrection,
  { cap, floor }: { cap: number; floor: number },
  samplerLogp: readonly ArrayLike<number>[],
  oldLogp: readonly ArrayLike<number>[],
): TokenImportance[] | null {
  if (correction === 'none') return null;
  const isSequence = correction.startsWith('sequence');
  const isMask = correction.endsWith('mask');
  const cut = (weight: number): number => (isMask ? (weight < floor || weight > cap ? 0 : weight) : Math.min(weight, cap));
  return oldLogp.map((row, r) => {
    const difference = Float64Array.from(row, (logp, t) => logp - (samplerLogp[r] as ArrayLike<number>)[t]);
    if (isSequence) difference.fill(difference.reduce((sum, d) => sum + d, 0));
    const whole = difference.map((d) => Math.exp(Math.min(Math.max(d, -GUARD), GUARD)));
    return { applied: whole.map(cut), whole };
  });
}
