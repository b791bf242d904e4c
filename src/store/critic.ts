import { criticOf } from '../config/critic';
import { estimatorOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import type { CriticReport } from '../worker/protocol';
import type { CriticHistory, CriticLevel } from './history';
import type { RunState } from './runStore';
import type { BoundedSeries } from './series';

/** What there is to see of the critic that the settings ask for. */
export interface CriticView {
  level: CriticLevel;
  /** Its newest report among the last iterations, and the iteration; null until there is one. */
  report: CriticReport | null;
  step: number | null;
  /** Grows in place; read it again when the run store's `version` has moved. */
  history: CriticHistory;
}

/** True when the settings know a critic at all: PPO's, or SPPO's, which a choice of baseline may have switched off. */
export function knowsCritic(config: RunConfig): boolean {
  return criticOf(config) !== null || estimatorOf(config) === 'sequenceLevel';
}

/** The critic that the settings ask for; null where they ask for none. */
export function criticView(state: Pick<RunState, 'recent' | 'history'>, config: RunConfig): CriticView | null {
  const level = criticOf(config);
  if (level === null) return null;
  const newest = state.recent.findLast((report) => report.critic?.level === level);
  return { level, report: newest?.critic ?? null, step: newest?.step ?? null, history: state.history.critic[level] };
}

/** The line through a series' extremes, cut where iterations are missing (another objective trained, or the value was undefined). */
export function linePieces(series: BoundedSeries): { x: number; value: number }[][] {
  const pieces: { x: number; value: number }[][] = [];
  let end = -Infinity;
  for (const bucket of series.buckets) {
    if (bucket.from - end > 1) pieces.push([]);
    end = bucket.to;
    const low = { x: bucket.minAt, value: bucket.min };
    const high = { x: bucket.maxAt, value: bucket.max };
    const points = low.x === high.x ? [low] : low.x < high.x ? [low, high] : [high, low];
    pieces.at(-1)?.push(...points);
  }
  return pieces;
}
