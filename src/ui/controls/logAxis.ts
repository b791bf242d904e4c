/** The one axis on which every clip width stands: 1e-4 to 1, logarithmic. */
export const EPS_MIN = 1e-4;
export const EPS_MAX = 1;

/** Place of a width on the axis, 0..1; 0 and anything below 1e-4 sit at the left end. */
export function epsToFraction(eps: number): number {
  if (!(eps > EPS_MIN)) return 0;
  return Math.min(1, Math.log(eps / EPS_MIN) / Math.log(EPS_MAX / EPS_MIN));
}

/** The width at a place 0..1, rounded to two significant digits so that what is shown is what is used. */
export function fractionToEps(fraction: number): number {
  const held = Math.min(1, Math.max(0, fraction));
  return Number((EPS_MIN * (EPS_MAX / EPS_MIN) ** held).toPrecision(2));
}

/** The next width up or down: one unit of the second significant digit's half decade (about 5 %), never stuck on rounding. */
export function stepEps(eps: number, direction: 1 | -1, coarse = false): number {
  const width = coarse ? 0.125 : 0.0125;
  let fraction = epsToFraction(eps) + direction * width;
  let next = fractionToEps(fraction);
  while (next === eps && fraction > 0 && fraction < 1) {
    fraction += direction * width;
    next = fractionToEps(fraction);
  }
  return next;
}
