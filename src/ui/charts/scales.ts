/**
 * Scales of the pictures, as pure functions: the signed log axis of log ratio, the log axis of shares with zero on a
 * lane of its own, and tick values.
 */

/** Inside +- this log ratio (nats) the signed log scale is linear. */
export const LINEAR_WITHIN = 0.01;
/** The axis ends here, in nats; anything beyond is drawn at the edge. */
export const LOG_RATIO_LIMIT = 10;
/** How much room the linear part takes on each side of 0, in decades. */
const LINEAR_DECADES = 0.6;
const EXTENT = LINEAR_DECADES + Math.log10(LOG_RATIO_LIMIT / LINEAR_WITHIN);

/**
 * Place of a log ratio (nats) on the signed log axis: -1 at -10, 0 at 0, 1 at +10; odd, continuous and monotonic,
 * linear within +-.01, logarithmic outside, clamped beyond +-10. NaN gives 0.
 */
export function signedLog(logRatio: number): number {
  const size = Math.abs(logRatio);
  if (!(size > 0)) return 0;
  const decades =
    size <= LINEAR_WITHIN ? (size / LINEAR_WITHIN) * LINEAR_DECADES : LINEAR_DECADES + Math.log10(size / LINEAR_WITHIN);
  return (Math.sign(logRatio) * Math.min(decades, EXTENT)) / EXTENT;
}

/** Maps a log ratio to -1..1 of the axis; ticks are log ratios. */
export interface RatioScale {
  kind: 'log' | 'linear';
  place(logRatio: number): number;
  ticks: readonly number[];
}

export const SIGNED_LOG_SCALE: RatioScale = {
  kind: 'log',
  place: signedLog,
  ticks: [10, 1, 0.1, 0.01, 0, -0.01, -0.1, -1],
};

/** A linear axis over +-limit nats, clamped at its ends, with five to nine ticks at round numbers. */
export function linearScale(limit: number): RatioScale {
  const step = niceStep(limit / 4);
  const ticks: number[] = [];
  for (let i = Math.floor(limit / step + 1e-9); i >= -Math.floor(limit / step + 1e-9); i--) ticks.push(i * step);
  return {
    kind: 'linear',
    place: (logRatio) => (Number.isNaN(logRatio) ? 0 : Math.max(-1, Math.min(1, logRatio / limit))),
    ticks,
  };
}

/** The round number (1, 2 or 5 times a power of ten) next above `rough`. */
export function niceStep(rough: number): number {
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** Shares below this are drawn on the axis' last line; an exact zero goes to the lane under it. */
export const SHARE_FLOOR = 0.001;

/** Height of a share (0..1) on the log axis from .1 % (0) to 100 % (1); null for an exact zero, which has its own lane. */
export function shareHeight(share: number): number | null {
  if (!(share > 0)) return null;
  return 1 + Math.log10(Math.min(1, Math.max(SHARE_FLOOR, share))) / -Math.log10(SHARE_FLOOR);
}
