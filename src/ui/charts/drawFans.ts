import type { Level } from '../../core/levels';
import { LEVELS } from '../../core/levels';
import type { LevelMetrics } from '../../objectives/types';
import type { ChartColours } from './canvas';
import { crisp, strokeHatch, strokeLine } from './canvas';
import type { Rollout } from './rulersData';
import type { ColumnBox } from './rulersGeometry';
import { updateX } from './rulersGeometry';
import type { RatioScale } from './scales';

/** Everything the fan picture shows; log ratios in nats. */
export interface FanPicture {
  width: number;
  height: number;
  columns: readonly ColumnBox[];
  rollouts: readonly Rollout[];
  /** How many fans a column has room for; missing rollouts leave their slots empty. */
  fans: number;
  scale: RatioScale;
  /** Log of each level's clip edges; -Infinity when the lower one is at ratio 0 or below. */
  edges: Record<Level, { low: number; high: number }>;
  levelInUse: Level;
  histogramEdges: readonly number[];
}

type LogRatio = LevelMetrics['logRatio'];

/** Vertical room kept above +10 and below -10, CSS px, so that lines at the limit are not cut. */
const PAD = 2;

/** CSS px from the top for a log ratio. */
export function fanY(scale: RatioScale, height: number, logRatio: number): number {
  return PAD + ((1 - scale.place(logRatio)) / 2) * (height - 2 * PAD);
}

/** Draws gridlines, clip bands, fans and histograms of all three columns. */
export function drawFans(context: CanvasRenderingContext2D, picture: FanPicture, colours: ChartColours): void {
  const { width, height, columns, scale } = picture;
  const y = (logRatio: number) => fanY(scale, height, logRatio);
  LEVELS.forEach((level, index) => {
    const box = columns[index] as ColumnBox;
    const edge = picture.edges[level];
    const top = y(edge.high);
    context.fillStyle = colours.band;
    context.fillRect(box.x, top, box.width, y(edge.low) - top);
  });
  context.lineWidth = 1;
  for (const tick of scale.ticks) {
    context.strokeStyle = tick === 0 ? colours.line2 : colours.grid;
    strokeLine(context, 0, crisp(y(tick)), width, crisp(y(tick)));
  }
  context.strokeStyle = colours.grid;
  strokeLine(context, 0, height - 0.5, width, height - 0.5);
  LEVELS.forEach((level, index) => {
    const box = columns[index] as ColumnBox;
    drawSplits(context, box, picture, colours);
    picture.rollouts.forEach((rollout, place) => {
      const fan = picture.fans - picture.rollouts.length + place;
      drawFan(context, rollout, level, box, fan, picture, colours);
    });
    drawHistogram(context, level, box, picture, colours);
    drawEdges(context, level, box, picture, colours);
    drawMaximum(context, level, box, picture, colours);
  });
}

function drawSplits(context: CanvasRenderingContext2D, box: ColumnBox, picture: FanPicture, colours: ChartColours): void {
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  for (let fan = 1; fan < picture.fans; fan++) {
    const x = crisp(box.x + (fan * box.fanWidth) / picture.fans);
    strokeLine(context, x, 0, x, picture.height);
  }
  if (box.histogramWidth === 0) return;
  context.strokeStyle = colours.line2;
  const x = crisp(box.x + box.fanWidth + 2);
  strokeLine(context, x, 0, x, picture.height);
}

function drawFan(
  context: CanvasRenderingContext2D,
  rollout: Rollout,
  level: Level,
  box: ColumnBox,
  fan: number,
  picture: FanPicture,
  colours: ChartColours,
): void {
  const count = rollout.updates.length;
  const xs = rollout.updates.map((_, index) => updateX(box, fan, picture.fans, index, count));
  const at = (pick: (logRatio: LogRatio) => number) =>
    rollout.updates.map(({ metrics }) => fanY(picture.scale, picture.height, pick(metrics.levels[level].logRatio)));
  const hue = colours.level[level];
  const lone = count === 1 ? Math.min(6, box.fanWidth / picture.fans / 4) : 0;
  context.save();
  context.lineJoin = 'round';
  context.fillStyle = hue;
  context.globalAlpha = colours.soft;
  fillBetween(context, xs, at((r) => r.p99), at((r) => r.p01), lone);
  context.globalAlpha = colours.mid;
  fillBetween(context, xs, at((r) => r.p90), at((r) => r.p10), lone);
  context.strokeStyle = hue;
  context.globalAlpha = 0.8;
  context.lineWidth = 0.9;
  strokePath(context, xs, at((r) => r.max), lone);
  strokePath(context, xs, at((r) => r.min), lone);
  context.globalAlpha = 1;
  context.lineWidth = 1.7;
  strokePath(context, xs, at((r) => r.p50), lone);
  context.restore();
}

/** Fills the area between two lines; a lone point becomes a bar of half-width `lone`. */
function fillBetween(context: CanvasRenderingContext2D, xs: readonly number[], tops: readonly number[], bottoms: readonly number[], lone: number): void {
  context.beginPath();
  if (lone > 0) {
    context.rect((xs[0] as number) - lone, tops[0] as number, 2 * lone, (bottoms[0] as number) - (tops[0] as number));
  } else {
    xs.forEach((x, i) => context.lineTo(x, tops[i] as number));
    for (let i = xs.length - 1; i >= 0; i--) context.lineTo(xs[i] as number, bottoms[i] as number);
    context.closePath();
  }
  context.fill();
}

