import { describe, expect, test } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { applyEvents, initialRunState, KEPT, type RunState } from '../../src/store/runStore';
import type { Bucket } from '../../src/store/series';
import { BoundedSeries } from '../../src/store/series';
import { rewardRows } from '../../src/ui/charts/rewardData';
import type { StepReport, WorkerEvent } from '../../src/worker/protocol';
import { fakeBatch, fakeUpdates } from '../visual/fakeData';

/** 100,000 iterations through the page's store: what is kept stays bounded, and an iteration late in the run costs what an early one does. */

const STEPS = 100_000;
const config = presetConfig('grpo', 'small');
const updates = fakeUpdates(1, 1, 4);
const batch = fakeBatch(1, 'grpo', 2, 2);

function stepEvent(step: number): Extract<WorkerEvent, { type: 'step' }> {
  const report: StepReport = {
    step, objective: 'grpo', reward: 0.5 + 0.4 * Math.sin(step / 50), formatRate: 1, meanLength: 20, truncatedFraction: 0, deadGroups: 0.25,
    groups: { drawn: 16, trained: 12, revisited: null },
    critic: { level: 'token', loss: 1 / step, meanValue: 0.5, correlation: null, explainedVariance: 0.3, clippedValues: 0.1, calibration: { iterations: 1, answers: 1, pearson: null, spearman: null, bins: [] } },
    updates: updates.map((update, i) => ({ ...update, update: (step - 1) * 4 + i + 1, step, gradNorm: 1 + Math.cos(step) })),
    selfCheck: { maxAbsLogRatio: 0, ok: true }, ms: { rollout: 1, verify: 0, reference: 0, update: 1, total: 2 }, tokensPerSecond: 1000,
  };
  return { type: 'step', report, batch: { ...batch, step } };
}

/** Every series of a run, by name. */
function seriesOf(value: unknown, name = ''): [string, BoundedSeries][] {
  if (value instanceof BoundedSeries) return [[name, value]];
  return Object.entries(value as object).flatMap(([key, inner]) => seriesOf(inner, name ? `${name}.${key}` : key));
}

/** Entries of every list and series that the state holds: what a repaint may have to walk over. */
function held(state: RunState): Record<string, number> {
  const lists = { recent: state.recent, batches: state.batches, evals: state.evals, answers: state.answers, marks: state.marks };
  return { ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.length])), ...Object.fromEntries(seriesOf(state.history).map(([name, series]) => [name, series.buckets.length])) };
}

describe('a run of 100,000 iterations', () => {
  // The number of buckets written in each window of the run: the work itself, counted and not timed.
  let state: RunState = initialRunState();
  const written: number[] = [];
  const sizes: Record<string, number>[] = [];
  let touched = 0;
  const watched = new WeakSet<Bucket[]>();
  /** Counts every write to a bucket list from outside the class. */
  const watch = (series: BoundedSeries): void => {
    if (watched.has(series.buckets)) return;
    const counted = new Proxy(series.buckets, {
      set(target, key, value) {
        touched++;
        return Reflect.set(target, key, value);
      },
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) touched++;
        return Reflect.get(target, key);
      },
    });
    (series as unknown as { buckets: Bucket[] }).buckets = counted;
    watched.add(counted);
  };
  for (const [, series] of seriesOf(state.history)) watch(series);
  for (let step = 1; step <= STEPS; step++) {
    const events: WorkerEvent[] = [stepEvent(step)];
    if (step % 10 === 0) events.push({ type: 'eval', report: { step, prompts: 128, greedy: 0.5 }, answers: [] });
    if (step % 1000 === 0) events.push({ type: 'config', config, step, changes: [{ field: 'epochs', from: '1', to: '2' }] });
    state = applyEvents(state, events);
    if (step % 10_000 === 0) {
      written.push(touched);
      touched = 0;
      sizes.push(held(state));
      touched = 0;
    }
  }

  test('keeps no more than it did after the first tenth', () => {
    expect(state.step).toBe(STEPS);
    const limits: Record<string, number> = { recent: KEPT.rollouts, batches: KEPT.batches, evals: KEPT.evals, answers: KEPT.answers, marks: KEPT.marks };
    for (const size of sizes) for (const [name, length] of Object.entries(size)) expect(length, name).toBeLessThanOrEqual(limits[name] ?? 512);
    expect(Object.keys(sizes[0]!).length).toBeGreaterThan(14);
  });

  test('touches as few buckets per iteration late in the run as early', () => {
    const perStep = written.map((count) => count / 10_000);
    expect(perStep[0]).toBeGreaterThan(10);
    for (const count of perStep) expect(count, perStep.join(', ')).toBeLessThanOrEqual(1.25 * perStep[0]!);
  });

  test('gives the charts a bounded number of points that still span the whole run', () => {
    const { reward } = state.history;
    const points = reward.outline().map(({ x, value }) => ({ step: x, reward: value }));
    expect(points.length).toBeLessThanOrEqual(600);
    expect(points[0]!.step).toBeLessThan(1000);
    expect(points.at(-1)!.step).toBeGreaterThan(STEPS - 1000);
    expect(rewardRows(points, state.evals).length).toBeLessThanOrEqual(600 + KEPT.evals);
    expect(state.evals[0]!.step).toBe(10);
    expect(state.evals.at(-1)!.step).toBe(STEPS);
    expect(reward.buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(STEPS);
    expect(state.history.clip.token.buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(4 * STEPS);
  });
});
