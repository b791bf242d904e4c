import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ESTIMATORS, gaeAdvantages, whitenTokens } from '../../src/objectives';
import { expectClose } from '../helpers/kernelRun';

const golden = (JSON.parse(readFileSync(new URL('../fixtures/objectives.json', import.meta.url), 'utf8')) as { GAE: { lam095: number[]; lam1: number[] } }).GAE;

const row = fc.integer({ min: 1, max: 30 }).chain((T) =>
  fc.record({
    rewards: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: T, maxLength: T }),
    values: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: T, maxLength: T }),
    gamma: fc.double({ min: 0, max: 1, noNaN: true }),
    lambda: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);
const RUNS = { seed: 11, numRuns: 300 };

describe('generalised advantage estimation', () => {
  it('gives the golden numbers', () => {
    const of = (lambda: number) => gaeAdvantages([0, 0, 0, 1], [0.5, 0.6, 0.4, 0.7], 1, lambda);
    expectClose(of(0.95).advantages, golden.lam095, 1e-6);
    expectClose(of(0.95).advantages, [0.4379625, 0.35575, 0.585, 0.3], 1e-12);
    expectClose(of(1).advantages, golden.lam1, 1e-12);
    expectClose(of(1).returns, [1, 1, 1, 1], 1e-12);
  });

  it('is the sum that the paper writes, term by term', () => {
    fc.assert(
      fc.property(row, ({ rewards, values, gamma, lambda }) => {
        const T = rewards.length;
        const delta = rewards.map((r, t) => r + gamma * (values[t + 1] ?? 0) - values[t]);
        const want = rewards.map((_, t) => delta.slice(t).reduce((sum, d, l) => sum + (gamma * lambda) ** l * d, 0));
        const got = gaeAdvantages(rewards, values, gamma, lambda);
        expectClose(got.advantages, want, 1e-10);
        expectClose(got.returns, want.map((a, t) => a + values[t]), 1e-10);
        expect(got.advantages.length).toBe(T);
      }),
      RUNS,
    );
  });

  it('is reward to come minus V for lambda 1, and the change of V for lambda 0', () => {
    fc.assert(
      fc.property(row, ({ rewards, values, gamma }) => {
        const toCome = rewards.map((_, t) => rewards.slice(t).reduce((sum, r, l) => sum + gamma ** l * r, 0));
        expectClose(gaeAdvantages(rewards, values, gamma, 1).advantages, toCome.map((g, t) => g - values[t]), 1e-10);
        expectClose(gaeAdvantages(rewards, values, gamma, 0).advantages, rewards.map((r, t) => r + gamma * (values[t + 1] ?? 0) - values[t]), 1e-12);
      }),
      RUNS,
    );
  });

  it('never lets one answer see another', () => {
    const both = ESTIMATORS.gae.estimate({ rewards: [[0, 1], [0, 0, 0]], values: [[0.3, 0.4], [0.9, 0.8, 0.7]], gamma: 1, lambda: 0.95 });
    const alone = ESTIMATORS.gae.estimate({ rewards: [[0, 0, 0]], values: [[0.9, 0.8, 0.7]], gamma: 1, lambda: 0.95 });
    expect(both.advantages[1]).toEqual(alone.advantages[0]);
  });

  it('whitens over all tokens, and makes nothing of advantages that are alike', () => {
    const rows = whitenTokens([Float64Array.of(1, 2, 6), Float64Array.of(-3)]);
    const all = rows.flatMap((r) => [...r]);
    expectClose([all.reduce((a, b) => a + b, 0), all.reduce((a, b) => a + b * b, 0) / 4], [0, 1], 1e-12);
    expect(all[2]).toBeGreaterThan(all[1]);
    expect(whitenTokens([Float64Array.of(0.5, 0.5), Float64Array.of(0.5)]).flatMap((r) => [...r])).toEqual([0, 0, 0]);
  });
});
