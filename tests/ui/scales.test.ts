import { describe, expect, it } from 'vitest';
import { LINEAR_WITHIN, linearScale, niceStep, SHARE_FLOOR, shareHeight, SIGNED_LOG_SCALE, signedLog } from '../../src/ui/charts/scales';

describe('signed log scale of log ratio', () => {
  it('is odd, bounded by +-1 at +-10 nats, and clamps beyond', () => {
    for (const x of [1e-5, 0.003, 0.01, 0.2, 1, 9]) expect(signedLog(-x)).toBe(-signedLog(x));
    expect(signedLog(0)).toBe(0);
    expect(signedLog(10)).toBeCloseTo(1, 12);
    expect(signedLog(500)).toBeCloseTo(1, 12);
    expect(signedLog(NaN)).toBe(0);
  });

  it('is linear inside +-.01 and gives every decade outside the same room', () => {
    expect(signedLog(0.004)).toBeCloseTo(2 * signedLog(0.002), 12);
    expect(signedLog(LINEAR_WITHIN)).toBeCloseTo(5 * signedLog(0.002), 12);
    const decade = signedLog(0.1) - signedLog(0.01);
    expect(signedLog(1) - signedLog(0.1)).toBeCloseTo(decade, 12);
    expect(signedLog(10) - signedLog(1)).toBeCloseTo(decade, 12);
  });

  it('is continuous at the seam and rises everywhere', () => {
    expect(signedLog(LINEAR_WITHIN * 1.0001) - signedLog(LINEAR_WITHIN)).toBeLessThan(1e-4);
    let last = -2;
    for (let x = -11; x <= 11; x += 0.007) {
      const here = signedLog(x);
      expect(here).toBeGreaterThanOrEqual(last);
      last = here;
    }
    expect(SIGNED_LOG_SCALE.ticks).toEqual([...SIGNED_LOG_SCALE.ticks].sort((a, b) => b - a));
  });
});

describe('linear scale', () => {
  it('has falling round ticks within its limit, 0 among them, and clamps', () => {
    for (const limit of [0.013, 0.2, 1.7, 10]) {
      const scale = linearScale(limit);
      expect(scale.ticks).toContain(0);
      expect(scale.ticks.length).toBeGreaterThanOrEqual(3);
      expect(scale.ticks.length).toBeLessThanOrEqual(9);
      for (const tick of scale.ticks) expect(Math.abs(tick)).toBeLessThanOrEqual(limit * (1 + 1e-9));
      expect(scale.place(limit / 2)).toBeCloseTo(0.5, 12);
      expect(scale.place(-9 * limit)).toBe(-1);
    }
  });

  it('rounds steps up to 1, 2 or 5 times a power of ten', () => {
    expect([0.3, 0.07, 4, 1, 0.011].map(niceStep)).toEqual([0.5, 0.1, 5, 1, 0.02]);
    expect(niceStep(0)).toBe(1);
  });
});

describe('log axis of shares', () => {
  it('spans .1 % to 100 % evenly by decade; zero has no place on it', () => {
    expect(shareHeight(1)).toBe(1);
    expect(shareHeight(SHARE_FLOOR)).toBeCloseTo(0, 12);
    expect(shareHeight(0.1)).toBeCloseTo(2 / 3, 12);
    expect(shareHeight(0.01)).toBeCloseTo(1 / 3, 12);
    expect(shareHeight(1e-6)).toBeCloseTo(0, 12);
    expect(shareHeight(0)).toBeNull();
    expect(shareHeight(NaN)).toBeNull();
  });
});
