import { hyperparametersOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import { evaluateCompact, getObjective } from '../../objectives';
import type { BatchRecord, CompletionRecord } from '../../worker/protocol';
import { objectiveAt } from '../charts/looks';

/**
 * What each clip would say about a stored batch: the objectives' own f64 evaluation, turned into marks for the text.
 * A mark never depends on how losses are aggregated, so any group of rows may be judged by itself.
 */

/** Inside the band; outside it but with its gradient kept; or with its gradient cut to zero. */
export type Verdict = 'inside' | 'kept' | 'clipped';

/** One unit (token, subsentence or sequence) under one objective. */
export interface Mark {
  /** Nats, clamped as the loss uses it. */
  logRatio: number;
  ratio: number;
  /** The band: ratios, not widths. `low` is at or below 0 where nothing bounds it. */
  low: number;
  high: number;
  verdict: Verdict;
  /** On which side of the band the ratio lies; null inside. */
  side: 'low' | 'high' | null;
  /** Loss of a token of the unit, aggregation and KL left out. */
  loss: number;
  /** Size of the push on log pi of a token of the unit, aggregation left out: |A| times ratio, or 0 when clipped. */
  weight: number;
}

export interface SegmentMark extends Mark {
  /** First token and the one after the last, within the row. */
  start: number;
  end: number;
}

/** One completion at all three levels, each judged by its own objective and width. */
export interface RowMarks {
  tokens: Mark[];
  segments: SegmentMark[];
  sequence: Mark;
}

/**
 * One objective's verdict on every token of some rows of a rollout batch; [rows][tokens]. Tokens of one unit agree.
 * KL is left out: it is no part of the clip.
 * @param advantages one for each row; the rows' own when left out
 */
export function judge(
  objectiveId: string,
  rows: readonly CompletionRecord[],
  config: RunConfig,
  meanEntropy: number,
  advantages: readonly number[] = rows.map((row) => row.advantage),
): Mark[][] {
  if (rows.length === 0) return [];
  const objective = getObjective(objectiveId);
  const { compact, results } = evaluateCompact(
    objective,
    {
      oldLogp: rows.map((row) => row.oldLogp),
      newLogp: rows.map((row) => row.newLogp),
      mask: rows.map((row) => new Uint8Array(row.tokens.length).fill(1)),
      segments: rows.map((row) => row.segments),
      entropy: rows.map((row) => row.entropy),
      advantages: rows.map((row, i) => new Float64Array(row.tokens.length).fill(advantages[i] as number)),
      meanEntropy,
    },
    { ...hyperparametersOf({ ...config, objective: objectiveId }), beta: 0 },
    'token-mean',
  );
  const marks: Mark[][] = rows.map(() => []);
  for (let t = 0; t < compact.count; t++) {
    const logRatio = results.logRatio[t] as number;
    const ratio = Math.exp(logRatio);
    const low = 1 - (results.low[t] as number);
    const high = 1 + (results.high[t] as number);
    const side = ratio < low ? 'low' : ratio > high ? 'high' : null;
    const aggregation = compact.weight[t] as number;
    const weight = Math.abs((results.coefficient[t] as number) / aggregation);
    // A clip that only holds the weight (CISPO) leaves a gradient: outside, but kept.
    const isClipped = results.clipped[t] === 1 && weight === 0;
    const verdict = isClipped ? 'clipped' : side ? 'kept' : 'inside';
    const loss = (results.loss[t] as number) / aggregation;
    marks[compact.rowOf[t] as number]?.push({ logRatio, ratio, low, high, verdict, side, loss, weight });
  }
  return marks;
}

/** The rows of a batch at token, subsentence and sequence level, by the objective in use and its neighbours at the other levels. */
export function markRows(batch: BatchRecord, rows: readonly CompletionRecord[], config: RunConfig): RowMarks[] {
  const at = (level: 'token' | 'segment' | 'sequence') => judge(objectiveAt(level, config.objective), rows, config, batch.meanEntropy);
  const tokens = at('token');
  const segments = at('segment');
  const sequences = at('sequence');
  return rows.map((row, i) => ({
    tokens: tokens[i] as Mark[],
    segments: segmentSpans(row.segments).map(({ start, end }) => ({ ...(segments[i]?.[start] as Mark), start, end })),
    sequence: sequences[i]?.[0] as Mark,
  }));
}

/** Runs of equal subsentence ids: first token and the one after the last. */
export function segmentSpans(segments: ArrayLike<number>): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (let t = 0; t < segments.length; t++) {
    const open = spans[spans.length - 1];
    if (open && segments[t] === segments[t - 1]) open.end = t + 1;
    else spans.push({ start: t, end: t + 1 });
  }
  return spans;
}

/** Indices into `batch.completions` of the rows to show: one group, or with single answers a page of prompts from `group` on. */
export function shownCompletions(batch: BatchRecord, group: number, pageSize: number): number[] {
  const isSingle = isSingleAnswers(batch);
  const last = isSingle ? group + pageSize - 1 : group;
  return batch.completions.flatMap((row, index) => (row.group >= group && row.group <= last ? [index] : []));
}

/** True when every prompt has one answer (SPPO): rows are then prompts, not answers to the same one. */
export function isSingleAnswers(batch: BatchRecord): boolean {
  return batch.completions.length <= batch.prompts.length;
}
