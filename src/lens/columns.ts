import { LEVELS, type Level } from '../core/levels';
import { getObjective, logRatios, OBJECTIVES, type CompactBatch } from '../objectives';
import { clipStateIndex, isCutAt } from './marks';
import type { Evaluated, LensBatch } from './prepare';
import { CLIP_STATES, type Icicle, type IcicleCell, type LensColumns, type ObjectiveColumns, type WorstToken } from './types';

/** The batch as columns, and one completion of it as an icicle: tokens below, their subsentence above, the sequence on top. */

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
  return OBJECTIVES.some((o) => o.id === inUse) && getObjective(inUse).importanceSamplingLevel === level ? inUse : usual[level];
}

/**
 * One completion at three levels. Null when the settings leave it out, or an objective was not computed.
 * A unit takes the state of its first token: tokens of a unit disagree only under advantages that differ by token.
 */
export function icicleOf(columns: LensColumns, completion: number, objectives: Readonly<Record<Level, string>>): Icicle | null {
  const row = columns.completions.indexOf(completion);
  if (row < 0 || LEVELS.some((level) => !Object.hasOwn(columns.objectives, objectives[level]))) return null;
  const first = columns.rowStart[row];
  const end = columns.rowStart[row + 1];
  const cell = (level: Level, start: number, stop: number): IcicleCell => {
    const verdict = columns.objectives[objectives[level]];
    const logRatio = verdict.logRatio[start];
    return {
      level,
      start: start - first,
      end: stop - first,
      logRatio,
      ratio: Math.exp(logRatio),
      low: verdict.low[start],
      high: verdict.high[start],
      state: CLIP_STATES[verdict.state[start]],
    };
  };
  if (end === first) return null;
  const token: IcicleCell[] = [];
  const segment: IcicleCell[] = [];
  for (let t = first; t < end; t++) token.push(cell('token', t, t + 1));
  for (let t = first; t < end; t = columns.segEnd[t]) segment.push(cell('segment', t, columns.segEnd[t]));
  return { completion, objectives: { ...objectives }, token, segment, sequence: cell('sequence', first, end) };
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
      worst.splice(at, 0, { completion: prepared.completions[i], token: t, text: row.tokens[t], logRatio, advantage: row.advantage });
      if (worst.length > limit) worst.pop();
    }
  });
  return worst;
}

/** Worst token of one completion. */
export function worstTokenOf(columns: LensColumns, completion: number): number | null {
  const row = columns.completions.indexOf(completion);
  if (row < 0) return null;
  let worst = -1;
  let size = -1;
  for (let t = columns.rowStart[row]; t < columns.rowStart[row + 1]; t++) {
    const x = Math.abs(columns.logRatio.token[t]);
    if (x > size) {
      size = x;
      worst = t - columns.rowStart[row];
    }
  }
  return worst < 0 ? null : worst;
}

/** For sorting completions: greatest ratio of its tokens, and share of its tokens that an objective clips; by row of the columns. */
export function rowSummaries(columns: LensColumns, objective: string): { completion: number; maxRatio: number; clippedShare: number }[] {
  const verdict = columns.objectives[objective] as ObjectiveColumns | undefined;
  return Array.from(columns.completions, (completion, row) => {
    const first = columns.rowStart[row];
    const end = columns.rowStart[row + 1];
    let greatest = -Infinity;
    let clipped = 0;
    for (let t = first; t < end; t++) {
      greatest = Math.max(greatest, columns.logRatio.token[t]);
      if (verdict && CLIP_STATES[verdict.state[t]].startsWith('clipped')) clipped++;
    }
    return { completion, maxRatio: Math.exp(greatest), clippedShare: clipped / Math.max(1, end - first) };
  });
}
