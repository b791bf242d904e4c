import type { Level } from '../core/levels';
import type { CompactBatch, Objective } from '../objectives';
import { evaluateTokens } from '../objectives';
import { clippedShares } from '../objectives/levelMetrics';
import { gradientWeights } from '../objectives/metrics';
import type { Hyperparameters } from '../objectives/types';
import { clippedShareAt, type ClipProfile } from './profile';
import type { EpsCurve, EpsMark, LengthScaling, MatchQuantity } from './types';

/** Clipped share over epsilon: both sides of the GSPO/SSPO disagreement in one picture (algorithms.md section 8). */

/** 1e-4 to 1, thirty points a decade. */
export const EPSILON_GRID: Float64Array = Float64Array.from({ length: 121 }, (_, i) => 10 ** (i / 30 - 4));

/** The same with ten points a decade, where every point costs an evaluation of the batch. */
const SPARSE_GRID: Float64Array = EPSILON_GRID.filter((_, i) => i % 3 === 0);

export type VariantKind = 'paper' | 'sized' | 'borrowed';

/** Names in the definitions, by what they stand for; of several for one kind the first counts. */
const KINDS: readonly { kind: VariantKind; is(label: string): boolean }[] = [
  { kind: 'paper', is: (label) => label === 'paper' },
  { kind: 'paper', is: (label) => label === 'usual' || label === 'LPO' },
  { kind: 'sized', is: (label) => label.startsWith('sized') },
  { kind: 'borrowed', is: (label) => label.startsWith('borrowed') },
];

/** The widths that an objective's definition names, at most one of each kind. */
export function namedWidths(objective: Objective): { kind: VariantKind; label: string; low: number; high: number }[] {
  const named = (name: string) => objective.hyperparameters.find((h) => h.name === name)?.named ?? {};
  const [lows, highs] = [named('clipLow'), named('clipHigh')];
  const found = new Map<VariantKind, { kind: VariantKind; label: string; low: number; high: number }>();
  for (const { kind, is } of KINDS) {
    const label = Object.keys(highs).find(is);
    if (label !== undefined && !found.has(kind)) found.set(kind, { kind, label, low: Object.hasOwn(lows, label) ? lows[label] : highs[label], high: highs[label] });
  }
  return [...found.values()];
}

/** What an objective clips, as a function of its two widths. */
export interface ClipShares {
  level: Level;
  /** Tokens, and those with advantage != 0. */
  count: number;
  live: number;
  /** Share of tokens, or of the gradient, that is clipped at these widths. */
  at(low: number, high: number, quantity: MatchQuantity): number;
  grid: Float64Array;
}

/** Read off a profile, for plain bands. */
export function profiledShares(profile: ClipProfile): ClipShares {
  return { level: profile.level, count: profile.count, live: profile.live, at: (low, high, quantity) => clippedShareAt(profile, low, high, quantity), grid: EPSILON_GRID };
}

/** By evaluation at every pair of widths, for an objective of any kind that has two (a typed one): the newest evaluation is kept. */
export function evaluatedShares(objective: Objective, compact: CompactBatch, hyper: Hyperparameters): ClipShares {
  let last: { low: number; high: number; tokens: number; gradient: number } | null = null;
  const evaluate = (low: number, high: number) => {
    const { clipped, logRatio } = evaluateTokens(objective, compact, { ...hyper, clipLow: low, clipHigh: high });
    const tokens = clipped.reduce((sum, flag) => sum + flag, 0) / Math.max(1, compact.count);
    return { low, high, tokens, gradient: clippedShares(compact, clipped, gradientWeights(objective, compact, logRatio)).gradientClipped };
  };
  return {
    level: objective.importanceSamplingLevel,
    count: compact.count,
    live: compact.advantage.reduce((n, a) => n + (a === 0 ? 0 : 1), 0),
    at: (low, high, quantity) => {
      if (last?.low !== low || last.high !== high) last = evaluate(low, high);
      return quantity === 'clippedTokens' ? last.tokens : last.gradient;
    },
    grid: SPARSE_GRID,
  };
}

/** The curve of one objective with its named widths: what no setting of a width changes. */
export function bareCurve(objective: Objective, shares: ClipShares): EpsCurve {
  const points = Array.from(shares.grid, (e) => [shares.at(e, e, 'clippedTokens'), shares.at(e, e, 'clippedGradient')] as const);
  return {
    objective: objective.id,
    level: shares.level,
    epsilon: shares.grid,
    tokens: Float64Array.from(points, ([tokens]) => tokens),
    gradient: Float64Array.from(points, ([, gradient]) => gradient),
    marks: namedWidths(objective).map(({ kind, label, low, high }) => markAt(shares, kind, label, low, high)),
    count: shares.count,
    live: shares.live,
  };
}

/** The same with the width in force, and the one that reaches as far as the token level's. */
export function epsCurve(bare: EpsCurve, shares: ClipShares, current: { low: number; high: number }, scaling: LengthScaling): EpsCurve {
  const equal = scaling.levels[shares.level].epsilon;
  return {
    ...bare,
    marks: [
      ...bare.marks,
      markAt(shares, 'current', 'in force', current.low, current.high),
      ...(shares.level === 'token' ? [] : [markAt(shares, 'sdEquivalent', 'as many sd as the token level', equal.low, equal.high)]),
    ],
  };
}

function markAt(shares: ClipShares, kind: EpsMark['kind'], label: string, low: number, high: number): EpsMark {
  return { kind, label, low, high, epsilon: Math.sqrt(low * high), tokens: shares.at(low, high, 'clippedTokens'), gradient: shares.at(low, high, 'clippedGradient') };
}
