import { LEVELS, type Level } from '../core/levels';
import { HISTOGRAM_EDGES, histogramBin, logRatios, type CompactBatch } from '../objectives';
import type { ClipWidths } from '../objectives/types';
import type { LengthScaling } from './types';

/** How the spread of a mean log ratio shrinks with the number of tokens averaged (experiments.md section 4). */

/** Window lengths, tokens. */
export const WINDOW_LENGTHS: readonly number[] = [1, 2, 4, 6, 8, 12, 16, 24];

/** What does not depend on any width. */
export interface Spread {
  windows: LengthScaling['windows'];
  guide: LengthScaling['guide'];
  slope: number | null;
  levels: Record<Level, { meanLength: number; sd: number }>;
  histogram: LengthScaling['histogram'];
}

/** Measures the spread of the mean log ratio over contiguous windows, that do not overlap and lie within one response, and of the levels' own units. */
export function measureSpread(c: CompactBatch): Spread {
  const ratios = logRatios(c);
  const windows = WINDOW_LENGTHS.flatMap((length) => {
    const means = windowMeans(c, ratios.token, length);
    return means.length >= 2 ? [{ length, sd: sdOf(means), count: means.length }] : [];
  });
  const units: Record<Level, Float64Array> = {
    token: ratios.token,
    segment: unitsOf(ratios.segment, c.segEnd),
    sequence: unitsOf(ratios.sequence, c.seqEnd),
  };
  const tokenSd = sdOf(units.token);
  const level = (name: Level) => ({ meanLength: c.count / Math.max(1, units[name].length), sd: sdOf(units[name]) });
  return {
    windows,
    guide: WINDOW_LENGTHS.map((length) => ({ length, sd: tokenSd / Math.sqrt(length) })),
    slope: slopeOf(windows),
    levels: { token: level('token'), segment: level('segment'), sequence: level('sequence') },
    histogram: { edges: HISTOGRAM_EDGES, shares: Object.fromEntries(LEVELS.map((name) => [name, sharesOf(units[name])])) as Record<Level, number[]> },
  };
}

/**
 * Spread against length, with the width that each level would need to reach as many sd as the token level's.
 * @param widths in force
 */
export function lengthScaling(spread: Spread, widths: ClipWidths): LengthScaling {
  const { levels, ...rest } = spread;
  const level = (name: Level): LengthScaling['levels'][Level] => {
    // With no spread at all there is nothing to compare; the token's own width stays.
    const factor = levels.token.sd > 0 ? levels[name].sd / levels.token.sd : 1;
    return { ...levels[name], epsilon: { low: widths.token.low * factor, high: widths.token.high * factor }, current: widths[name] };
  };
  return { ...rest, levels: { token: level('token'), segment: level('segment'), sequence: level('sequence') } };
}

function windowMeans(c: CompactBatch, delta: Float64Array, length: number): Float64Array {
  const means = new Float64Array(Math.floor(c.count / length));
  let n = 0;
  for (let r = 0; r < c.rows; r++) {
    for (let start = c.rowStart[r]; start + length <= c.rowStart[r + 1]; start += length) {
      let sum = 0;
      for (let t = start; t < start + length; t++) sum += delta[t];
      means[n++] = sum / length;
    }
  }
  return means.subarray(0, n);
}

/** One value a unit of a column in which units repeat theirs. */
function unitsOf(column: Float64Array, unitEnd: Uint32Array): Float64Array {
  const out = new Float64Array(column.length);
  let n = 0;
  for (let t = 0; t < column.length; t = unitEnd[t]) out[n++] = column[t];
  return out.subarray(0, n);
}

/** Population sd; 0 without values. */
function sdOf(x: Float64Array): number {
  if (x.length === 0) return 0;
  const mean = x.reduce((sum, v) => sum + v, 0) / x.length;
  return Math.sqrt(x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / x.length);
}

/** Least squares in log-log space. */
function slopeOf(windows: LengthScaling['windows']): number | null {
  const points = windows.filter(({ sd }) => sd > 0).map(({ length, sd }) => ({ x: Math.log(length), y: Math.log(sd) }));
  if (points.length < 2) return null;
  const mx = points.reduce((sum, p) => sum + p.x, 0) / points.length;
  const my = points.reduce((sum, p) => sum + p.y, 0) / points.length;
  const xy = points.reduce((sum, p) => sum + (p.x - mx) * (p.y - my), 0);
  return xy / points.reduce((sum, p) => sum + (p.x - mx) ** 2, 0);
}

function sharesOf(units: Float64Array): number[] {
  const counts = new Array<number>(HISTOGRAM_EDGES.length + 1).fill(0);
  for (const x of units) counts[histogramBin(x)]++;
  return counts.map((n) => n / Math.max(1, units.length));
}
