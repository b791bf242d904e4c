import type { Reals } from '../reals';

/** y = x rstd g per row of x [N, C]; returns y [N, C] and rstd [N] (Zhang & Sennrich 2019, arXiv 1910.07467, eq. 4, with eps inside the root). */
export function rmsnormForwardCpu(x: Reals, g: Reals, C: number, eps: number): { y: Float64Array; rstd: Float64Array } {
  const N = x.length / C;
  const y = new Float64Array(x.length);
  const rstd = new Float64Array(N);
  for (let n = 0; n < N; n++) {
    let sum = 0;
    for (let c = 0; c < C; c++) sum += x[n * C + c] ** 2;
    rstd[n] = 1 / Math.sqrt(sum / C + eps);
    for (let c = 0; c < C; c++) y[n * C + c] = x[n * C + c] * rstd[n] * g[c];
  }
  return { y, rstd };
}

/** Gradients of rmsnorm: returns dx [N, C] and dg [C]. */
export function rmsnormBackwardCpu(x: Reals, g: Reals, rstd: Reals, dy: Reals, C: number): { dx: Float64Array; dg: Float64Array } {
  const N = x.length / C;
  const dx = new Float64Array(x.length);
  const dg = new Float64Array(C);
  for (let n = 0; n < N; n++) {
    let sum = 0;
    for (let c = 0; c < C; c++) {
      const i = n * C + c;
      sum += g[c] * dy[i] * x[i] * rstd[n];
      dg[c] += dy[i] * x[i] * rstd[n];
    }
    for (let c = 0; c < C; c++) {
      const i = n * C + c;
      dx[i] = rstd[n] * (g[c] * dy[i] - (x[i] * rstd[n] * sum) / C);
    }
  }
  return { dx, dg };
}
