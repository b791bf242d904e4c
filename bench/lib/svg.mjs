// @ts-check
// Small line charts as SVG text, for pages that are drawn from result files. Both themes: the ground is light in either.

/**
 * @typedef {{ label: string, colour: string, points: readonly (readonly [number, number])[] }} Line
 * @typedef {{ title: string, xLabel: string, yLabel: string, lines: readonly Line[], logX?: boolean, logY?: boolean, yMax?: number, ticksX?: readonly number[] }} Panel
 */

export const COLOURS = ['#0f6cbd', '#b4520a', '#2f7d32', '#7a3ea8'];

const WIDTH = 340;
const HEIGHT = 250;
const MARGIN = { left: 58, right: 14, top: 34, bottom: 62 };

const escape = (/** @type {string} */ text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** Three significant digits, thousands and millions in words short enough for an axis. @param {number} value */
export function short(value) {
  const [scale, unit] = Math.abs(value) >= 1e6 ? [1e6, 'M'] : Math.abs(value) >= 1e4 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / scale).toPrecision(3))}${unit}`;
}

/** Round numbers that cover a range. @param {number} low @param {number} high @param {boolean} log */
export function ticks(low, high, log) {
  if (log) {
    const all = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) for (const m of [1, 2, 5]) all.push(m * 10 ** power);
    const inside = all.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    return inside.length > 6 ? inside.filter((t) => String(t).replace(/[0.]/g, '') === '1') : inside;
  }
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = /** @type {number} */ ([1, 2, 5, 10].find((m) => m * power >= rough)) * power;
  return Array.from({ length: Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step);
}

/** @param {Panel} panel @param {number} x0 @param {number} y0 */
function drawPanel({ title, xLabel, yLabel, lines, logX = false, logY = false, yMax, ticksX }, x0, y0) {
  const points = lines.flatMap((line) => line.points);
  const [xs, ys] = [points.map((p) => p[0]), points.map((p) => p[1])];
  const [xLow, xHigh] = [Math.min(...xs), Math.max(...xs)];
  const [yLow, yHigh] = logY ? [Math.min(...ys) / 1.15, Math.max(...ys) * 1.15] : [0, (yMax ?? Math.max(...ys)) * 1.08];
  const scale = (/** @type {number} */ v, /** @type {number} */ low, /** @type {number} */ high, /** @type {boolean} */ log) => (high === low ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const x = (/** @type {number} */ v) => x0 + MARGIN.left + scale(v, xLow, xHigh, logX) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (/** @type {number} */ v) => y0 + HEIGHT - MARGIN.bottom - scale(v, yLow, yHigh, logY) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const out = [`<text class="title" x="${x0 + MARGIN.left}" y="${y0 + 20}">${escape(title)}</text>`];
  for (const t of ticks(yLow, yHigh, logY)) {
    out.push(`<line class="grid" x1="${x0 + MARGIN.left}" x2="${x0 + WIDTH - MARGIN.right}" y1="${y(t).toFixed(1)}" y2="${y(t).toFixed(1)}"/>`, `<text class="tick" text-anchor="end" x="${x0 + MARGIN.left - 6}" y="${(y(t) + 3.5).toFixed(1)}">${short(t)}</text>`);
  }
  const bottom = y0 + HEIGHT - MARGIN.bottom;
  for (const t of ticksX ?? ticks(xLow, xHigh, logX)) out.push(`<line class="axis" x1="${x(t).toFixed(1)}" x2="${x(t).toFixed(1)}" y1="${bottom}" y2="${bottom + 4}"/>`, `<text class="tick" text-anchor="middle" x="${x(t).toFixed(1)}" y="${bottom + 16}">${short(t)}</text>`);
  out.push(`<line class="axis" x1="${x0 + MARGIN.left}" x2="${x0 + WIDTH - MARGIN.right}" y1="${bottom}" y2="${bottom}"/>`, `<text class="label" x="${x0 + MARGIN.left}" y="${bottom + 31}">${escape(xLabel)}</text>`);
  out.push(`<text class="label" transform="translate(${x0 + 12} ${y0 + MARGIN.top + 4}) rotate(-90)" text-anchor="end">${escape(yLabel)}</text>`);
  lines.forEach((line, i) => {
    out.push(`<polyline fill="none" stroke="${line.colour}" stroke-width="1.8" points="${line.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' ')}"/>`);
    if (line.points.length <= 12) out.push(...line.points.map(([a, b]) => `<circle cx="${x(a).toFixed(1)}" cy="${y(b).toFixed(1)}" r="3" fill="${line.colour}"/>`));
    const left = x0 + MARGIN.left + i * 142;
    out.push(`<line x1="${left}" x2="${left + 14}" y1="${bottom + 47}" y2="${bottom + 47}" stroke="${line.colour}" stroke-width="2.5"/>`, `<text class="label" x="${left + 19}" y="${bottom + 51}">${escape(line.label)}</text>`);
  });
  return out.join('\n');
}

/** Panels in rows of `across`. @param {readonly Panel[]} panels @param {number} across @param {string} described for those who do not see it */
export function chart(panels, across, described) {
  const width = WIDTH * Math.min(across, panels.length);
  const height = HEIGHT * Math.ceil(panels.length / across);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(described)}">`,
    '<style>text{font-family:Inter,system-ui,sans-serif;fill:#1d232b}.title{font-size:13px;font-weight:600}.tick,.label{font-size:11px;fill:#4a5361}.grid{stroke:#e3e7ec}.axis{stroke:#8b95a3}</style>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...panels.map((panel, i) => drawPanel(panel, (i % across) * WIDTH, Math.floor(i / across) * HEIGHT)),
    '</svg>', '',
  ].join('\n');
}
