import { LEVELS } from '../../core/levels';
import type { ChartColours } from './canvas';
import { crisp, strokeLine } from './canvas';
import type { Rollout } from './rulersData';
import type { ColumnBox } from './rulersGeometry';
import { updateX } from './rulersGeometry';
import { shareHeight } from './scales';

export interface ClipRowPicture {
  width: number;
  height: number;
  columns: readonly ColumnBox[];
  rollouts: readonly Rollout[];
  fans: number;
  /** Mean share of each level, for the dotted line; null without data. */
  means: readonly (number | null)[];
}

/** Height of the lane for exact zeros under the log axis, CSS px. */
export const ZERO_LANE = 16;
/** Where in the lane zeros are drawn, CSS px from the bottom. */
export const ZERO_LIFT = 4;

/** CSS px from the top for a share 0..1; exact zeros lie on their own lane. */
export function shareY(height: number, share: number): number {
  const place = shareHeight(share);
  return place === null ? height - ZERO_LIFT : 1 + (1 - place) * (height - ZERO_LANE - 1);
}

/** Draws the clip fraction of every update at each level, on a log axis with a lane for zero. */
export function drawClipRow(context: CanvasRenderingContext2D, picture: ClipRowPicture, colours: ChartColours): void {
  const { width, height } = picture;
  context.lineWidth = 1;
  context.strokeStyle = colours.grid;
  for (const share of [1, 0.1, 0.01, 0.001]) strokeLine(context, 0, crisp(shareY(height, share)), width, crisp(shareY(height, share)));
  const floor = shareY(height, 0.001);
  LEVELS.forEach((level, index) => {
    const box = picture.columns[index] as ColumnBox;
    for (let fan = 1; fan < picture.fans; fan++) {
      const x = crisp(box.x + (fan * box.fanWidth) / picture.fans);
      context.strokeStyle = colours.line;
      strokeLine(context, x, 0, x, height);
    }
    context.fillStyle = colours.level[level];
    context.strokeStyle = colours.level[level];
    picture.rollouts.forEach((rollout, place) => {
      const fan = picture.fans - picture.rollouts.length + place;
      const points = rollout.updates.map(({ metrics }, i) => ({
        x: updateX(box, fan, picture.fans, i, rollout.updates.length),
        share: metrics.levels[level].binding.liveTokens.both,
      }));
      for (const run of positiveRuns(points)) drawRun(context, run, height, floor, colours.soft);
      for (const point of points) {
        if (point.share === 0) context.fillRect(point.x - 1.5, height - ZERO_LIFT - 0.75, 3, 1.5);
      }
    });
    const mean = picture.means[index];
    if (mean === null || mean === undefined) return;
    context.save();
    context.strokeStyle = colours.ink;
    context.setLineDash([2, 3]);
    const y = crisp(shareY(height, mean));
    strokeLine(context, box.x, y, box.x + box.fanWidth, y);
    context.restore();
  });
}

interface SharePoint {
  x: number;
  share: number;
}

/** Stretches of neighbouring points above zero: a line never joins a share to the lane of zeros. */
export function positiveRuns(points: readonly SharePoint[]): SharePoint[][] {
  const runs: SharePoint[][] = [];
  let open = false;
  for (const point of points) {
    if (!(point.share > 0)) open = false;
    else if (open) runs[runs.length - 1]?.push(point);
    else {
      runs.push([point]);
      open = true;
    }
  }
  return runs;
}

function drawRun(context: CanvasRenderingContext2D, run: readonly SharePoint[], height: number, floor: number, soft: number): void {
  const first = run[0] as SharePoint;
  const last = run[run.length - 1] as SharePoint;
  if (run.length === 1) {
    context.beginPath();
    context.arc(first.x, shareY(height, first.share), 1.5, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  context.beginPath();
  context.moveTo(first.x, floor);
  for (const point of run) context.lineTo(point.x, shareY(height, point.share));
  context.lineTo(last.x, floor);
  context.closePath();
  context.save();
  context.globalAlpha = soft;
  context.fill();
  context.restore();
  context.beginPath();
  for (const point of run) context.lineTo(point.x, shareY(height, point.share));
  context.lineWidth = 1.5;
  context.lineJoin = 'round';
  context.stroke();
  context.lineWidth = 1;
}
