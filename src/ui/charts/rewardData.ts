import type { RewardChartProps } from './types';

/** How many iterations the smoothed line averages, ending at the point's own. */
export const SMOOTHING_STEPS = 5;

/** One x of the reward chart; rewards are shares right, 0..1. */
export interface RewardRow {
  step: number;
  reward?: number;
  /** Mean of the last five iterations (fewer at the start). */
  smooth?: number;
  greedy?: number;
}

/** Joins training and held-out points by step, rising, with the trailing mean of the training ones. */
export function rewardRows(points: RewardChartProps['points'], evals: RewardChartProps['evals']): RewardRow[] {
  const rows = new Map<number, RewardRow>();
  points.forEach(({ step, reward }, index) => {
    const window = points.slice(Math.max(0, index - SMOOTHING_STEPS + 1), index + 1);
    const smooth = window.reduce((sum, point) => sum + point.reward, 0) / window.length;
    rows.set(step, { step, reward, smooth });
  });
  for (const { step, greedy } of evals) rows.set(step, { ...(rows.get(step) ?? { step }), greedy });
  return [...rows.values()].sort((a, b) => a.step - b.step);
}

/** Lowest tick of the reward axis: the multiple of .2 below everything drawn. */
export function rewardFloor(rows: readonly RewardRow[], base: RewardChartProps['base']): number {
  const lowest = rows.reduce((low, row) => Math.min(low, row.reward ?? 1, row.greedy ?? 1), base ? base.passRate : 0.4);
  return Math.max(0, Math.floor((lowest - 0.03) * 5) / 5);
}

/** At most five round ticks from 0 to the planned end, the end always among them. */
export function stepTicks(totalSteps: number): number[] {
  const end = Math.max(1, totalSteps);
  const rough = end / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map((lead) => lead * power).find((candidate) => candidate >= rough) ?? rough);
  const ticks: number[] = [];
  for (let tick = 0; tick <= end - step * 0.6; tick += step) ticks.push(Math.round(tick));
  return [...ticks, end];
}
