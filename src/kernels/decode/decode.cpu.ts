import { uniformAt } from '../../core/rng';
import type { Reals } from '../reals';

export interface SamplingKey {
  seed: number;
  iteration: number;
  row: number;
  /** Position of the token that is drawn. */
  position: number;
}

/**
 * Draws one token from softmax(logits / T) by inverse transform with the counter-based noise of (seed, iteration, row,
 * position), or takes the largest logit. Returns the token, its log-prob and the entropy (nats), and `margin`: how far
 * the noise was from the nearest boundary between two tokens (an f32 run may differ when it is tiny).
 */
export function sampleTokenCpu(logits: Reals, temperature: number, key: SamplingKey, greedy: boolean): { token: number; logp: number; entropy: number; margin: number } {
  const z = Array.from(logits, (v) => v / temperature);
  const top = Math.max(...z);
  const lse = top + Math.log(z.reduce((a, v) => a + Math.exp(v - top), 0));
  const p = z.map((v) => Math.exp(v - lse));
  const entropy = -p.reduce((a, q, v) => a + q * (z[v] - lse), 0);
  let token = z.indexOf(top);
  let margin = 1;
  if (!greedy) {
    const u = uniformAt(key.seed, key.iteration, key.row, key.position);
    let cumulative = 0;
    let found = false;
    p.forEach((q, v) => {
      cumulative += q;
      margin = Math.min(margin, Math.abs(u - cumulative));
      if (!found && u < cumulative) {
        token = v;
        found = true;
      }
    });
  }
  return { token, logp: z[token] - lse, entropy, margin };
}

/** The rows that still run, in order. */
export function gatherCpu(alive: Uint32Array): number[] {
  return [...alive.keys()].filter((r) => alive[r] !== 0);
}
