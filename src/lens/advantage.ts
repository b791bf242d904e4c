import { getObjective } from '../objectives';
import type { BatchRecord, CompletionRecord } from './types';

/** The advantage an objective would give this row: SPPO's R - V(prompt) where a critic has spoken, else the stored one. */
export function advantageFor(objectiveId: string, row: CompletionRecord, record: BatchRecord): number {
  if (objectiveId === 'sppo' && record.objective !== 'sppo' && row.value !== null) return row.reward - row.value;
  return row.advantage;
}

/** What to know about an objective's advantages on this batch, or null when they are its own. */
export function advantageNote(objectiveId: string, record: BatchRecord): string | null {
  const wanted = getObjective(objectiveId).advantageEstimator;
  if (wanted === getObjective(record.objective).advantageEstimator) return null;
  if (wanted === 'sequenceLevel') {
    const hasValues = record.completions.every((row) => row.value !== null);
    return hasValues ? null : 'SPPO\u2019s own A needs V(prompt), which this run does not learn: the same A stands in.';
  }
  return 'Its own A comes from another rule than this run\u2019s: the A of the batch stands in.';
}
