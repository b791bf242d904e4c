import { estimatorOf } from '../config/hyper';
import { getObjective } from '../objectives';
import type { BatchRecord, CompletionRecord } from './types';

/** The stored advantages of a row's tokens; [T]. */
export function storedAdvantages(row: CompletionRecord): ArrayLike<number> {
  return row.advantages ?? new Float64Array(row.tokens.length).fill(row.advantage);
}

/** SPPO's R - V(prompt), where the batch was trained by another rule and a critic has spoken; else null: the stored ones count. */
export function ownAdvantage(objectiveId: string, row: CompletionRecord, record: BatchRecord): number | null {
  const wantsValue = getObjective(objectiveId).advantageEstimator === 'sequenceLevel';
  return wantsValue && objectiveId !== record.objective && estimatorOf(record.config) !== 'sequenceLevel' && row.value !== null ? row.reward - row.value : null;
}

/** The advantages that an objective would give a row's tokens; [T]. */
export function advantagesFor(objectiveId: string, row: CompletionRecord, record: BatchRecord): ArrayLike<number> {
  const own = ownAdvantage(objectiveId, row, record);
  return own === null ? storedAdvantages(row) : new Float64Array(row.tokens.length).fill(own);
}

/** What to know about an objective's advantages on this batch, or null when they are its own. */
export function advantageNote(objectiveId: string, record: BatchRecord): string | null {
  const wanted = getObjective(objectiveId).advantageEstimator;
  if (objectiveId === record.objective || wanted === estimatorOf(record.config)) return null;
  if (wanted === 'sequenceLevel') {
    const hasValues = record.completions.every((row) => row.value !== null);
    return hasValues ? null : 'SPPO\u2019s own A needs V(prompt), which this run does not learn: the same A stands in.';
  }
  if (wanted === 'gae') return 'PPO\u2019s own A needs a value before each token, which this run does not learn: the same A stands in.';
  return 'Its own A comes from another rule than this run\u2019s: the A of the batch stands in.';
}
