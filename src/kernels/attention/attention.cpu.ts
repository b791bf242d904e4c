import type { Reals } from '../reals';

/** Causal attention within packed rows: qkv [N, 3C], pos [N] (row of n starts at n - pos[n]); returns out [N, C] and p-free statistics lse [N, H]. */
export function attentionForwardCpu(qkv: Reals, pos: Uint32Array, C: number, H: number): { out: Float64Array; lse: Float64Array } {
  const N = pos.length;
  const hd = C / H;
  const out = new Float64Array(N * C);
  const lse = new Float64Array(N * H);
  for (let n = 0; n < N; n++) {
    for (let h = 0; h < H; h++) {
      const start = n - pos[n];
      const scores: number[] = [];
      for (let j = start; j <= n; j++) scores.push(score(qkv, n, j, h, C, hd));
      const top = Math.max(...scores);
      const total = scores.reduce((a, s) => a + Math.exp(s - top), 0);
      lse[n * H + h] = top + Math.log(total);
      scores.forEach((s, index) => {
        const p = Math.exp(s - lse[n * H + h]);
        for (let i = 0; i < hd; i++) out[n * C + h * hd + i] += p * qkv[(start + index) * 3 * C + 2 * C + h * hd + i];
      });
    }
  }
  return { out, lse };
}

/** Gradient of attention with respect to qkv: returns dqkv [N, 3C]. */
export function attentionBackwardCpu(qkv: Reals, pos: Uint32Array, out: Reals, lse: Reals, dOut: Reals, C: number, H: number): Float64Array {
  const N = pos.length;
  const hd = C / H;
  const scale = 1 / Math.sqrt(hd);
  const dqkv = new Float64Array(N * 3 * C);
  for (let n = 0; n < N; n++) {
    for (let h = 0; h < H; h++) {
      let delta = 0;
      for (let i = 0; i < hd; i++) delta += dOut[n * C + h * hd + i] * out[n * C + h * hd + i];
      for (let j = n - pos[n]; j <= n; j++) {
        const p = Math.exp(score(qkv, n, j, h, C, hd) - lse[n * H + h]);
        let dp = 0;
        for (let i = 0; i < hd; i++) dp += dOut[n * C + h * hd + i] * qkv[j * 3 * C + 2 * C + h * hd + i];
        const ds = p * (dp - delta) * scale;
        for (let i = 0; i < hd; i++) {
          const q = n * 3 * C + h * hd + i;
          const k = j * 3 * C + C + h * hd + i;
          dqkv[q] += ds * qkv[k];
          dqkv[k] += ds * qkv[q];
          dqkv[k + C] += p * dOut[n * C + h * hd + i];
        }
      }
    }
  }
  return dqkv;
}

function score(qkv: Reals, n: number, j: number, h: number, C: number, hd: number): number {
  let s = 0;
  for (let i = 0; i < hd; i++) s += qkv[n * 3 * C + h * hd + i] * qkv[j * 3 * C + C + h * hd + i];
  return s / Math.sqrt(hd);
}
