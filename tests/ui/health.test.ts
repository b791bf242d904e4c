import { expect, test } from 'vitest';
import { clampWords } from '../../src/ui/panels/health';
import type { StepReport } from '../../src/worker/protocol';
import { fakeUpdates } from '../visual/fakeData';

/** A report whose updates clamped so many log ratios each. */
const report = (clamped: readonly number[]): StepReport => ({
  step: 1, objective: 'grpo', reward: 0.5, formatRate: 1, meanLength: 20, truncatedFraction: 0, groups: { drawn: 8, trained: 8, revisited: null }, deadGroups: 0, critic: null,
  updates: fakeUpdates(1, 1, clamped.length, 0).map((update, i) => ({ ...update, metrics: { ...update.metrics, tokens: 1200, clamped: clamped[i]! } })),
  selfCheck: { maxAbsLogRatio: 0, ok: true }, ms: { rollout: 1, verify: 1, reference: 0, update: 1, total: 3 }, tokensPerSecond: 1,
});

test('the clamp is silent while it does nothing', () => {
  expect(clampWords(report([0, 0]))).toBeNull();
});

test('and otherwise counts over the updates of the iteration, out of how many', () => {
  expect(clampWords(report([3, 0, 1020, 1]))).toBe('1,024 of 4,800 beyond ±20 nats in this step');
});
