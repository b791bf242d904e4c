import { describe, expect, it } from 'vitest';
import { histogramBars } from '../../src/ui/charts/drawFans';
import { positiveRuns } from '../../src/ui/charts/drawClipRow';
import { rewardFloor, rewardRows, stepTicks } from '../../src/ui/charts/rewardData';
import { allRatiosOne, lastRollouts, linearLimit, nothingLive, summarise } from '../../src/ui/charts/rulersData';
import { columnBoxes, updateX } from '../../src/ui/charts/rulersGeometry';
import { sparkPath } from '../../src/ui/charts/Sparklines';
import { fakeUpdates } from '../visual/fakeData';

describe('rollouts of the three rulers', () => {
  const updates = fakeUpdates(1, 4, 3);

  it('keeps the last ones whole and in order', () => {
    const rollouts = lastRollouts(updates, 2);
    expect(rollouts.map((r) => r.step)).toEqual([32, 33]);
    expect(rollouts.flatMap((r) => r.updates)).toEqual(updates.slice(6));
    expect(lastRollouts([], 5)).toEqual([]);
  });

  it('sums shares over live tokens, not over minibatches', () => {
    const rollouts = lastRollouts(updates, 2);
    const shown = updates.slice(6).map((u) => u.metrics);
    const live = shown.reduce((sum, m) => sum + m.liveTokens, 0);
    const cut = shown.reduce((sum, m) => sum + m.liveTokens * m.levels.sequence.binding.liveTokens.both, 0);
    expect(cut).toBeGreaterThan(0);
    expect(summarise(rollouts, 'sequence')?.clipFraction).toBeCloseTo(cut / live, 12);
    expect(summarise([], 'token')).toBeNull();
  });

  it('reports the largest ratio of the latest rollout where it was met', () => {
    const rollouts = lastRollouts(updates, 4);
    const latest = updates.slice(9).map((u) => u.metrics.levels.token.logRatio.max);
    const summary = summarise(rollouts, 'token');
    expect(summary?.maxLogRatio).toBe(Math.max(...latest));
    expect(latest[summary?.maxAt ?? -1]).toBe(summary?.maxLogRatio);
  });

  it('knows a batch in which no ratio has left 1', () => {
    expect(allRatiosOne(lastRollouts(fakeUpdates(1, 3, 1), 5))).toBe(true);
    expect(allRatiosOne(lastRollouts(updates, 5))).toBe(false);
    expect(allRatiosOne([])).toBe(false);
  });

  it('knows a stretch in which nothing is pushed', () => {
    const dead = updates.map((u) => ({ ...u, metrics: { ...u.metrics, liveTokens: 0 } }));
    expect(nothingLive(lastRollouts(dead, 5))).toBe(true);
    expect(nothingLive(lastRollouts([...dead.slice(0, -1), ...updates.slice(-1)], 5))).toBe(false);
    expect(nothingLive([])).toBe(false);
  });

  it('sizes the linear axis to the 98 % bands and the edges', () => {
    const limit = linearLimit(lastRollouts(updates, 5), 0.18);
    const widest = Math.max(0.18, ...updates.flatMap((u) => Object.values(u.metrics.levels).flatMap((l) => [-l.logRatio.p01, l.logRatio.p99])));
    expect(limit).toBeCloseTo(widest * 1.15, 12);
    expect(linearLimit([], 0.2)).toBeCloseTo(0.23, 12);
  });
});

describe('places in the three rulers', () => {
  it('splits the plot into equal columns that touch both ends', () => {
    for (const compact of [false, true]) {
      const boxes = columnBoxes(700, compact);
      expect(boxes[0]?.x).toBe(0);
      expect((boxes[2]?.x ?? 0) + (boxes[2]?.width ?? 0)).toBeCloseTo(700, 9);
      expect(new Set(boxes.map((b) => b.width.toFixed(6))).size).toBe(1);
      expect(boxes.every((b) => (compact ? b.histogramWidth === 0 : b.fanWidth < b.histogramX - b.x))).toBe(true);
    }
  });

  it('puts updates in their own fan, rising, and a lone one in its middle', () => {
    const box = columnBoxes(700, false)[1];
    if (!box) throw new Error('no column');
    const slot = box.fanWidth / 5;
    const xs = [0, 1, 2, 3].map((i) => updateX(box, 2, 5, i, 4));
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(xs[0]).toBeGreaterThan(box.x + 2 * slot);
    expect(xs[3]).toBeLessThan(box.x + 3 * slot);
    expect(updateX(box, 2, 5, 0, 1)).toBeCloseTo(box.x + 2.5 * slot, 9);
  });

  it('draws histogram bars by the logarithm of their count and joins bins thinner than 3 px', () => {
    const y = (x: number) => 100 - 10 * Math.max(-5, Math.min(5, x));
    const bars = histogramBars([0, 400, 2, 0], [-2, 0, 1], y);
    // 400 units over 20 px and 2 over 10 px: per 3 px 60 and .6.
    expect(bars.map((b) => b.length)).toEqual([1, Math.log1p(0.6) / Math.log1p(60)]);
    expect(bars.map((b) => b.centre)).toEqual([-1, 0.5]);
    const fine = Array.from({ length: 101 }, (_, i) => (i - 50) / 100);
    const counts = new Array<number>(102).fill(1);
    const joined = histogramBars(counts, fine, y);
    expect(joined.length).toBeLessThan(10);
    expect(histogramBars([0, 0, 0], [-1, 1], y)).toEqual([]);
  });

  it('never joins a share to the lane of zeros', () => {
    const points = [0, 0.1, 0.2, 0, 0.3].map((share, x) => ({ x, share }));
    expect(positiveRuns(points).map((run) => run.map((p) => p.x))).toEqual([[1, 2], [4]]);
  });
});

describe('reward chart', () => {
  const points = [0.1, 0.2, 0.3, 0.4, 0.5, 1].map((reward, i) => ({ step: i + 1, reward }));

  it('smooths by the mean of the last five steps and joins evaluations by step', () => {
    const rows = rewardRows(points, [{ step: 0, greedy: 0.41 }, { step: 5, greedy: 0.6 }]);
    expect(rows.map((r) => r.step)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(rows[1]?.smooth).toBeCloseTo(0.1, 12);
    expect(rows[5]?.smooth).toBeCloseTo(0.3, 12);
    expect(rows[6]?.smooth).toBeCloseTo(0.48, 12);
    expect(rows[5]?.greedy).toBe(0.6);
    expect(rows[0]?.reward).toBeUndefined();
  });

  it('starts the axis at the tick below everything drawn', () => {
    expect(rewardFloor([], { passRate: 0.35, greedy: 0.41 })).toBeCloseTo(0.2, 12);
    expect(rewardFloor([{ step: 1, reward: 0.01 }], { passRate: 0.35, greedy: 0.41 })).toBe(0);
  });

  it('has at most six round ticks and always the planned end', () => {
    for (const end of [1, 7, 30, 60, 100, 120, 2000, 9999]) {
      const ticks = stepTicks(end);
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBe(end);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(new Set(ticks).size).toBe(ticks.length);
    }
  });
});

describe('sparklines', () => {
  it('breaks the line at a missing value and is empty without any', () => {
    expect(sparkPath([1, 2, null, 3], 4).match(/M/g)).toHaveLength(2);
    expect(sparkPath([null, null], 2)).toBe('');
    expect(sparkPath([], 0)).toBe('');
    expect(sparkPath([2, 2, 2], 3)).not.toContain('NaN');
  });
});
