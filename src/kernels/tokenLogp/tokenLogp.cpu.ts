import type { Reals } from '../reals';

/** Log-prob (nats) of each target and entropy (nats) of softmax(logits / T); 0 where the target is not below V. logits [N, V]. */
export function tokenLogpForwardCpu(logits: Reals, targets: Uint32Array, V: number, temperature: number): { logp: Float64Array; entropy: Float64Array; lse: Float64Array } {
  const N = targets.length;
  const logp = new Float64Array(N);
  const entropy = new Float64Array(N);
  const lse = new Float64Array(N);
  for (let n = 0; n < N; n++) {
    const z = Array.from(logits.subarray(n * V, (n + 1) * V), (v) => v / temperature);
    const top = Math.max(...z);
    lse[n] = top + Math.log(z.reduce((a, v) => a + Math.exp(v - top), 0));
    if (targets[n] >= V) continue;
    logp[n] = z[targets[n]] - lse[n];
    entropy[n] = -z.reduce((a, v) => a + Math.exp(v - lse[n]) * (v - lse[n]), 0);
  }
  return { logp, entropy, lse };
}

/** dlogits = c / T (onehot - softmax); returns [N, V], rows without a target are 0. */
export function tokenLogpBackwardCpu(logits: Reals, targets: Uint32Array, lse: Reals, coefficient: Reals, V: number, temperature: number): Float64Array {
  const d = new Float64Array(logits.length);
  for (let n = 0; n < targets.length; n++) {
    if (targets[n] >= V) continue;
    for (let v = 0; v < V; v++) {
      const p = Math.exp(logits[n * V + v] / temperature - lse[n]);
      d[n * V + v] = (coefficient[n] / temperature) * ((v === targets[n] ? 1 : 0) - p);
    }
  }
  return d;
}
