import { describe, expect, it } from 'vitest';
import { explainedVariance, mean, pearson, spearman, variance, wilsonInterval } from '../../src/core/statistics';
import { expectClose } from '../helpers/kernelRun';

describe('statistics', () => {
  it('mean and population variance', () => {
    expect([mean([1, 2, 6]), variance([1, 2, 6])]).toEqual([3, 14 / 3]);
    expect(mean([])).toBeNaN();
  });

  it('correlations worked by hand; none where a side does not vary', () => {
    expectClose([pearson([1, 2, 3], [1, 3, 2]) ?? NaN], [0.5], 1e-12);
    expectClose([pearson([0, 1], [5, -5]) ?? NaN], [-1], 1e-12);
    expect([pearson([1, 1, 1], [1, 2, 3]), spearman([1, 2, 3], [4, 4, 4])]).toEqual([null, null]);
    // Any rising curve is a perfect rank correlation; equal values share a rank.
    expectClose([spearman([1, 2, 3, 4], [1, 8, 27, 1000]) ?? NaN], [1], 1e-12);
    // Ranks 0, 1.5, 1.5, 3 against 0, 2, 1, 3.
    expectClose([spearman([1, 2, 2, 3], [10, 30, 20, 40]) ?? NaN], [4.5 / Math.sqrt(4.5 * 5)], 1e-12);
  });

  it('explained variance: all of it, none, and less than none', () => {
    expect(explainedVariance([0, 1, 0, 1], [0, 1, 0, 1])).toBe(1);
    // A constant error is bias, which the variance does not see.
    expectClose([explainedVariance([0, 1, 0, 1], [5, 6, 5, 6]) ?? NaN, explainedVariance([0, 1], [0.3, 0.3]) ?? NaN, explainedVariance([0, 1], [1, 0]) ?? NaN], [1, 0, -3], 1e-12);
    expect(explainedVariance([1, 1], [0, 1])).toBeNull();
  });
});

describe('the Wilson interval', () => {
  it('agrees with the published table (Newcombe 1998, Statistics in Medicine 17, table I, method 3)', () => {
    const table: [number, number, number, number][] = [[81, 263, 0.2553, 0.3662], [15, 148, 0.0624, 0.1605], [0, 20, 0, 0.1611], [1, 29, 0.0061, 0.1718]];
    for (const [successes, count, low, high] of table) {
      const interval = wilsonInterval(successes, count);
      expect([interval.low.toFixed(4), interval.high.toFixed(4)]).toEqual([low.toFixed(4), high.toFixed(4)]);
    }
  });

  it('is the same seen from the failures, and all of 0 to 1 without trials', () => {
    for (const [successes, count] of [[0, 1], [3, 7], [7, 7]] as const) {
      const [seen, mirrored] = [wilsonInterval(successes, count), wilsonInterval(count - successes, count)];
      expect(seen.low).toBeCloseTo(1 - mirrored.high, 14);
      expect(seen.high).toBeCloseTo(1 - mirrored.low, 14);
    }
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });
});
