import type { Reals } from '../reals';

/** y = x W: x [M, K], W [K, O], returns [M, O]. */
export function matmulForwardCpu(x: Reals, w: Reals, K: number, O: number): Float64Array {
  const M = x.length / K;
  const y = new Float64Array(M * O);
  for (let m = 0; m < M; m++) {
    for (let k = 0; k < K; k++) {
      const v = x[m * K + k];
      for (let o = 0; o < O; o++) y[m * O + o] += v * w[k * O + o];
    }
  }
  return y;
}

/** dx = dy W^T: dy [M, O], W [K, O], returns [M, K]. */
export function matmulBackwardInputCpu(dy: Reals, w: Reals, K: number, O: number): Float64Array {
  const M = dy.length / O;
  const dx = new Float64Array(M * K);
  for (let m = 0; m < M; m++) {
    for (let k = 0; k < K; k++) {
      let sum = 0;
      for (let o = 0; o < O; o++) sum += dy[m * O + o] * w[k * O + o];
      dx[m * K + k] = sum;
    }
  }
  return dx;
}

/** dW = x^T dy: x [M, K], dy [M, O], returns [K, O]. */
export function matmulBackwardWeightCpu(x: Reals, dy: Reals, K: number, O: number): Float64Array {
  const M = x.length / K;
  const dw = new Float64Array(K * O);
  for (let m = 0; m < M; m++) {
    for (let k = 0; k < K; k++) {
      const v = x[m * K + k];
      for (let o = 0; o < O; o++) dw[k * O + o] += v * dy[m * O + o];
    }
  }
  return dw;
}

/** h sigmoid(1.702 h), elementwise (Hendrycks & Gimpel 2016, arXiv 1606.08415, section 2). */
export function activationCpu(h: Reals): Float64Array {
  return Float64Array.from(h, (v) => v / (1 + Math.exp(-1.702 * v)));
}

/** dy * d/dh [h sigmoid(1.702 h)], elementwise. */
export function activationBackwardCpu(h: Reals, dy: Reals): Float64Array {
  return Float64Array.from(h, (v, i) => {
    const s = 1 / (1 + Math.exp(-1.702 * v));
    return dy[i] * s * (1 + 1.702 * v * (1 - s));
  });
}
