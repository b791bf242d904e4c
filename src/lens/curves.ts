import type { Objective } from '../objectives';
import { clippedShareAt, type ClipProfile } from './profile';
import type { EpsCurve, EpsMark, LengthScaling } from './types';

/** Clipped share over epsilon: both sides of the GSPO/SSPO disagreement in one picture (algorithms.md section 8). */

/** 1e-4 to 1, thirty points a decade. */
export const EPSILON_GRID: Float64Array = Float64Array.from({ length: 121 }, (_, i) => 10 ** (i / 30 - 4));

export type VariantKind = 'paper' | 'sized' | 'borrowed';

/** The widths that an objective's definition names, by what they stand for. */
export function namedWidths(objective: Objective): { kind: VariantKind; label: string; low: number; high: number }[] {
  const spec = (name: string) => objective.hyperparameters.find((h) => h.name === name)?.named ?? {};
  const [lows, highs] = [spec('clipLow'), spec('clipHigh')];
  return Object.keys(highs).flatMap((label) => {
    const kind = kindOf(label);
    return kind ? [{ kind, label, low: lows[label] ?? highs[label], high: highs[label] }] : [];
  });
}

/** `usual` and the name of a paper's own method stand for the paper. */
function kindOf(label: string): VariantKind | null {
  if (label === 'paper' || label === 'usual' || label === 'LPO') return 'paper';
  if (label.startsWith('sized')) return 'sized';
  return label.startsWith('borrowed') ? 'borrowed' : null;
}

/** The curve of one objective, with its named widths, the one in force and the one that reaches as far as the token level's. */
export function epsCurve(objective: Objective, profile: ClipProfile, current: { low: number; high: number }, scaling: LengthScaling | null): EpsCurve {
  const share = (low: number, high: number) => ({
    tokens: clippedShareAt(profile, low, high, 'clippedTokens'),
    gradient: clippedShareAt(profile, low, high, 'clippedGradient'),
  });
  const mark = (kind: EpsMark['kind'], label: string, low: number, high: number): EpsMark => ({ kind, label, low, high, epsilon: Math.sqrt(low * high), ...share(low, high) });
  const marks = namedWidths(objective).map(({ kind, label, low, high }) => mark(kind, label, low, high));
  marks.push(mark('current', 'in force', current.low, current.high));
  const equal = scaling?.levels[profile.level].epsilon;
  if (equal && profile.level !== 'token') marks.push(mark('sdEquivalent', 'as many sd as the token level', equal.low, equal.high));
  return {
    objective: objective.id,
    level: profile.level,
    epsilon: EPSILON_GRID,
    tokens: EPSILON_GRID.map((e) => clippedShareAt(profile, e, e, 'clippedTokens')),
    gradient: EPSILON_GRID.map((e) => clippedShareAt(profile, e, e, 'clippedGradient')),
    marks,
    count: profile.count,
    live: profile.live,
  };
}
