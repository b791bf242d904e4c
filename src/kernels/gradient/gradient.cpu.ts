import type { Reals } from '../reals';

/** Sums the splits of grads [splits, flat]; returns the sum [flat] and its Euclidean norm. */
export function gradientReduceCpu(grads: Reals, splits: number): { sum: Float64Array; norm: number } {
  const flat = grads.length / splits;
  const sum = new Float64Array(flat);
  for (let s = 0; s < splits; s++) for (let i = 0; i < flat; i++) sum[i] += grads[s * flat + i];
  return { sum, norm: Math.sqrt(sum.reduce((a, v) => a + v * v, 0)) };
}
