import { UserError } from '../core/errors';
import { compactBatch, type CompactBatch, type Objective, type ObjectiveBatch, type TokenResults } from '../objectives';
import type { Hyperparameters, LossAggMode } from '../objectives/types';
import { ownAdvantage, storedAdvantages } from './advantage';
import { segmentsOf } from './segmentRule';
import type { CompletionRecord, LensSettings, LensSource } from './types';

/** A stored batch as the objectives take it, cut by the settings. */
export interface LensBatch {
  source: LensSource;
  /** Indices into record.completions, and those completions. */
  completions: Uint32Array;
  rows: readonly CompletionRecord[];
  /** Advantages as stored; compactFor puts in what an objective would use. */
  batch: ObjectiveBatch;
  hasRef: boolean;
}

/** One objective on a lens batch. */
export interface Evaluated {
  objective: Objective;
  compact: CompactBatch;
  results: TokenResults;
  hyper: Hyperparameters;
  mode: LossAggMode;
}

/** Chooses and cuts the rows that the settings ask for. Throws UserError when none are left. */
export function lensBatch(source: LensSource, settings: LensSettings): LensBatch {
  const { record } = source;
  const chosen = record.completions.flatMap((row, i) => (settings.minibatch === null || row.minibatch === settings.minibatch ? [i] : []));
  if (chosen.length === 0) {
    throw new UserError(
      settings.minibatch === null ? 'This batch holds no answers.' : `No answer of this batch was last trained on by update ${settings.minibatch}.`,
      settings.minibatch === null ? 'Choose another batch.' : 'Choose another update, or all of them.',
    );
  }
  const segments = segmentsOf(source, settings);
  return prepareRows(source, chosen, chosen.map((i) => segments[i]));
}

/** Rows of a record with given cuts. */
export function prepareRows(source: LensSource, chosen: readonly number[], segments: Uint32Array[]): LensBatch {
  const { record, maxTokens } = source;
  const rows = chosen.map((i) => record.completions[i]);
  const refs = rows.map((row) => row.refLogp).filter((ref) => ref !== null);
  const hasRef = rows.length > 0 && refs.length === rows.length;
  const batch: ObjectiveBatch = {
    oldLogp: rows.map((row) => row.oldLogp),
    newLogp: rows.map((row) => row.newLogp),
    mask: rows.map((row) => new Uint8Array(row.tokens.length).fill(1)),
    segments,
    entropy: rows.map((row) => row.entropy),
    advantages: rows.map(storedAdvantages),
    meanEntropy: record.meanEntropy,
    ...(maxTokens !== null && { maxTokens }),
    ...(hasRef && { refLogp: refs }),
  };
  return { source, completions: Uint32Array.from(chosen), rows, batch, hasRef };
}

/** Columns of the batch for an aggregation and for the advantages that an objective would use. */
export function compactFor(prepared: LensBatch, objective: Objective, mode: LossAggMode): CompactBatch {
  const { record } = prepared.source;
  const compact = compactBatch(prepared.batch, mode);
  prepared.rows.forEach((row, i) => {
    const own = ownAdvantage(objective.id, row, record);
    if (own !== null) compact.advantage.fill(own, compact.rowStart[i], compact.rowStart[i + 1]);
  });
  return compact;
}
