import { describe, expect, it } from 'vitest';
import { CalibrationWindow } from '../../src/trainer/calibration';
import { binMarks, placeX, placeY, type Calibration } from '../../src/ui/critic/calibrationMarks';
import { axisY, curvePath, lossAxis, VARIANCE_AXIS } from '../../src/ui/critic/curves';
import { PLACES, progressGap, valueAt, valueProgress } from '../../src/ui/critic/progress';
import { clippedWords, correlationWords, countedWords, gapWords, leavesRange, offWords, strengthWords } from '../../src/ui/critic/words';
import { fakeBatch } from '../visual/fakeData';

const BOX = { left: 20, top: 6, width: 200, height: 100 };

const calibration = (values: number[], rewards: number[]): Calibration => {
  const window = new CalibrationWindow();
  window.add(values, rewards);
  return window.report();
};

describe('the calibration plot', () => {
  const report = calibration([0.25, 0.25, 0.25, 0.25, 0.85], [1, 0, 0, 0, 1]);

  it('puts a dot at mean V and success rate, with the Wilson interval round it', () => {
    const [low, high] = binMarks(report, BOX, 20);
    expect([low?.x, low?.y]).toEqual([70, 81]);
    // 1 of 4: .0456 to .6994.
    expect(low?.interval.low).toBeCloseTo(0.0456, 4);
    expect(low?.interval.high).toBeCloseTo(0.6994, 4);
    expect(low?.yLow).toBeCloseTo(placeY(low?.interval.low ?? NaN, BOX), 12);
    expect(low?.yHigh).toBeLessThan(low?.y ?? NaN);
    expect([high?.x, high?.y, high?.interval.high]).toEqual([190, 6, 1]);
  });

  it('sizes dot and bar by the count', () => {
    const [low, high] = binMarks(report, BOX, 20);
    expect([low?.bar, high?.bar.height]).toEqual([{ x: 60, width: expect.closeTo(20, 9) as number, height: 20 }, 5]);
    expect(low?.radius).toBe(5);
    // Areas beyond the smallest dot's go with the count.
    expect(((high?.radius ?? 0) ** 2 - 1.5 ** 2) / (5 ** 2 - 1.5 ** 2)).toBeCloseTo(1 / 4, 12);
  });

  it('holds values outside 0 to 1 at the edge, and says so', () => {
    const outside = calibration([1.4, 1.2, 0.5, -0.3], [1, 0, 1, 0]);
    expect(binMarks(outside, BOX, 20).map((mark) => mark.x)).toEqual([20, 120, 220]);
    expect([leavesRange(outside), leavesRange(report)]).toEqual([true, false]);
    expect([placeX(-5, BOX), placeX(5, BOX)]).toEqual([20, 220]);
    expect(binMarks({ ...report, bins: [] }, BOX, 20)).toEqual([]);
  });
});

describe('V along the answer', () => {
  it('reads V between tokens on the straight line, from the first to the last', () => {
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => valueAt([0, 1, 5], share))).toEqual([0, 0.5, 1, 3, 5]);
    expect([0, 0.3, 1].map((share) => valueAt([0.4], share))).toEqual([0.4, 0.4, 0.4]);
  });

  it('averages right and wrong answers apart, each answer once however long', () => {
    const batch = fakeBatch(3, 'ppo', 2, 1);
    const [a, b] = batch.completions;
    const given = { ...batch, completions: [
      { ...a!, reward: 1, values: Float32Array.of(0.5, 0.75, 1) },
      { ...a!, reward: 1, values: Float32Array.of(0.25, 0.5) },
      { ...b!, reward: 0, values: Float32Array.of(0.5, 0.5, 0.5, 0.25) },
      { ...b!, reward: 0, values: null },
    ] };
    const progress = valueProgress([given, given]);
    expect([progress?.iterations, progress?.right.answers, progress?.wrong.answers]).toEqual([2, 4, 2]);
    expect(progress?.right.means[0]).toBeCloseTo(0.375, 12);
    expect(progress?.right.means[PLACES / 2]).toBeCloseTo((0.75 + 0.375) / 2, 12);
    expect(progress?.right.means[PLACES]).toBeCloseTo(0.75, 12);
    expect(progress?.wrong.means).toHaveLength(PLACES + 1);
    expect(progress?.wrong.means[PLACES]).toBeCloseTo(0.25, 12);
    // Four values .5, .25, .5, .25: sample sd .1443, over sqrt 4, times 1.96.
    expect(progress?.right.margins[0]).toBeCloseTo(1.96 * Math.sqrt(0.0625 / 3 / 4), 12);
    expect(progress && progressGap(progress)).toEqual({ first: expect.closeTo(-0.125, 12) as number, last: expect.closeTo(0.5, 12) as number });
    expect(progress && gapWords(progress)).toBe('Right less wrong: \u2212.13 before the first token, +.50 before the last.');
  });

  it('looks at the newest batches that hold values only, and is nothing without any', () => {
    const batches = Array.from({ length: 12 }, (_, i) => ({ ...fakeBatch(i, i === 11 ? 'sppo' : 'ppo', 4, 1), step: i }));
    expect(valueProgress(batches)?.iterations).toBe(10);
    expect(valueProgress(batches, 3)).toEqual(valueProgress(batches.slice(8, 11)));
    expect(valueProgress(batches.slice(11))).toBeNull();
    expect(valueProgress([])).toBeNull();
  });

  it('says when one side is empty', () => {
    const batch = fakeBatch(3, 'ppo', 4, 1);
    const right = valueProgress([{ ...batch, completions: batch.completions.map((row) => ({ ...row, reward: 1 })) }]);
    expect(right?.wrong).toEqual({ answers: 0, means: [], margins: [] });
    expect(right && gapWords(right)).toBe('No answer was wrong.');
  });
});