function strokePath(context: CanvasRenderingContext2D, xs: readonly number[], ys: readonly number[], lone: number): void {
  context.beginPath();
  if (lone > 0) {
    context.moveTo((xs[0] as number) - lone, ys[0] as number);
    context.lineTo((xs[0] as number) + lone, ys[0] as number);
  } else {
    xs.forEach((x, i) => context.lineTo(x, ys[i] as number));
  }
  context.stroke();
}

/** Bars of the latest minibatch; nearly all ratios sit at 1, so lengths are logarithms: a linear bar would hide every tail. */
function drawHistogram(context: CanvasRenderingContext2D, level: Level, box: ColumnBox, picture: FanPicture, colours: ChartColours): void {
  const last = picture.rollouts.at(-1)?.updates.at(-1);
  if (!last || box.histogramWidth === 0) return;
  const edge = picture.edges[level];
  const bars = histogramBars(last.metrics.levels[level].histogram, picture.histogramEdges, (logRatio) =>
    fanY(picture.scale, picture.height, logRatio),
  );
  const hue = colours.level[level];
  const outside = new Path2D();
  context.fillStyle = hue;
  for (const bar of bars) {
    const length = Math.max(1, bar.length * box.histogramWidth);
    const isOutside = bar.centre > edge.high || bar.centre < edge.low;
    context.globalAlpha = isOutside ? colours.mid : 0.92;
    context.fillRect(box.histogramX, bar.top, length, bar.height);
    if (isOutside) outside.rect(box.histogramX, bar.top, length, bar.height);
  }
  context.globalAlpha = 1;
  context.save();
  context.clip(outside);
  context.strokeStyle = colours.hatch;
  strokeHatch(context, box.histogramX, 0, box.histogramWidth, picture.height);
  context.restore();
}

/** One bar of a histogram: pixels along the axis, length 0..1, and the log ratio (nats) of its middle. */
export interface HistogramBar {
  top: number;
  height: number;
  length: number;
  centre: number;
}

/** Bars thinner than this (CSS px) are joined with their neighbours. */
const LEAST_BAR = 3;

/**
 * Bars for counts over bins whose inner edges are `edges` (rising; the two end bins are open, so there is one count more
 * than edges). Neighbours are joined until a bar is 3 px high; empty bars are left out. `y` gives pixels from the top.
 * Length is log(1 + units per 3 px of the axis shown) over the longest bar's.
 */
export function histogramBars(counts: readonly number[], edges: readonly number[], y: (logRatio: number) => number): HistogramBar[] {
  const bars: (HistogramBar & { density: number })[] = [];
  let low = -Infinity;
  let count = 0;
  for (let index = 0; index <= edges.length; index++) {
    const high = index === edges.length ? Infinity : (edges[index] as number);
    count += counts[index] ?? 0;
    const height = y(low) - y(high);
    if (height < LEAST_BAR && index < edges.length) continue;
    if (count > 0) {
      const centre = low === -Infinity ? high : high === Infinity ? low : (low + high) / 2;
      bars.push({ top: y(high) + 0.5, height: Math.max(1, height - 1), length: 0, centre, density: Math.log1p((LEAST_BAR * count) / Math.max(1, height)) });
    }
    low = high;
    count = 0;
  }
  const most = bars.reduce((largest, bar) => Math.max(largest, bar.density), 0);
  return bars.map(({ density, ...bar }) => ({ ...bar, length: density / most }));
}

function drawEdges(context: CanvasRenderingContext2D, level: Level, box: ColumnBox, picture: FanPicture, colours: ChartColours): void {
  const isInUse = level === picture.levelInUse;
  context.save();
  context.lineWidth = isInUse ? 1.5 : 1;
  context.strokeStyle = isInUse ? colours.ink : colours.bandEdge;
  if (!isInUse) context.setLineDash([3, 3]);
  for (const edge of [picture.edges[level].low, picture.edges[level].high]) {
    if (edge === -Infinity) continue;
    const y = crisp(fanY(picture.scale, picture.height, edge));
    strokeLine(context, box.x, y, box.x + box.width, y);
  }
  context.restore();
}

function drawMaximum(context: CanvasRenderingContext2D, level: Level, box: ColumnBox, picture: FanPicture, colours: ChartColours): void {
  const point = maximumPoint(level, box, picture);
  if (!point) return;
  context.fillStyle = colours.level[level];
  context.beginPath();
  context.arc(point.x, point.y, 2.75, 0, 2 * Math.PI);
  context.fill();
}

/** Where the largest ratio of the latest rollout is drawn, CSS px, and its log ratio; null without data. */
export function maximumPoint(level: Level, box: ColumnBox, picture: FanPicture): { x: number; y: number; logRatio: number } | null {
  const latest = picture.rollouts.at(-1);
  if (!latest) return null;
  let best = 0;
  latest.updates.forEach((report, index) => {
    const value = report.metrics.levels[level].logRatio.max;
    if (value >= (latest.updates[best] as typeof report).metrics.levels[level].logRatio.max) best = index;
  });
  const logRatio = (latest.updates[best] as Rollout['updates'][number]).metrics.levels[level].logRatio.max;
  return {
    x: updateX(box, picture.fans - 1, picture.fans, best, latest.updates.length),
    y: fanY(picture.scale, picture.height, logRatio),
    logRatio,
  };
}
