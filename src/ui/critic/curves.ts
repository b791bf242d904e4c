import { niceStep } from '../charts/scales';
import type { Box } from './calibrationMarks';

/** Geometry of the critic's small curves, without any markup. */

export interface Axis {
  low: number;
  high: number;
  ticks: readonly number[];
}

/** From 0 to the round number above everything drawn. */
export function lossAxis(pieces: readonly (readonly { value: number }[])[]): Axis {
  const top = niceStep(pieces.flat().reduce((most, point) => Math.max(most, point.value), 0));
  return { low: 0, high: top, ticks: [0, top] };
}

/** Explained variance: at most 1; anything below -1 is drawn at -1. */
export const VARIANCE_AXIS: Axis = { low: -1, high: 1, ticks: [-1, 0, 1] };

/** Place of a value on the axis, CSS px from the top; held at the ends. */
export function axisY(value: number, axis: Axis, box: Box): number {
  const share = (value - axis.low) / (axis.high - axis.low);
  return box.top + box.height * (1 - Math.max(0, Math.min(1, share)));
}

/** SVG path through pieces over x = 0 to `end`; a piece of one point becomes a short dash, so that it is seen. */
export function curvePath(pieces: readonly (readonly { x: number; value: number }[])[], end: number, axis: Axis, box: Box): string {
  const x = (at: number) => (box.left + box.width * Math.min(1, at / Math.max(1, end))).toFixed(1);
  return pieces
    .map((points) => {
      const path = points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point.x)} ${axisY(point.value, axis, box).toFixed(1)}`).join('');
      return points.length === 1 ? `${path}h1.5` : path;
    })
    .join('');
}
