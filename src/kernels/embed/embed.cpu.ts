import type { Reals } from '../reals';

/** x[n] = E[tok[n]] + P[pos[n]]; returns [N, C]. */
export function embedForwardCpu(tok: Uint32Array, pos: Uint32Array, E: Reals, P: Reals, C: number): Float64Array {
  const x = new Float64Array(tok.length * C);
  for (let n = 0; n < tok.length; n++) for (let c = 0; c < C; c++) x[n * C + c] = E[tok[n] * C + c] + P[pos[n] * C + c];
  return x;
}

/** Adds dx [N, C] into dE [V, C] and dP [T, C]. */
export function embedBackwardCpu(tok: Uint32Array, pos: Uint32Array, dx: Reals, C: number, dE: Float64Array, dP: Float64Array): void {
  for (let n = 0; n < tok.length; n++) {
    for (let c = 0; c < C; c++) {
      dE[tok[n] * C + c] += dx[n * C + c];
      dP[pos[n] * C + c] += dx[n * C + c];
    }
  }
}
