/** Middle value; the mean of the two middle ones when there is an even number. NaN for none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Largest over smallest minus 1: how much the runs differ. NaN for none. */
export function spread(values: readonly number[]): number {
  return values.length === 0 ? NaN : Math.max(...values) / Math.min(...values) - 1;
}

/** Share of places where two lists agree; 0 when their lengths differ. */
export function agreement(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length || a.length === 0) return 0;
  return a.reduce((n, v, i) => n + (v === b[i] ? 1 : 0), 0) / a.length;
}
