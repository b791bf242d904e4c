import { evaluateTokens, getObjective, type Objective } from '../objectives';
import { compactFor, prepareRows, type Evaluated } from './prepare';
import { segmentsOfRow } from './segmentRule';
import { hyperFor, modeFor } from './settings';
import type { CompletionRecord, LensSettings, LensSource } from './types';

/** One completion with the weights of its whole batch: enough for the inspector and for a token under the hand, without a worker. */
export interface OneRow {
  source: LensSource;
  settings: LensSettings;
  completion: number;
  row: CompletionRecord;
  segments: Uint32Array;
  /** Denominators of the batch that the settings choose. */
  totals: { totalTokens: number; totalSequences: number };
}

/** Null when the record has no such completion, or it is empty. */
export function oneRow(source: LensSource, completion: number, settings: LensSettings): OneRow | null {
  const { completions } = source.record;
  const row = completions[completion] as CompletionRecord | undefined;
  if (!row || row.tokens.length === 0) return null;
  const totals = { totalTokens: 0, totalSequences: 0 };
  for (const other of completions) {
    if (settings.minibatch !== null && other.minibatch !== settings.minibatch) continue;
    totals.totalTokens += other.tokens.length;
    if (other.tokens.length > 0) totals.totalSequences++;
  }
  return { source, settings, completion, row, segments: segmentsOfRow(source, settings, completion), totals };
}

/** An objective on that completion. `newLogp` stands in for the stored one when given; [T]. */
export function evaluateRow(one: OneRow, objectiveId: string, newLogp: ArrayLike<number> = one.row.newLogp): Evaluated {
  const { source, settings } = one;
  const objective: Objective = getObjective(objectiveId);
  const prepared = prepareRows(source, [one.completion], [one.segments]);
  Object.assign(prepared.batch, one.totals, { newLogp: [newLogp] });
  const mode = modeFor(objective, settings, source.maxTokens);
  const hyper = hyperFor(objective, source.record.config, settings, prepared.hasRef);
  const compact = compactFor(prepared, objective, mode);
  return { objective, compact, results: evaluateTokens(objective, compact, hyper), hyper, mode };
}
