import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { broadcastAdvantages, criticLoss, deadGroupShare, groupAdvantages, rowWeights, sequenceAdvantages } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';

describe('group advantages', () => {
  it('compare within the group, not over the batch', () => {
    // An easy group (3 of 4) and a hard one (1 of 4), interleaved.
    const rewards = [1, 0, 1, 0, 1, 1, 0, 0];
    const groups = [5, 9, 5, 9, 5, 9, 5, 9];
    const sd = Math.sqrt(3 / 16) + 1e-4;
    expectClose(groupAdvantages(rewards, groups), [0.25, -0.25, 0.25, -0.25, 0.25, 0.75, -0.75, -0.25].map((d) => d / sd), 1e-12);
  });

  it('are exactly 0 in groups without spread, rounding noise included', () => {
    for (const std of ['population', 'trl', 'verl', 'none'] as const) {
      expect(Array.from(groupAdvantages([0.1 + 0.2, 0.3, 0.3, 5, 5, 5 + 5e-7], [0, 0, 0, 1, 1, 1], std))).toEqual([0, 0, 0, 0, 0, 0]);
      expect(Array.from(groupAdvantages([0.7], [0], std))).toEqual([0]);
    }
  });

  it('leave NaN rewards out of the statistics', () => {
    const got = groupAdvantages([1, NaN, 0, 0], [0, 0, 0, 0]);
    const without = groupAdvantages([1, 0, 0], [0, 0, 0]);
    expect(Array.from(got)).toEqual([without[0], 0, without[1], without[2]]);
    expect(Array.from(groupAdvantages([1, NaN], [0, 0]))).toEqual([0, 0]);
  });

  it('keep their precision far from 0 (two passes)', () => {
    expectClose(groupAdvantages([1e6 + 1, 1e6], [0, 0], 'population', 0), [1, -1], 1e-9);
  });

  it('average to 0 and scale away with any rule that divides', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 12 }), fc.constantFrom('population' as const, 'trl' as const, 'verl' as const, 'none' as const), (rewards, std) => {
        const a = groupAdvantages(rewards, rewards.map(() => 0), std);
        expectClose(a.reduce((s, v) => s + v, 0), 0, 1e-9);
        if (std === 'none') return;
        const tenfold = groupAdvantages(rewards.map((r) => 10 * r), rewards.map(() => 0), std, 0);
        expectClose(tenfold, groupAdvantages(rewards, rewards.map(() => 0), std, 0), 1e-9);
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it('refuse lists of different lengths', () => {
    expect(() => groupAdvantages([1, 0], [0])).toThrow(/2 rewards but 1/);
  });

  it('know the share of dead groups', () => {
    expect(deadGroupShare([1, 1, 0, 1, NaN, 0], [0, 0, 1, 1, 2, 2])).toBeCloseTo(2 / 3, 12);
    expect(deadGroupShare([], [])).toBeNaN();
  });
});

describe('sequence-level advantages', () => {
  const rewards = [1, 0, 1, 1];
  it('subtract the critic, the batch mean or nothing', () => {
    expectClose(sequenceAdvantages(rewards, { baseline: 'value', valueLogits: [0, 0, Math.log(3), 800] }), [0.5, -0.5, 0.25, 0], 1e-12);
    expectClose(sequenceAdvantages(rewards, { baseline: 'batchMean' }), [0.25, -0.75, 0.25, 0.25], 1e-12);
    expectClose(sequenceAdvantages(rewards, { baseline: 'zero' }), rewards, 1e-12);
  });

  it('divide by the batch sd, but never by less than .1', () => {
    const sd = Math.sqrt(3 / 16);
    expectClose(sequenceAdvantages(rewards, { baseline: 'batchMean', normalize: true }), [0.25, -0.75, 0.25, 0.25].map((a) => a / sd), 1e-12);
    expectClose(sequenceAdvantages([1, 1], { baseline: 'zero', normalize: true }), [10, 10], 1e-12);
  });

  it('give a NaN reward 0 and leave it out', () => {
    expectClose(sequenceAdvantages([1, NaN, 0], { baseline: 'batchMean' }), [0.5, 0, -0.5], 1e-12);
  });

  it('ask for the critic they subtract', () => {
    expect(() => sequenceAdvantages(rewards, { baseline: 'value' })).toThrow(/V\(prompt\)/);
  });

  it('repeat over tokens', () => {
    expect(broadcastAdvantages([2, -1], [[1, 0], [1, 1]]).map((r) => Array.from(r))).toEqual([[2, 2], [-1, -1]]);
  });
});

describe('critic loss', () => {
  it('stays finite far out, and its gradient is the derivative', () => {
    const { loss, gradient } = criticLoss([1, 0], [-800, 800]);
    expectClose([loss, ...gradient], [800, -0.5, 0.5], 1e-9);
    const at = (z: number) => criticLoss([1, 0], [z, -0.2]).loss;
    expectClose(criticLoss([1, 0], [0.4, -0.2]).gradient[0], (at(0.4 + 1e-6) - at(0.4 - 1e-6)) / 2e-6, 1e-9);
  });
});

describe('aggregation weights', () => {
  it('are those of algorithms.md section 0', () => {
    const lengths = [4, 3];
    expectClose(rowWeights(lengths, 'seq-mean-token-mean'), [1 / 8, 1 / 6], 1e-15);
    expectClose(rowWeights(lengths, 'token-mean'), [1 / 7, 1 / 7], 1e-15);
    expectClose(rowWeights(lengths, 'seq-mean-token-sum'), [1 / 2, 1 / 2], 1e-15);
    expectClose(rowWeights(lengths, 'constant', { maxTokens: 5 }), [1 / 10, 1 / 10], 1e-15);
  });

  it('never divide by 0', () => {
    for (const mode of ['seq-mean-token-mean', 'token-mean', 'seq-mean-token-sum'] as const) expect(rowWeights([0, 0], mode).every(Number.isFinite), mode).toBe(true);
  });
});
