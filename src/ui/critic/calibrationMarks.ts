import { wilsonInterval } from '../../core/statistics';
import type { CriticReport } from '../../worker/protocol';

/** Geometry of the calibration plot, without any markup. */

export type Calibration = CriticReport['calibration'];

/** A rectangle of the picture, CSS px from its top left. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** One range of V: its dot, its interval and its bar. Places in CSS px. */
export interface BinMark {
  x: number;
  y: number;
  radius: number;
  /** 95 % Wilson interval of the success rate: as shares, and the places of its ends. */
  interval: { low: number; high: number };
  yLow: number;
  yHigh: number;
  /** Bar of the count, standing on the histogram's floor. */
  bar: { x: number; width: number; height: number };
}

/** Radius of the dot of the fullest bin, and of an imagined empty one, CSS px. */
const LARGEST = 5;
const SMALLEST = 1.5;

/** Where V = `value` or a success rate of `value` lies; held at the edges, since PPO's V may leave 0 to 1. */
export const placeX = (value: number, box: Box): number => box.left + box.width * held(value);
export const placeY = (value: number, box: Box): number => box.top + box.height * (1 - held(value));

/** A mark for each bin: x at its mean V, y at its success rate, the dot's area and the bar's height by its count. */
export function binMarks({ bins }: Calibration, box: Box, histogramHeight: number): BinMark[] {
  const fullest = bins.reduce((most, bin) => Math.max(most, bin.count), 1);
  return bins.map(({ from, to, count, meanValue, successRate }) => {
    const interval = wilsonInterval(successRate * count, count);
    return {
      x: placeX(meanValue, box),
      y: placeY(successRate, box),
      radius: Math.sqrt(SMALLEST ** 2 + (LARGEST ** 2 - SMALLEST ** 2) * (count / fullest)),
      interval,
      yLow: placeY(interval.low, box),
      yHigh: placeY(interval.high, box),
      bar: { x: placeX(from, box), width: placeX(to, box) - placeX(from, box), height: histogramHeight * (count / fullest) },
    };
  });
}

function held(value: number): number {
  return Math.max(0, Math.min(1, value));
}
