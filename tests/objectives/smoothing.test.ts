import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getObjective, groupAdvantages, smoothedAdvantages, withVisit, type PastRewards } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';

/** Advantages of one prompt's answers, visit by visit. */
function visits(steps: number[][]): number[][] {
  let past: PastRewards | null = null;
  return steps.map((rewards) => {
    const found = Array.from(smoothedAdvantages(rewards, rewards.map(() => 4), () => past));
    past = withVisit(past, rewards);
    return found;
  });
}

describe('smooth advantage standardisation', () => {
  it('is that of the formula: four visits, and two of unequal size, worked out in Python over whole lists of rewards', () => {
    expectClose(
      visits([[1, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]]).flat(),
      [
        1.7316509, -0.577216967, -0.577216967, -0.577216967,
        0.387218351, 0.387218351, 0.387218351, 0.387218351,
        -1.060858695, 0.896588587, 0.896588587, -1.060858695,
        -0.22043484, -0.22043484, -0.22043484, -0.22043484,
      ],
      1e-9,
    );
    expectClose(
      visits([[2, 5, 3], [1, 1, 4, 0, 9]]).flat(),
      [-1.0689592602358644, 1.3361990752948303, -0.2672398150589662, -0.6959259398589202, -0.6959259398589202, 0.31340606794904724, -1.032369942461576, 1.995626080962326],
      1e-12,
    );
  });

  it('is the group\u2019s own standardisation while a prompt is new', () => {
    const rewards = [1, 0, 0, 1, 1, 1, NaN, 2];
    const groups = [0, 0, 0, 1, 1, 1, 2, 2];
    for (const std of ['population', 'trl', 'verl', 'none'] as const) expectClose(smoothedAdvantages(rewards, groups, undefined, std), groupAdvantages(rewards, groups, std), 1e-12);
  });

  it('takes each group\u2019s own past, and leaves the others alone', () => {
    const past = withVisit(null, [1, 0]);
    const found = smoothedAdvantages([1, 1, 0, 1], [7, 7, 9, 9], (group) => (group === 7 ? past : null));
    // Pooled: mean 3/4, sd sqrt(3)/4, and half of it at the second visit.
    expectClose(found, [0.125 / (Math.sqrt(3) / 4 + 1e-4), 0.125 / (Math.sqrt(3) / 4 + 1e-4), -0.5 / 0.5001, 0.5 / 0.5001], 1e-12);
  });

  it('remembers what all answers together amount to, and never blows up rewards that are alike', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }), (steps) => {
        const past = steps.reduce<PastRewards | null>(withVisit, null);
        const all = steps.flat();
        const mean = all.reduce((a, b) => a + b, 0) / all.length;
        expectClose([past?.visits ?? 0, past?.answers ?? 0, past?.mean ?? 0, past?.squares ?? 0], [steps.length, all.length, mean, all.reduce((s, r) => s + (r - mean) ** 2, 0)], 1e-9);
      }),
      { seed: 5, numRuns: 100 },
    );
    expect(visits([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], [0.3]]).flat().every((a) => a === 0)).toBe(true);
  });

  it('is DCPO\u2019s', () => {
    expect(getObjective('dcpo').advantageEstimator).toBe('smoothed');
  });
});
