import { describe, expect, it } from 'vitest';
import { explainedVariance, mean, pearson, spearman, variance } from '../../src/core/statistics';
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