describe('the curves', () => {
  it('have an axis to the round number above them', () => {
    expect(lossAxis([[{ value: 0.13 }, { value: 0.04 }], [{ value: 0.31 }]])).toEqual({ low: 0, high: 0.5, ticks: [0, 0.5] });
    expect(lossAxis([])).toEqual({ low: 0, high: 1, ticks: [0, 1] });
  });

  it('hold explained variance at -1 and run over the whole plan', () => {
    expect([axisY(1, VARIANCE_AXIS, BOX), axisY(0, VARIANCE_AXIS, BOX), axisY(-1, VARIANCE_AXIS, BOX), axisY(-40, VARIANCE_AXIS, BOX)]).toEqual([6, 56, 106, 106]);
    expect(curvePath([[{ x: 0, value: 0 }, { x: 30, value: 1 }], [{ x: 60, value: -7 }]], 60, VARIANCE_AXIS, BOX)).toBe('M20.0 56.0L120.0 6.0M220.0 106.0h1.5');
    expect(curvePath([], 60, VARIANCE_AXIS, BOX)).toBe('');
  });
});

describe('the words of the critic', () => {
  it('count what is shown', () => {
    expect(countedWords(1640, 10)).toBe('1,640 answers, last 10 iterations');
    expect(countedWords(1, 1)).toBe('1 answer, last iteration');
  });

  it('name a correlation by its size and its sign', () => {
    expect([-0.4, 0.09, 0.2, 0.4, 0.7].map((r) => strengthWords(r, 640))).toEqual([
      'V ranks prompts the wrong way round', 'V hardly tells prompts apart', 'V tells prompts apart a little', 'V tells prompts apart', 'V tells prompts apart well',
    ]);
    const right = calibration([0.2, 0.8, 0.3, 0.7, 0.1, 0.9], [0, 1, 0, 1, 0, 1]);
    // .9 / sqrt(.58 x 1.5) = .965, and of the ranks 13.5 / sqrt(17.5 x 13.5) = .878.
    expect(correlationWords(right)).toBe('Pearson .96, Spearman .88: V tells prompts apart well.');
  });

  it('call what unrelated values would show chance, by how many answers there are', () => {
    expect([strengthWords(0.2, 64), strengthWords(-0.2, 64), strengthWords(0.2, 160), strengthWords(1, 2), strengthWords(0, 640)]).toEqual([
      'no more than chance would give', 'no more than chance would give', 'V tells prompts apart a little', 'no more than chance would give', 'no more than chance would give',
    ]);
    expect(correlationWords(calibration([0.5, 0.5], [0, 1]))).toContain('No correlation yet');
  });

  it('say what the value clip holds, and nothing without one', () => {
    const critic = { level: 'token' as const, loss: 0.1, meanValue: 0.5, correlation: null, explainedVariance: null, clippedValues: 0.031, calibration: calibration([0.5], [1]) };
    expect(clippedWords(critic)).toBe('value clip holds 3.1% of tokens');
    expect(clippedWords({ ...critic, clippedValues: 0 })).toBe('value clip holds no token');
    expect([clippedWords({ ...critic, clippedValues: null }), clippedWords(null)]).toEqual([null, null]);
  });

  it('say why there is no critic, and where it stopped', () => {
    expect(offWords('batchMean', null)).toBe('Baseline: the mean reward of the batch. No critic is trained.');
    expect(offWords('zero', 12)).toContain('last learnt in iteration 12');
  });
});
