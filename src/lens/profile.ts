import { evaluateTokens, logRatios, ratioOf, type CompactBatch, type TokenResults } from '../objectives';
import { gradientWeights } from '../objectives/metrics';
import type { Level } from '../core/levels';
import type { Objective } from '../objectives';
import type { Hyperparameters } from '../objectives/types';
import type { MatchQuantity } from './types';

/**
 * What an objective clips as a function of its two widths, for plain bands (isPlainBand). Each token has the width at which
 * its clip lets it go; sorted, these give the clipped share at any width without evaluating anything again.
 */

/** Tokens whose clip acts on one side, by falling width; those before `after(width)` are clipped at that width. */
export interface ClipSide {
  /** Width below which the group is clipped; falling, all distinct. */
  width: Float64Array;
  /** Tokens, and gradient weight, of the groups up to and with this one. */
  tokens: Float64Array;
  weight: Float64Array;
}

export interface ClipProfile {
  objective: string;
  level: Level;
  /** Tokens, live tokens, and gradient weight of all. */
  count: number;
  live: number;
  weight: number;
  /** Cut by the dual clip whatever the widths. */
  always: { tokens: number; weight: number };
  low: ClipSide;
  high: ClipSide;
}

/**
 * Wider than any ratio behind the +-20 guard (e^20 < 2^29), and a power of two: an entropy-scaled width divided by it is the
 * exact factor.
 */
const OFF = 2 ** 30;

/** An objective with all of its clips off: its unclipped coefficients, and the widths as multiples of OFF. */
export function evaluateUnclipped(objective: Objective, compact: CompactBatch, hyper: Hyperparameters): TokenResults {
  // Bounds that are ratios themselves go by the names floor and cap.
  const off: Record<string, number> = { clipLow: OFF, clipHigh: OFF, dualClip: 0, floor: 0, cap: OFF };
  return evaluateTokens(objective, compact, Object.fromEntries(Object.entries(hyper).map(([name, value]) => [name, off[name] ?? value])));
}

/** Builds the profile from an evaluation without clips. */
export function clipProfile(objective: Objective, c: CompactBatch, unclipped: TokenResults, dualClip: number): ClipProfile {
  const gradient = gradientWeights(objective, c, unclipped.logRatio);
  // A dual clip bounds the ratio that weighs, which need not be the clipped one.
  const weighing = objective.ratioLevel ? logRatios(c)[objective.ratioLevel] : unclipped.logRatio;
  const sides = { low: new Groups(), high: new Groups() };
  const always = { tokens: 0, weight: 0 };
  let live = 0;
  let total = 0;
  for (let t = 0; t < c.count; t++) {
    const a = c.advantage[t];
    if (a === 0) continue;
    live++;
    total += gradient[t];
    const ratio = Math.exp(unclipped.logRatio[t]);
    if (dualClip > 0 && a < 0 && ratioOf(weighing[t]) > dualClip) {
      always.tokens++;
      always.weight += gradient[t];
    } else if (a > 0 && ratio > 1) sides.high.add((ratio - 1) / (unclipped.high[t] / OFF), gradient[t]);
    else if (a < 0 && ratio < 1) sides.low.add((1 - ratio) / (unclipped.low[t] / OFF), gradient[t]);
  }
  return { objective: objective.id, level: objective.importanceSamplingLevel, count: c.count, live, weight: total, always, low: sides.low.sorted(), high: sides.high.sorted() };
}

/** Collects tokens by width; neighbours of one unit fall into one group as they come. */
class Groups {
  private readonly width: number[] = [];
  private readonly tokens: number[] = [];
  private readonly weight: number[] = [];

  add(width: number, weight: number): void {
    const last = this.width.length - 1;
    if (last >= 0 && this.width[last] === width) {
      this.tokens[last]++;
      this.weight[last] += weight;
      return;
    }
    this.width.push(width);
    this.tokens.push(1);
    this.weight.push(weight);
  }

  /** Falling, equal widths merged, sums running. */
  sorted(): ClipSide {
    const { width, tokens, weight } = this;
    const order = Uint32Array.from(width, (_, i) => i).sort((a, b) => width[b] - width[a] || a - b);
    const out = { width: new Float64Array(width.length), tokens: new Float64Array(width.length), weight: new Float64Array(width.length) };
    let groups = 0;
    for (const i of order) {
      const isNew = groups === 0 || out.width[groups - 1] !== width[i];
      if (isNew) {
        out.width[groups] = width[i];
        out.tokens[groups] = groups > 0 ? out.tokens[groups - 1] : 0;
        out.weight[groups] = groups > 0 ? out.weight[groups - 1] : 0;
        groups++;
      }
      out.tokens[groups - 1] += tokens[i];
      out.weight[groups - 1] += weight[i];
    }
    return { width: out.width.subarray(0, groups), tokens: out.tokens.subarray(0, groups), weight: out.weight.subarray(0, groups) };
  }
}

/** How many groups of a side are clipped at this width: those with a greater one. */
function groupsAbove(side: ClipSide, width: number): number {
  let low = 0;
  let high = side.width.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (side.width[middle] > width) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Clipped tokens at these widths. */
export function clippedTokensAt(profile: ClipProfile, low: number, high: number): number {
  const of = (side: ClipSide, width: number) => {
    const groups = groupsAbove(side, width);
    return groups > 0 ? side.tokens[groups - 1] : 0;
  };
  return profile.always.tokens + of(profile.low, low) + of(profile.high, high);
}

/** Share of all tokens, or of the gradient, that is clipped at these widths. */
export function clippedShareAt(profile: ClipProfile, low: number, high: number, quantity: MatchQuantity): number {
  if (quantity === 'clippedTokens') return clippedTokensAt(profile, low, high) / Math.max(1, profile.count);
  const of = (side: ClipSide, width: number) => {
    const groups = groupsAbove(side, width);
    return groups > 0 ? side.weight[groups - 1] : 0;
  };
  return profile.weight > 0 ? (profile.always.weight + of(profile.low, low) + of(profile.high, high)) / profile.weight : 0;
}
