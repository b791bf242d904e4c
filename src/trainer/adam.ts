/** Adam of every network of a run, as in experiments.md section 2: fresh state, no decay. */
export const ADAM = { beta1: 0.9, beta2: 0.99, adamEps: 1e-8, weightDecay: 0 } as const;
