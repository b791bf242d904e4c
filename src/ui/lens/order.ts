import { useMemo } from 'react';
import type { LensAnswer, LensSource } from '../../lens/types';
import { CLIP_STATES } from '../../lens/types';
import { useLens } from './context';
import type { RewardFilter, SortBy } from './lensModel';
import type { Level } from '../../core/levels';

/** What the lists say of one answer. Shares are of its tokens, by the objective of each level. */
export interface RowSummary {
  completion: number;
  maxRatio: number;
  clipped: Record<Level, number>;
  /** Share of |coefficient without clip| that the clips took, about: |A| r over clipped tokens, token level. */
  clippedGradient: number;
}

const LEVELS: readonly Level[] = ['token', 'segment', 'sequence'];
const isClippedIndex = CLIP_STATES.map((state) => state === 'clippedLow' || state === 'clippedHigh');

/** One line per answer from the columns of the whole batch. */
export function summarise(columns: NonNullable<LensAnswer['columns']>, source: LensSource, leaders: Record<Level, string>): RowSummary[] {
  const out: RowSummary[] = [];
  for (let r = 0; r < columns.completions.length; r++) {
    const first = columns.rowStart[r] as number;
    const end = columns.rowStart[r + 1] as number;
    const completion = columns.completions[r] as number;
    const row = source.record.completions[completion];
    const length = Math.max(1, end - first);
    const clipped: Record<Level, number> = { token: 0, segment: 0, sequence: 0 };
    let most = -Infinity;
    let weight = 0;
    let taken = 0;
    for (let t = first; t < end; t++) {
      most = Math.max(most, columns.logRatio.token[t] as number);
      for (const level of LEVELS) if (isClippedIndex[columns.objectives[leaders[level]]?.state[t] ?? 0]) clipped[level] += 1 / length;
      const push = Math.abs(row?.advantages?.[t - first] ?? row?.advantage ?? 0) * Math.min(5, Math.exp(columns.logRatio.token[t] as number)) * -Math.expm1(Math.min(0, row?.newLogp[t - first] ?? 0));
      weight += push;
      if (isClippedIndex[columns.objectives[leaders.token]?.state[t] ?? 0]) taken += push;
    }
    out.push({ completion, maxRatio: Math.exp(Math.min(20, most)), clipped, clippedGradient: weight > 0 ? taken : 0 });
  }
  return out;
}

/** Answers by the chosen order, the reward filter and the text searched for. */
export function arrange(summaries: readonly RowSummary[], source: LensSource, by: SortBy, filter: RewardFilter, search: string): RowSummary[] {
  const wanted = search.trim();
  const kept = summaries.filter(({ completion }) => {
    const row = source.record.completions[completion];
    if (!row) return false;
    if (filter !== 'all' && (row.reward > 0) !== (filter === 'right')) return false;
    return wanted === '' || row.tokens.join('').includes(wanted) || (source.record.prompts[row.group] ?? '').includes(wanted);
  });
  const key: Record<SortBy, (row: RowSummary) => number> = {
    batch: (row) => -row.completion,
    maxRatio: (row) => row.maxRatio,
    clippedTokens: (row) => row.clipped.token + row.clipped.segment + row.clipped.sequence,
    clippedGradient: (row) => row.clippedGradient,
  };
  return [...kept].sort((a, b) => key[by](b) - key[by](a) || a.completion - b.completion);
}

const NONE: readonly RowSummary[] = [];

/** Every answer's summary; renewed with each answer of the worker. */
export function useSummaries(): readonly RowSummary[] {
  const source = useLens((state) => state.frozen?.source ?? null);
  const columns = useLens((state) => state.answer?.columns ?? null);
  const leaders = useLens((state) => state.leaders);
  return useMemo(() => (source && columns ? summarise(columns, source, leaders) : NONE), [source, columns, leaders]);
}

/** Indices into record.completions in the order in which the stepper goes through them. */
export function useOrder(): number[] {
  const source = useLens((state) => state.frozen?.source ?? null);
  const sortBy = useLens((state) => state.sortBy);
  const summaries = useSummaries();
  return useMemo(() => (source ? (summaries.length > 0 ? arrange(summaries, source, sortBy, 'all', '').map(({ completion }) => completion) : source.record.completions.map((_, i) => i)) : []), [source, summaries, sortBy]);
}
