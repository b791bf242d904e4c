import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appendBounded, appendThinned, BoundedSeries } from '../../src/store/series';

describe('BoundedSeries', () => {
  test('is exact while it is short', () => {
    const series = new BoundedSeries(8);
    [3, 1, 2].forEach((value, i) => series.push(i + 1, value));
    expect(series.outline()).toEqual([{ x: 1, value: 3 }, { x: 2, value: 1 }, { x: 3, value: 2 }]);
    expect(series.last).toBe(2);
  });

  test('keeps extremes, mean and order for any length, in bounded space', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 1, maxLength: 3000 }), fc.integer({ min: 2, max: 64 }), (values, capacity) => {
        const series = new BoundedSeries(capacity);
        values.forEach((value, i) => series.push(i, value));
        expect(series.buckets.length).toBeLessThanOrEqual(capacity);
        expect(series.buckets.reduce((n, bucket) => n + bucket.count, 0)).toBe(values.length);
        expect(series.buckets.reduce((sum, bucket) => sum + bucket.sum, 0)).toBeCloseTo(values.reduce((a, b) => a + b, 0), 6);
        const outline = series.outline();
        expect(Math.min(...outline.map((point) => point.value))).toBe(Math.min(...values));
        expect(Math.max(...outline.map((point) => point.value))).toBe(Math.max(...values));
        for (let i = 1; i < outline.length; i++) expect(outline[i]!.x).toBeGreaterThan(outline[i - 1]!.x);
        for (const point of outline) expect(values[point.x]).toBe(point.value);
        expect(series.last).toBe(values.at(-1));
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  test('costs O(1) buckets touched per point: 100,000 points fold at most log2 times', () => {
    const series = new BoundedSeries(512);
    for (let i = 0; i < 100_000; i++) series.push(i, Math.sin(i));
    expect(series.width).toBe(256);
    expect(series.buckets.length).toBeGreaterThan(255);
  });

  test('leaves out what is not finite', () => {
    const series = new BoundedSeries(8);
    series.push(0, Number.NaN);
    series.push(1, Number.POSITIVE_INFINITY);
    expect(series.buckets).toEqual([]);
    expect(series.last).toBeNull();
  });
});

test('appendBounded drops the oldest; appendThinned keeps the whole span', () => {
  let bounded: readonly number[] = [];
  let thinned: readonly number[] = [];
  for (let i = 0; i < 1000; i++) {
    bounded = appendBounded(bounded, i, 8);
    thinned = appendThinned(thinned, i, 16);
  }
  expect(bounded).toEqual([992, 993, 994, 995, 996, 997, 998, 999]);
  expect(thinned.length).toBeLessThanOrEqual(16);
  expect(thinned[0]).toBe(0);
  expect(thinned.at(-1)).toBe(999);
});
