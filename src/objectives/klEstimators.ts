/**
 * Schulman's estimators of KL(p || q) from samples of p, as functions of x = log q - log p at the sample, nats
 * ("Approximating KL divergence", 2020).
 */

/** -x: unbiased, either sign. */
export const k1 = (x: number): number => -x;

/** x^2 / 2: biased, small variance. */
export const k2 = (x: number): number => 0.5 * x * x;

/** e^x - 1 - x: unbiased and never negative. A series near 0, where the difference would cancel. */
export function k3(x: number): number {
  if (Math.abs(x) < 1e-2) return 0.5 * x * x * (1 + (x / 3) * (1 + (x / 4) * (1 + (x / 5) * (1 + (x / 6) * (1 + x / 7)))));
  return Math.expm1(x) - x;
}
