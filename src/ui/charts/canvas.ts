import type { Level } from '../../core/levels';
import { LEVEL_HUE } from './looks';

/** Colours that a canvas needs, read from the custom properties of theme/tokens.css. */
export interface ChartColours {
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  line2: string;
  grid: string;
  surface: string;
  band: string;
  bandEdge: string;
  hatch: string;
  level: Record<Level, string>;
  /** Opacity of a level's fills: 98 % band, and 80 % band or outlined bars. */
  soft: number;
  mid: number;
}

/** Reads the theme in force at `element`. */
export function readColours(element: Element): ChartColours {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim() || '#888';
  return {
    ink: get('--ink'),
    ink2: get('--ink-2'),
    ink3: get('--ink-3'),
    line: get('--line'),
    line2: get('--line-2'),
    grid: get('--grid'),
    surface: get('--surface'),
    band: get('--band'),
    bandEdge: get('--band-edge'),
    hatch: get('--hatch'),
    level: {
      token: get(LEVEL_HUE.token),
      segment: get(LEVEL_HUE.segment),
      sequence: get(LEVEL_HUE.sequence),
    },
    soft: Number(get('--soft')),
    mid: Number(get('--mid')),
  };
}

/** Sizes the canvas to `width` x `height` CSS px at the screen's pixel ratio, clears it, and returns its context in CSS px. */
export function prepareCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const pixelWidth = Math.round(width * ratio);
  const pixelHeight = Math.round(height * ratio);
  if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
  if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Centre of a device pixel nearest to `value`, so that a 1 px line is crisp. */
export function crisp(value: number): number {
  return Math.round(value) + 0.5;
}

/** A straight line in the current stroke style. */
export function strokeLine(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** 45 degree hatch, 1.2 px every 4 px, inside the context's current clip, over the given box. */
export function strokeHatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  context.beginPath();
  for (let offset = -height; offset < width; offset += 4) {
    context.moveTo(x + offset, y + height);
    context.lineTo(x + offset + height, y);
  }
  context.lineWidth = 1.2;
  context.stroke();
}
