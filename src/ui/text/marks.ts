import type { RunConfig } from '../../config/runConfig';
import { judge, segmentSpans, type Mark } from '../../lens/marks';
import type { BatchRecord, CompletionRecord } from '../../worker/protocol';
import { objectiveAt } from '../charts/looks';

/** The lens's verdicts (lens/marks.ts), gathered as the text views show them. */

export { judge, segmentSpans, type Mark, type Verdict } from '../../lens/marks';

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

/** The rows of a batch at token, subsentence and sequence level, by the objective in use and its neighbours at the other levels. */
export function markRows(batch: BatchRecord, rows: readonly CompletionRecord[], config: RunConfig): RowMarks[] {
  // Where no subsentence objective trains, the bracket is judged by the plain width, as the ruler's chart counts it (LPO's rule).
  const owner = (level: 'token' | 'segment' | 'sequence') => {
    const usual = objectiveAt(level, config.objective);
    return usual === 'sspo' && config.objective !== 'sspo' ? 'lpo' : usual;
  };
  const at = (level: 'token' | 'segment' | 'sequence') => judge(owner(level), rows, config, batch.meanEntropy);
  const tokens = at('token');
  const segments = at('segment');
  const sequences = at('sequence');
  return rows.map((row, i) => ({
    tokens: tokens[i] as Mark[],
    segments: segmentSpans(row.segments).map(({ start, end }) => ({ ...(segments[i]?.[start] as Mark), start, end })),
    sequence: sequences[i]?.[0] as Mark,
  }));
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
