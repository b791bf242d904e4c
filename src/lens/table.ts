import { ratioOf } from '../objectives';
import { ownMetricsOf } from '../objectives/metrics';
import type { ClipWidths } from '../objectives/types';
import { advantageNote } from './advantage';
import type { Evaluated, LensBatch } from './prepare';
import type { LensColumnSpec, LensTableRow } from './types';

/** The table "every objective on the same tokens". Its numbers are computeMetrics' own. */

/**
 * One line of the table.
 * @param unclipped the objective's coefficients without any clip, on the same columns; [n]
 * @param levelWidths bands for an objective without one
 */
export function tableRow(
  prepared: LensBatch,
  evaluated: Evaluated,
  unclipped: Float64Array,
  levelWidths: ClipWidths,
  variant: LensTableRow['variant'] = null,
): LensTableRow {
  const { objective, compact, results, hyper, mode } = evaluated;
  const { metrics, own } = ownMetricsOf(objective, compact, results, hyper, levelWidths);
  const hasWidths = 'clipLow' in hyper && 'clipHigh' in hyper;
  return {
    objective: objective.id,
    title: objective.title,
    level: objective.importanceSamplingLevel,
    widths: hasWidths ? { low: hyper.clipLow, high: hyper.clipHigh } : null,
    variant,
    clipEffect: objective.clipEffect,
    lossAggMode: mode,
    dualClip: 'dualClip' in hyper ? hyper.dualClip : 0,
    metrics,
    own,
    maxRatio: ratioOf(own.logRatio.max),
    cosine: cosine(results.coefficient, unclipped),
    note: advantageNote(objective.id, prepared.source.record),
  };
}

/** Cosine of the angle between two vectors; null when either is all zero. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  let [ab, aa, bb] = [0, 0, 0];
  for (let t = 0; t < a.length; t++) {
    ab += a[t] * b[t];
    aa += a[t] * a[t];
    bb += b[t] * b[t];
  }
  if (aa === 0 || bb === 0) return null;
  return Math.min(1, Math.max(-1, ab / Math.sqrt(aa * bb)));
}

type Side = 'low' | 'high' | 'both';
type Count = 'units' | 'tokens';

const sideWords: Record<Side, string> = { low: 'below', high: 'above', both: 'on either side' };

function share(kind: 'outside' | 'binding', count: Count, side: Side, names: { trl?(row: LensTableRow): string | null; verl?(row: LensTableRow): string | null }): LensColumnSpec {
  const unit = count === 'units' ? 'units (tokens, subsentences or sequences, each counted once)' : 'tokens (each unit weighted by its length)';
  const rule =
    kind === 'outside'
      ? side === 'both' ? 'whose ratio lies outside the band, whatever the sign of the advantage' : `whose ratio lies ${sideWords[side]} the band, whatever the sign of the advantage`
      : side === 'both' ? 'outside the band on the side where the clip takes the gradient: below with A < 0, above with A > 0, strictly'
        : `${sideWords[side]} the band with A ${side === 'low' ? '<' : '>'} 0, where the clip takes the gradient`;
  return {
    id: `${kind}.${count}.${side}`,
    title: `${kind}, ${count}${side === 'both' ? '' : `, ${side}`}`,
    definition: `Share of ${unit} ${rule}.`,
    unit: 'share',
    value: (row) => row.own[kind][count][side],
    trl: names.trl ?? (() => null),
    verl: names.verl ?? (() => null),
  };
}

const TRL_BINDING: Record<Side, string> = { low: 'clip_ratio/low_mean', high: 'clip_ratio/high_mean', both: 'clip_ratio/region_mean' };

/** TRL counts sequences when the ratio is a sequence's, tokens otherwise. */
const trlBinding = (count: Count, side: Side) => (row: LensTableRow) => {
  const counts: Count = row.level === 'sequence' ? 'units' : 'tokens';
  // At token level a unit is a token, so both columns are the same number.
  return counts === count || row.level === 'token' ? TRL_BINDING[side] : null;
};

const verlBinding = (count: Count) => (row: LensTableRow) => (count === 'tokens' || row.level === 'token' ? 'actor/pg_clipfrac' : null);
const verlOutside = (count: Count) => (row: LensTableRow) => (count === 'tokens' || row.level === 'token' ? 'actor/ppo_ratio_clipfrac (ROLL)' : null);

const plain = (id: string, title: string, unit: LensColumnSpec['unit'], definition: string, value: LensColumnSpec['value'], verl: string | null = null): LensColumnSpec => ({
  id, title, unit, definition, value, trl: () => null, verl: () => verl,
});

/** Every column: what it counts, and what TRL and verl call it (algorithms.md section 9). The names are keys of metrics.aliases, a library in brackets aside. */
export const TABLE_COLUMNS: readonly LensColumnSpec[] = [
  ...(['units', 'tokens'] as const).flatMap((count) => (['low', 'high', 'both'] as const).map((side) => share('outside', count, side, side === 'both' ? { verl: verlOutside(count) } : {}))),
  ...(['units', 'tokens'] as const).flatMap((count) =>
    (['low', 'high', 'both'] as const).map((side) => share('binding', count, side, { trl: trlBinding(count, side), ...(side === 'both' && { verl: verlBinding(count) }) })),
  ),
  plain('clippedTokens', 'tokens clipped', 'share', 'Share of tokens on which the clip acted: binding, or past the dual clip.', (row) => row.metrics.clippedTokens),
  plain(
    'gradientClipped', 'gradient clipped', 'share',
    'Share of gradient on clipped tokens; a live token weighs |A| w min(ratio, 5) (1 \u2212 \u03c0(token)), the ratio at the objective\u2019s own level.',
    (row) => row.metrics.gradientClipped,
  ),
  plain('ess', 'effective sample size', 'share', '(sum of ratios)\u00b2 over n times the sum of their squares, over units: 1 when all ratios are equal.', (row) => row.own.ess),
  plain('maxRatio', 'max ratio', 'ratio', 'Greatest ratio of a unit.', (row) => row.maxRatio),
  plain('entropyClipped', 'entropy of clipped tokens', 'nats', 'Mean entropy of the old policy at clipped tokens, nats; none when nothing is clipped.', (row) => row.metrics.entropyClipped),
  plain('entropyKept', 'entropy of kept tokens', 'nats', 'The same at the other tokens with advantage other than 0.', (row) => row.metrics.entropyKept),
  plain('cosine', 'cosine to unclipped', '', 'Cosine between the objective\u2019s coefficients (dLoss/dlog \u03c0 of every token) and those it would have without any clip; none when every coefficient is 0.', (row) => row.cosine),
  plain('deadGradient', 'no gradient', 'share', 'Share of tokens with coefficient exactly 0: clipped, or advantage 0.', (row) => row.metrics.deadGradient),
  plain('k1', 'k1', 'nats', 'Mean of \u2212log ratio over tokens: an estimate of KL(old || new).', (row) => row.metrics.k1, 'actor/ppo_kl'),
  plain('loss', 'loss', '', 'The objective\u2019s loss on this batch.', (row) => row.metrics.loss, 'actor/pg_loss'),
];

/** A column by id. */
export function tableColumn(id: string): LensColumnSpec {
  const found = TABLE_COLUMNS.find((column) => column.id === id);
  if (!found) throw new Error(`invariant: the table has no column ${id}`);
  return found;
}
