export interface AdamwHyper {
  lr: number;
  beta1: number;
  beta2: number;
  eps: number;
  decay: number;
  maxNorm: number;
  /** Counts from 1. */
  step: number;
}

/** One AdamW step in place on params, m, v (f64); `decays[i]` is 1 where weight decay applies; `norm` is the gradient's norm before clipping. */
export function adamwCpu(params: Float64Array, m: Float64Array, v: Float64Array, grads: Float64Array, decays: ArrayLike<number>, norm: number, h: AdamwHyper): void {
  if (!Number.isFinite(norm)) return;
  const scale = Math.min(1, h.maxNorm / (norm + 1e-6));
  for (let i = 0; i < params.length; i++) {
    const g = grads[i] * scale;
    m[i] = h.beta1 * m[i] + (1 - h.beta1) * g;
    v[i] = h.beta2 * v[i] + (1 - h.beta2) * g * g;
    const step = m[i] / (1 - h.beta1 ** h.step) / (Math.sqrt(v[i] / (1 - h.beta2 ** h.step)) + h.eps);
    params[i] -= h.lr * (step + h.decay * decays[i] * params[i]);
  }
}
