import type { Level } from '../core/levels';
import { getObjective, logRatios, mixtureOf, OBJECTIVES, type CompactBatch } from '../objectives';
import { clipStateIndex, isCutAt } from './marks';
import type { Evaluated, LensBatch } from './prepare';
import type { LensColumns, ObjectiveColumns, WorstToken } from './types';

/** The batch as columns. */

/** Columns of a cut batch, without any verdict. */
export function cutColumns(prepared: LensBatch, compact: CompactBatch): Omit<LensColumns, 'objectives'> {
  return {
    count: compact.count,
    completions: prepared.completions,
    rowStart: compact.rowStart,
    segStart: compact.segStart,
    segEnd: compact.segEnd,
    logRatio: logRatios(compact),
    entropyRatio: compact.entropyRatio,
  };
}

/** What an objective says of every token. */
export function verdictColumns(evaluated: Evaluated): ObjectiveColumns {
  const { compact, results } = evaluated;
  const n = compact.count;
  const low = new Float64Array(n);
  const high = new Float64Array(n);
  const state = new Uint8Array(n);
  for (let t = 0; t < n; t++) {
    low[t] = 1 - results.low[t];
    high[t] = 1 + results.high[t];
    state[t] = clipStateIndex(Math.exp(results.logRatio[t]), low[t], high[t], isCutAt(evaluated, t));
  }
  return { logRatio: results.logRatio, low, high, state, coefficient: results.coefficient };
}

/** The objective that stands for a level: the one in use at its own level, else the level's usual one. */
export function objectiveAtLevel(level: Level, inUse: string): string {
  const usual: Record<Level, string> = { token: 'grpo', segment: 'sspo', sequence: 'gspo' };
  return (OBJECTIVES.some((o) => o.id === inUse) || mixtureOf(inUse)) && getObjective(inUse).importanceSamplingLevel === level ? inUse : usual[level];
}

/** The tokens furthest from ratio 1, by |log ratio|; ties in the order of the batch. NaN never ranks. */
export function worstTokens(prepared: LensBatch, limit = 20): WorstToken[] {
  const worst: WorstToken[] = [];
  prepared.rows.forEach((row, i) => {
    for (let t = 0; t < row.tokens.length; t++) {
      const logRatio = row.newLogp[t] - row.oldLogp[t];
      const size = Math.abs(logRatio);
      if (!(worst.length < limit || size > Math.abs(worst[worst.length - 1].logRatio)) || Number.isNaN(size)) continue;
      let at = worst.length;
      while (at > 0 && Math.abs(worst[at - 1].logRatio) < size) at--;
      worst.splice(at, 0, { completion: prepared.completions[i], token: t, text: row.tokens[t], logRatio, advantage: row.advantages?.[t] ?? row.advantage });
      if (worst.length > limit) worst.pop();
    }
  });
  return worst;
}
