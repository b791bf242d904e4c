/** Upper ends of the bins of |log ratio| (nats): below the first a cell is neutral, so that ordinary noise stays grey. */
export const BIN_EDGES = [0.022, 0.07, 0.18, 0.5] as const;

/** Signed bin of a log ratio: 0 neutral, +-1 to +-4 away from ratio 1. NaN is neutral. */
export function ratioBin(logRatio: number): number {
  const size = Math.abs(logRatio);
  if (!(size >= BIN_EDGES[0])) return 0;
  const above = BIN_EDGES.filter((edge) => size >= edge).length;
  return Math.sign(logRatio) * above;
}

/** Name of the custom property that fills a cell of this bin. */
export function binVariable(bin: number): string {
  if (bin === 0) return '--ratio-0';
  return bin < 0 ? `--ratio-lo-${-bin}` : `--ratio-hi-${bin}`;
}

/** A cell's fill for a log ratio, as a CSS value. */
export function ratioColour(logRatio: number): string {
  return `var(${binVariable(ratioBin(logRatio))})`;
}

/** Ink for a ratio written as a number: tinted when it is outside the neutral bin. */
export function ratioTextColour(logRatio: number): string {
  const bin = ratioBin(logRatio);
  if (bin === 0) return 'var(--ink)';
  return bin < 0 ? 'var(--ratio-lo-text)' : 'var(--ratio-hi-text)';
}
