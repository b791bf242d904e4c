import { describe, expect, test } from 'vitest';
import { cellFlops, forwardFlops, matrixWeights, parameterCount, trainFlops } from '../../bench/lib/arithmetic';
import { byKernel } from '../../bench/lib/profile';
import { agreement, median, spread } from '../../bench/lib/statistics';
import { cellId, cellsOf, decodeNoise, GPT, matmulError, matrices, repeatsOf, trainTokens } from '../../bench/lib/work';
import { uniformAt } from '../../src/core/rng';
import { matmulForwardCpu } from '../../src/kernels/matmul/matmul.cpu';

describe('statistics', () => {
  test('median of odd, even and unsorted lists; nothing gives NaN', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(median([])).toBeNaN();
  });

  test('spread is the range over the smallest', () => {
    expect(spread([2, 3, 2.5])).toBeCloseTo(0.5, 12);
    expect(spread([5])).toBe(0);
    expect(spread([])).toBeNaN();
  });

  test('agreement counts equal places and needs equal lengths', () => {
    expect(agreement([1, 2, 3, 4], [1, 2, 0, 4])).toBe(0.75);
    expect(agreement([1, 2], [1, 2, 3])).toBe(0);
    expect(agreement([], [])).toBe(0);
  });
});

describe('arithmetic', () => {
  test('weights and parameters of the compared model', () => {
    expect(matrixWeights(GPT)).toBe(4 * 12 * 64 * 64 + 64 * 64);
    expect(parameterCount(GPT)).toBe(4 * 12 * 64 * 64 + 3 * 64 * 64 + 9 * 64);
  });

  test('training is three forward passes, and attention counts', () => {
    expect(trainFlops(GPT, 10, 7)).toBe(3 * forwardFlops(GPT, 10, 7));
    expect(forwardFlops(GPT, 1, 1) - forwardFlops(GPT, 1, 0)).toBe(4 * 4 * 64);
    expect(cellFlops({ kind: 'matmul', n: 128 })).toBe(2 * 128 ** 3);
  });

  test('an iteration counts what its answers asked for', () => {
    const run = { ms: 1, counts: { positions: 100, meanRow: 20, epochs: 2 } };
    const one = cellFlops({ kind: 'iteration', model: 'small' }, { ms: 1, counts: { ...run.counts, epochs: 1 } });
    expect(cellFlops({ kind: 'iteration', model: 'small' }, run) / one).toBeCloseTo(7 / 4, 12);
  });
});

describe('the profile', () => {
  test('sums the least of each dispatch, by kernel, the dearest first', () => {
    const runs = [
      [{ kernel: 'a', ms: 1 }, { kernel: 'b', ms: 9 }, { kernel: 'a', ms: 5 }],
      [{ kernel: 'a', ms: 3 }, { kernel: 'b', ms: 7 }, { kernel: 'a', ms: 2 }],
    ];
    expect(byKernel(runs)).toEqual([{ kernel: 'b', dispatches: 1, ms: 7 }, { kernel: 'a', dispatches: 2, ms: 3 }]);
    expect(() => byKernel([runs[0], runs[1].slice(1)])).toThrow('different dispatches');
  });
});

describe('the work', () => {
  test('every cell has a name of its own', () => {
    for (const quick of [true, false]) {
      const names = cellsOf(quick).map(cellId);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('a product is accepted when right, and not when an entry is wrong, missing or NaN', () => {
    const n = 16;
    const [a, b] = matrices(n);
    const y = matmulForwardCpu(a, b, n, n);
    expect(matmulError(n, a, b, y)).toBeLessThan(1e-12);
    expect(matmulError(n, a, b, y.map((v) => v + 1))).toBeGreaterThan(0.1);
    expect(matmulError(n, a, b, y.map(() => NaN))).toBeNaN();
    expect(matmulError(n, a, b, y.subarray(1))).toBeNaN();
  });

  test('targets are the inputs, one later; the same on every call', () => {
    const { inputs, targets } = trainTokens(GPT, 3);
    for (let r = 0; r < 3; r++) expect([...targets.subarray(r * 64, r * 64 + 63)]).toEqual([...inputs.subarray(r * 64 + 1, (r + 1) * 64)]);
    expect(trainTokens(GPT, 3)).toEqual({ inputs, targets });
  });

  test('the noise is that of our sampling kernel: keyed by row and by the position of the drawn token', () => {
    expect(decodeNoise(4, 5)[2][3]).toBe(uniformAt(5, 1, 3, 3));
  });

  test('small products are repeated within one timing', () => {
    expect(repeatsOf(128)).toBe(20);
    expect(repeatsOf(512)).toBe(2);
    expect(repeatsOf(1024)).toBe(1);
  });
});
