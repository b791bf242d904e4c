import type { Level } from '../../core/levels';
import type { Icicle, IcicleCell } from '../../lens/types';

/** Places of the icicle, CSS px from the top left of its drawing. */
export interface IcicleLayout {
  width: number;
  height: number;
  /** Left edge of the first token; width of a token's column. */
  left: number;
  pitch: number;
  count: number;
  rows: Record<Level, { y: number; height: number }>;
  /** The stems' plot; 0 height when there is no room for it. */
  plot: { top: number; bottom: number };
  /** Labels of epsilon begin here. */
  right: number;
  /** How far a narrow screen has scrolled the drawing: names and words move along. */
  shift: number;
}

const NAMES = 100;
const EPS_LABELS = 44;
/** Narrower than this a character is hard to hit or read; then the drawing scrolls sideways. */
const LEAST_PITCH = { fine: 11, coarse: 22 };
const MOST_PITCH = 34;

/** Lays out `count` tokens in a box; the drawing may become wider than the box (it then scrolls), never higher. */
export function icicleLayout(count: number, box: { width: number; height: number }, compact: boolean, scrolled = 0): IcicleLayout {
  const left = compact ? 4 : NAMES;
  const labels = compact ? 34 : EPS_LABELS;
  const least = compact ? LEAST_PITCH.coarse : LEAST_PITCH.fine;
  const pitch = Math.min(MOST_PITCH, Math.max(least, (box.width - left - labels) / Math.max(1, count)));
  const right = left + pitch * count;
  const head = compact ? 16 : 0;
  const sequence = { y: 5 + head, height: 30 };
  const segment = { y: sequence.y + sequence.height + 8 + head, height: 34 };
  const token = { y: segment.y + segment.height + 8 + head, height: 44 };
  const top = token.y + token.height + 14;
  const bottom = Math.max(top, box.height - 14);
  return {
    width: Math.max(compact ? 0 : box.width, right + labels),
    height: box.height,
    left,
    pitch,
    count,
    rows: { sequence, segment, token },
    plot: { top, bottom },
    right: right + 8,
    shift: compact ? scrolled : 0,
  };
}

/** Left edge and width of a cell, with a gap to its neighbours. */
export function cellBox(layout: IcicleLayout, cell: Pick<IcicleCell, 'start' | 'end' | 'level'>): { x: number; y: number; width: number; height: number } {
  const gap = cell.level === 'token' ? Math.min(2, layout.pitch * 0.12) : 2;
  const row = layout.rows[cell.level];
  return { x: layout.left + cell.start * layout.pitch + gap / 2, y: row.y, width: (cell.end - cell.start) * layout.pitch - gap, height: row.height };
}

const LINEAR_WITHIN = 0.01;
const LINEAR_DECADES = 0.6;

/** A signed log axis of log ratio (nats) that reaches from -limit to +limit, linear within +-.01; gives y in the plot. */
export function stemScale(layout: IcicleLayout, limit: number): (logRatio: number) => number {
  const extent = LINEAR_DECADES + Math.log10(limit / LINEAR_WITHIN);
  const middle = (layout.plot.top + layout.plot.bottom) / 2;
  const half = (layout.plot.bottom - layout.plot.top) / 2;
  return (logRatio) => {
    const size = Math.abs(logRatio);
    if (!(size > 0)) return middle;
    const decades = size <= LINEAR_WITHIN ? (size / LINEAR_WITHIN) * LINEAR_DECADES : LINEAR_DECADES + Math.log10(size / LINEAR_WITHIN);
    return middle - (Math.sign(logRatio) * Math.min(decades, extent) * half) / extent;
  };
}

/** The log ratio at a height of the plot; the inverse of `stemScale`. */
export function stemInverse(layout: IcicleLayout, limit: number): (y: number) => number {
  const extent = LINEAR_DECADES + Math.log10(limit / LINEAR_WITHIN);
  const middle = (layout.plot.top + layout.plot.bottom) / 2;
  const half = Math.max(1, (layout.plot.bottom - layout.plot.top) / 2);
  return (y) => {
    const decades = Math.min(extent, (Math.abs(middle - y) / half) * extent);
    const size = decades <= LINEAR_DECADES ? (decades / LINEAR_DECADES) * LINEAR_WITHIN : LINEAR_WITHIN * 10 ** (decades - LINEAR_DECADES);
    return middle >= y ? size : -size;
  };
}

/** The axis ends at 1 nat, or at 10 where a ratio of the row, or its band, lies beyond. */
export function stemLimit(icicle: Icicle): number {
  const widest = [...icicle.token, ...icicle.segment, icicle.sequence].reduce((most, cell) => Math.max(most, Math.abs(cell.logRatio)), 0);
  return widest > 1 ? 10 : 1;
}

/** Places labels at least `gap` apart, as near to where they belong as that allows; keeps their order. */
export function spread(places: readonly number[], gap: number): number[] {
  const order = places.map((place, index) => ({ place, index })).sort((a, b) => a.place - b.place);
  for (let i = 1; i < order.length; i++) {
    const [before, now] = [order[i - 1], order[i]];
    if (before && now && now.place < before.place + gap) now.place = before.place + gap;
  }
  const shift = order.length > 1 ? Math.max(0, (order.at(-1)?.place ?? 0) - Math.max(...places)) / 2 : 0;
  const out = new Array<number>(places.length).fill(0);
  for (const { place, index } of order) out[index] = place - shift;
  return out;
}
