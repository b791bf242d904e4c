import type { Level } from '../core/levels';
import type { CompactBatch } from './compact';
import { ratioOf } from './evaluateObjective';
import type { Fractions, LevelMetrics } from './types';

/** One level's statistics of a minibatch: units are tokens, segments or sequences. */

const PER_DECADE = 4;
const DECADES = 5;
const SMALLEST = 1e-4;

/**
 * Edges of the histogram of log ratio, nats, ascending: a logarithmic scale of 4 bins a decade from 1e-4 to 10 on both
 * sides of 0. Bin 0 lies below the first edge, bin i between edges i-1 and i, the last above the last edge; the middle one holds 0.
 */
export const HISTOGRAM_EDGES: readonly number[] = (() => {
  const positive = Array.from({ length: PER_DECADE * DECADES + 1 }, (_, i) => SMALLEST * 10 ** (i / PER_DECADE));
  return [...positive.map((x) => -x).reverse(), ...positive];
})();

/** Bin of a log ratio: how many edges are <= x. NaN falls in bin 0. */
export function histogramBin(x: number): number {
  let low = 0;
  let high = HISTOGRAM_EDGES.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (HISTOGRAM_EDGES[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Quantile of ascending values with linear interpolation; NaN when there are none. */
export function quantile(sorted: ArrayLike<number>, p: number): number {
  const n = sorted.length;
  if (n === 0) return NaN;
  const at = p * (n - 1);
  const i = Math.floor(at);
  const above = Math.min(i + 1, n - 1);
  return sorted[i] + (sorted[above] - sorted[i]) * (at - i);
}

/** What a level is measured with; columns [n]. */
export interface LevelInputs {
  level: Level;
  /** Log ratio at this level of each token's unit, nats. */
  logRatio: Float64Array;
  /** One past the last token of each token's unit; null at token level. */
  unitEnd: Uint32Array | null;
  /** Widths of the band at each token. */
  low: Float64Array;
  high: Float64Array;
  /** As reported: the widths before any scaling. */
  widths: { low: number; high: number };
  /** Share-of-gradient weight of each token (metrics.ts). */
  gradientWeight: Float64Array;
}

/** Sides of a band: which units lie outside, and for which of them the gradient becomes zero. */
interface Sides {
  outsideLow: number;
  outsideHigh: number;
  bindingLow: number;
  bindingHigh: number;
}
const noSides = (): Sides => ({ outsideLow: 0, outsideHigh: 0, bindingLow: 0, bindingHigh: 0 });

/** Statistics of one level. A unit's advantage is the sum over its tokens (all alike unless advantages differ by token). */
export function levelMetrics(c: CompactBatch, input: LevelInputs): LevelMetrics {
  const { logRatio, unitEnd } = input;
  const n = c.count;
  const count = { units: noSides(), tokens: noSides(), liveUnits: noSides(), liveTokens: noSides() };
  const total = { units: 0, tokens: n, liveUnits: 0, liveTokens: 0 };
  const perUnit = new Float64Array(n);
  const histogram = new Array<number>(HISTOGRAM_EDGES.length + 1).fill(0);
  const clipped = new Uint8Array(n);
  for (let start = 0; start < n; ) {
    const end = unitEnd ? unitEnd[start] : start + 1;
    const x = logRatio[start];
    const ratio = ratioOf(x);
    const below = ratio < 1 - input.low[start];
    const above = ratio > 1 + input.high[start];
    let unitAdvantage = 0;
    for (let t = start; t < end; t++) {
      const a = c.advantage[t];
      unitAdvantage += a;
      if (a !== 0) total.liveTokens++;
      tally(count.tokens, below, above, a);
      if (a !== 0) tally(count.liveTokens, below, above, a);
      clipped[t] = (below && a < 0) || (above && a > 0) ? 1 : 0;
    }
    tally(count.units, below, above, unitAdvantage);
    if (unitAdvantage !== 0) {
      total.liveUnits++;
      tally(count.liveUnits, below, above, unitAdvantage);
    }
    histogram[histogramBin(x)]++;
    perUnit[total.units++] = x;
    start = end;
  }
  const fractions = (low: 'outsideLow' | 'bindingLow', high: 'outsideHigh' | 'bindingHigh'): Fractions => {
    const share = (key: keyof typeof count) => {
      const of = Math.max(1, total[key]);
      const [l, h] = [count[key][low], count[key][high]];
      return { low: l / of, high: h / of, both: (l + h) / of };
    };
    return { units: share('units'), tokens: share('tokens'), liveUnits: share('liveUnits'), liveTokens: share('liveTokens') };
  };
  const logRatios = perUnit.subarray(0, total.units);
  return {
    level: input.level,
    widths: input.widths,
    units: total.units,
    liveUnits: total.liveUnits,
    logRatio: summary(logRatios),
    histogram,
    outside: fractions('outsideLow', 'outsideHigh'),
    binding: fractions('bindingLow', 'bindingHigh'),
    ...clippedShares(c, clipped, input.gradientWeight),
    ess: effectiveSampleSize(logRatios),
  };
}

function tally(sides: Sides, below: boolean, above: boolean, advantage: number): void {
  if (below) {
    sides.outsideLow++;
    if (advantage < 0) sides.bindingLow++;
  } else if (above) {
    sides.outsideHigh++;
    if (advantage > 0) sides.bindingHigh++;
  }
}

function summary(x: Float64Array): LevelMetrics['logRatio'] {
  const n = Math.max(1, x.length);
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i];
  const mean = total / n;
  let squares = 0;
  for (let i = 0; i < x.length; i++) squares += (x[i] - mean) ** 2;
  const sorted = Float64Array.from(x).sort();
  const q = (p: number) => quantile(sorted, p);
  return { mean, sd: Math.sqrt(squares / n), min: q(0), max: q(1), p01: q(0.01), p10: q(0.1), p50: q(0.5), p90: q(0.9), p99: q(0.99) };
}

/** (sum r)^2 / (n sum r^2), in (0, 1]; NaN without units. */
function effectiveSampleSize(logRatios: Float64Array): number {
  let total = 0;
  let squares = 0;
  for (let i = 0; i < logRatios.length; i++) {
    const r = ratioOf(logRatios[i]);
    total += r;
    squares += r * r;
  }
  return (total * total) / (logRatios.length * squares);
}

/**
 * Share of gradient on flagged tokens, and mean entropy of the flagged and of the other tokens. Only live tokens (advantage
 * not 0) are counted: the others have no gradient that a clip could take.
 */
export function clippedShares(
  c: CompactBatch,
  flags: ArrayLike<number>,
  gradientWeight: Float64Array,
): { gradientClipped: number; entropyClipped: number | null; entropyKept: number | null } {
  const sums = { weight: 0, clippedWeight: 0, clipped: 0, kept: 0, clippedEntropy: 0, keptEntropy: 0 };
  for (let t = 0; t < c.count; t++) {
    if (c.advantage[t] === 0) continue;
    const h = c.entropy ? c.entropy[t] : 0;
    sums.weight += gradientWeight[t];
    if (flags[t]) {
      sums.clippedWeight += gradientWeight[t];
      sums.clipped++;
      sums.clippedEntropy += h;
    } else {
      sums.kept++;
      sums.keptEntropy += h;
    }
  }
  return {
    gradientClipped: sums.weight > 0 ? sums.clippedWeight / sums.weight : 0,
    entropyClipped: c.entropy && sums.clipped ? sums.clippedEntropy / sums.clipped : null,
    entropyKept: c.entropy && sums.kept ? sums.keptEntropy / sums.kept : null,
  };
}
