import { mean, variance } from '../core/statistics';

/** Advantages of every token and what its value is trained towards; [T] each. */
export interface TokenCredit {
  advantages: Float64Array;
  /** advantage + V. */
  returns: Float64Array;
}

/**
 * Generalised advantage estimation (arXiv 1506.02438 eq. 16; PPO, arXiv 1707.06347 eq. 11-12) over one answer, whose last token ends
 * the episode: delta_t = r_t + gamma V_{t+1} - V_t with V = 0 after the end, A_t = sum_l (gamma lambda)^l delta_{t+l}.
 * @param rewards of each token; [T]
 * @param values V of the state before each token; [T]
 */
export function gaeAdvantages(rewards: ArrayLike<number>, values: ArrayLike<number>, gamma: number, lambda: number): TokenCredit {
  const T = rewards.length;
  const advantages = new Float64Array(T);
  let running = 0;
  for (let t = T - 1; t >= 0; t--) {
    const next = t + 1 < T ? values[t + 1] : 0;
    running = rewards[t] + gamma * next - values[t] + gamma * lambda * running;
    advantages[t] = running;
  }
  return { advantages, returns: advantages.map((a, t) => a + values[t]) };
}

/** Below this spread advantages are alike, and dividing by it would blow up rounding. */
const ALIKE = 1e-6;

/**
 * Shifts and scales advantages to mean 0 and population variance 1 over all tokens of the batch, as verl and TRL do for PPO.
 * Tokens that are all alike become 0. [B][T], ragged.
 */
export function whitenTokens(rows: readonly Float64Array[]): Float64Array[] {
  const all = Float64Array.from(rows.flatMap((row) => Array.from(row)));
  const centre = mean(all);
  const sd = Math.sqrt(variance(all));
  return rows.map((row) => row.map((a) => (sd > ALIKE ? (a - centre) / sd : 0)));
}
