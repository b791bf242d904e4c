import type { Objective } from '../objectives';
import { clippedShareAt, type ClipProfile } from './profile';
import type { EpsCurve, EpsMark, LengthScaling, MatchQuantity } from './types';

/** Clipped share over epsilon: both sides of the GSPO/SSPO disagreement in one picture (algorithms.md section 8). */

/** 1e-4 to 1, thirty points a decade. */
export const EPSILON_GRID: Float64Array = Float64Array.from({ length: 121 }, (_, i) => 10 ** (i / 30 - 4));

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

/** The curve of one objective with its named widths: what no setting of a width changes. */
export function bareCurve(objective: Objective, profile: ClipProfile): EpsCurve {
  return {
    objective: objective.id,
    level: profile.level,
    epsilon: EPSILON_GRID,
    tokens: EPSILON_GRID.map((e) => clippedShareAt(profile, e, e, 'clippedTokens')),
    gradient: EPSILON_GRID.map((e) => clippedShareAt(profile, e, e, 'clippedGradient')),
    marks: namedWidths(objective).map(({ kind, label, low, high }) => markAt(profile, kind, label, low, high)),
    count: profile.count,
    live: profile.live,
  };
}

/** The same with the width in force, and the one that reaches as far as the token level's. */
export function epsCurve(bare: EpsCurve, profile: ClipProfile, current: { low: number; high: number }, scaling: LengthScaling): EpsCurve {
  const equal = scaling.levels[profile.level].epsilon;
  return {
    ...bare,
    marks: [
      ...bare.marks,
      markAt(profile, 'current', 'in force', current.low, current.high),
      ...(profile.level === 'token' ? [] : [markAt(profile, 'sdEquivalent', 'as many sd as the token level', equal.low, equal.high)]),
    ],
  };
}

function markAt(profile: ClipProfile, kind: EpsMark['kind'], label: string, low: number, high: number): EpsMark {
  const share = (quantity: MatchQuantity) => clippedShareAt(profile, low, high, quantity);
  return { kind, label, low, high, epsilon: Math.sqrt(low * high), tokens: share('clippedTokens'), gradient: share('clippedGradient') };
}
