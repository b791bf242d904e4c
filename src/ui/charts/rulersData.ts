import type { Level } from '../../core/levels';
import { LEVELS } from '../../core/levels';
import type { UpdateReport } from '../../worker/protocol';

/** The updates that reused one rollout. */
export interface Rollout {
  step: number;
  updates: UpdateReport[];
}

/** The last `count` rollouts, oldest first, each with its updates in order. */
export function lastRollouts(updates: readonly UpdateReport[], count: number): Rollout[] {
  const rollouts: Rollout[] = [];
  for (let i = updates.length - 1; i >= 0; i--) {
    const report = updates[i] as UpdateReport;
    const current = rollouts[rollouts.length - 1];
    if (current && current.step === report.step) current.updates.push(report);
    else if (rollouts.length === count) break;
    else rollouts.push({ step: report.step, updates: [report] });
  }
  rollouts.reverse();
  for (const rollout of rollouts) rollout.updates.reverse();
  return rollouts;
}

/** What a column says in words and bars. Shares are 0..1 over the rollouts shown; null without data. */
export interface LevelSummary {
  /** Of the latest minibatch, log ratio in nats. */
  sd: number;
  /** Largest ratio of the latest rollout, and which of its updates met it. */
  maxLogRatio: number;
  maxAt: number;
  /** Mean share of live tokens whose gradient the clip cuts, and of the gradient they carried. */
  clipFraction: number;
  gradientClipped: number;
}

/**
 * Words and bars of one level. Means over minibatches are weighted by each minibatch's live tokens, so that they are
 * shares of all tokens shown.
 */
export function summarise(rollouts: readonly Rollout[], level: Level): LevelSummary | null {
  const latest = rollouts[rollouts.length - 1];
  const last = latest?.updates[latest.updates.length - 1];
  if (!latest || !last) return null;
  let maxLogRatio = -Infinity;
  let maxAt = 0;
  latest.updates.forEach((report, index) => {
    const value = report.metrics.levels[level].logRatio.max;
    if (value >= maxLogRatio) {
      maxLogRatio = value;
      maxAt = index;
    }
  });
  let weight = 0;
  let clipped = 0;
  let gradient = 0;
  for (const rollout of rollouts) {
    for (const { metrics } of rollout.updates) {
      weight += metrics.liveTokens;
      clipped += metrics.liveTokens * metrics.levels[level].binding.liveTokens.both;
      gradient += metrics.liveTokens * metrics.levels[level].gradientClipped;
    }
  }
  return {
    sd: last.metrics.levels[level].logRatio.sd,
    maxLogRatio,
    maxAt,
    clipFraction: weight > 0 ? clipped / weight : 0,
    gradientClipped: weight > 0 ? gradient / weight : 0,
  };
}

/** Log ratios (nats) no larger than this are rounding: the same bound as the trainer's self-check. */
export const RATIO_NOISE = 1e-4;

/** True when no token ratio shown differs from 1 by more than rounding: the picture then says why it is flat. */
export function allRatiosOne(rollouts: readonly Rollout[]): boolean {
  return (
    rollouts.length > 0 &&
    rollouts.every((rollout) => rollout.updates.every(({ metrics }) => !(metrics.maxAbsLogRatio > RATIO_NOISE)))
  );
}

/** True when no token shown has an advantage other than 0: nothing is pushed, whatever the ratios. */
export function nothingLive(rollouts: readonly Rollout[]): boolean {
  return rollouts.length > 0 && rollouts.every((rollout) => rollout.updates.every(({ metrics }) => metrics.liveTokens === 0));
}

/**
 * Half-width (nats) of the linear axis: the widest 98 % band shown at any level, and the widest clip edge where that is
 * larger, with a little room; extremes beyond it are drawn at the edge.
 */
export function linearLimit(rollouts: readonly Rollout[], widestEdge: number): number {
  let limit = widestEdge;
  for (const rollout of rollouts) {
    for (const { metrics } of rollout.updates) {
      for (const level of LEVELS) {
        const { p01, p99 } = metrics.levels[level].logRatio;
        limit = Math.max(limit, Math.abs(p01), Math.abs(p99));
      }
    }
  }
  return Math.min(10, Math.max(0.01, limit * 1.15));
}
