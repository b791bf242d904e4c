import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNumber } from '../../src/ui/controls/NumberField';
import { EPS_MAX, EPS_MIN, epsToFraction, fractionToEps, stepEps } from '../../src/ui/controls/logAxis';
import { diffParts } from '../../src/ui/textDiff';
import { duration, fraction, grouped, percent, ratio, scientific, setting, signed, significant } from '../../src/ui/theme/numbers';

describe('numbers on the page', () => {
  test.each([
    [fraction(0.857), '.86'], [fraction(0), '0'], [fraction(1), '1.00'], [fraction(-0.5), '\u2212.50'], [fraction(Number.NaN), '\u2013'], [fraction(null), '\u2013'],
    [signed(0.725), '+.725'], [signed(-1.208), '\u22121.208'], [signed(0), '0'],
    [ratio(0.985), '0.985'], [ratio(1.09, 3), '1.09'], [ratio(4312), '4,300'], [ratio(12.34), '12.3'],
    [percent(0.021), '2.1%'], [percent(0.4), '40%'], [percent(0.00034), '.034%'], [percent(0), '0'], [percent(1), '100%'], [percent(0.0999), '10%'],
    [significant(0.00034), '3.4e\u22124'], [significant(50300, 3), '50,300'], [significant(-0.045), '\u2212.045'], [significant(0.0996), '.10'],
    [scientific(2.1e-6), '2.1e\u22126'], [scientific(3e-4), '3e\u22124'],
    [setting(3e-4), '3e\u22124'], [setting(0.2), '.2'], [setting(0.05), '.05'], [setting(16), '16'], [setting(1.05), '1.05'], [setting(-0.25), '\u2212.25'], [setting(0), '0'], [setting(4294967295), '4294967295'],
    [grouped(61680), '61,680'], [grouped(999), '999'], [grouped(1234567), '1,234,567'],
    [duration(61.4), '61 ms'], [duration(1234), '1.2 s'], [duration(45_000), '45 s'],
  ])('%s is %s', (written, wanted) => expect(written).toBe(wanted));

  test('what a control shows is what typing it gives', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (value) => {
        const shown = Number(value.toPrecision(5));
        expect(parseNumber(setting(shown))).toBeCloseTo(shown, 12);
      }),
      { seed: 3, numRuns: 300 },
    );
    for (const text of ['', 'abc', '1e', '20%', '1 2', '--3', 'Infinity', '0x10']) expect(parseNumber(text)).toBeNaN();
    expect([parseNumber('.2'), parseNumber('3e-4'), parseNumber('\u2212.5'), parseNumber('1,000')]).toEqual([0.2, 3e-4, -0.5, 1000]);
  });
});

describe('the axis of the clip widths', () => {
  test('goes there and back, within its ends', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (at) => {
        const eps = fractionToEps(at);
        expect(eps).toBeGreaterThanOrEqual(EPS_MIN);
        expect(eps).toBeLessThanOrEqual(EPS_MAX);
        // Two significant digits: at most 5 % off.
        expect(Math.abs(epsToFraction(eps) - at)).toBeLessThan(Math.log(1.051) / Math.log(1e4));
      }),
      { seed: 5, numRuns: 300 },
    );
    expect(epsToFraction(0)).toBe(0);
    expect(epsToFraction(5)).toBe(1);
  });

  test('a key always moves it until the end is reached', () => {
    let eps = EPS_MIN;
    let presses = 0;
    while (eps < EPS_MAX && presses < 200) {
      const next = stepEps(eps, 1);
      expect(next).toBeGreaterThan(eps);
      eps = next;
      presses++;
    }
    expect(eps).toBe(EPS_MAX);
    while (eps > EPS_MIN && presses < 400) {
      const next = stepEps(eps, -1);
      expect(next).toBeLessThan(eps);
      eps = next;
      presses++;
    }
    expect(eps).toBe(EPS_MIN);
    expect(stepEps(EPS_MAX, 1)).toBe(EPS_MAX);
  });
});

describe('diffParts', () => {
  test('marks the carry that was learnt', () => {
    const parts = diffParts('u8+3=11.t2+1=3.31;', 'u8+3=11.t2+1+1=4.41;');
    expect(parts.filter((part) => part.added).map((part) => part.text)).toEqual(['+1', '4', '4']);
  });

  test('writes the whole new text and marks nothing where nothing changed', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '1', '+'), { maxLength: 30 }).map((all) => all.join(''));
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        const parts = diffParts(before, after);
        expect(parts.map((part) => part.text).join('')).toBe(after);
        const kept = parts.filter((part) => !part.added).map((part) => part.text).join('');
        let at = 0;
        for (const char of before) if (char === kept[at]) at++;
        expect(at).toBe(kept.length);
        expect(diffParts(after, after).some((part) => part.added)).toBe(false);
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});
