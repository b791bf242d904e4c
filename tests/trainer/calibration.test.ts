import { describe, expect, it } from 'vitest';
import { CalibrationWindow } from '../../src/trainer/calibration';
import { expectClose } from '../helpers/kernelRun';

describe('the calibration of a critic', () => {
  it('counts answers by what was promised, at the edges too', () => {
    const window = new CalibrationWindow();
    window.add([0, 0.05, 0.1, 0.95, 1, 1.4, -0.2], [0, 1, 1, 1, 1, 0, 0]);
    const { iterations, answers, bins } = window.report();
    expect([iterations, answers]).toEqual([1, 7]);
    expect(bins.map(({ from, to, count, successRate }) => [from, to, count, successRate])).toEqual([[0, 0.1, 3, 1 / 3], [0.1, 0.2, 1, 1], [0.9, 1, 3, 2 / 3]]);
    expectClose(bins.map((bin) => bin.meanValue), [-0.05, 0.1, 3.35 / 3], 1e-12);
  });

  it('forgets what is ten iterations old', () => {
    const window = new CalibrationWindow();
    window.add([0.5], [1]);
    for (let i = 0; i < 9; i++) window.add([0.2, 0.8], [0, 1]);
    expect(window.report().bins.map((bin) => bin.count)).toEqual([9, 1, 9]);
    expect(window.report().pearson).toBeGreaterThan(0.9);
    window.add([0.2, 0.8], [0, 1]);
    expect(window.report()).toMatchObject({ iterations: 10, answers: 20 });
    const { pearson, spearman } = window.report();
    expectClose([pearson ?? NaN, spearman ?? NaN], [1, 1], 1e-12);
    expect(window.report().bins.map((bin) => bin.count)).toEqual([10, 10]);
  });

  it('has no correlation to tell while everything is alike', () => {
    const window = new CalibrationWindow();
    window.add([0.5, 0.5], [0, 1]);
    expect(window.report()).toMatchObject({ pearson: null, spearman: null });
  });
});
