import { LADDER_MS, SCALE_BASE, UPDATES, type Axis, type ScaleResult } from './scale';
import { chart, COLOURS } from './svg.mjs';

/** docs/scale.md and its chart, drawn from the kept result; a test holds the files to this. */

/** bench/results/scale.json. */
export interface ScaleFile {
  date: string;
  command: string;
  adapter: string;
  machine: { cores: number; load1: number; loadAtEnd: number; node: string };
  axes: Record<Axis, ScaleResult[]>;
  ladder: ScaleResult[];
}

const TITLES: Record<Axis, [title: string, unit: string]> = {
  rows: ['Answers of a rollout', 'answers'],
  length: ['Length of an answer', 'tokens'],
  C: ['Width of the model', 'channels C'],
  L: ['Depth of the model', 'layers L'],
  runs: ['Runs side by side', 'runs on one adapter'],
};

const ms = (value: number): string => `${value >= 100 ? Math.round(value) : value.toPrecision(3)}`;
const megabytes = (bytes: number): string => (bytes / 1e6).toPrecision(3);
const axesOf = (file: ScaleFile) => Object.entries(file.axes) as [Axis, ScaleResult[]][];

/** Two charts for each axis: time and memory. */
export function scaleSvg(file: ScaleFile): string {
  const panels = axesOf(file).flatMap(([axis, results]) => {
    const [title, unit] = TITLES[axis];
    const line = (label: string, colour: string, of: (r: ScaleResult) => number) => ({ label, colour, points: results.map((r) => [r[axis], of(r)] as const) });
    const common = { xLabel: unit, logX: true, ticksX: results.map((r) => r[axis]) };
    return [
      { ...common, title, yLabel: 'ms, logarithmic', logY: true, lines: [line('iteration', COLOURS[0], (r) => r.iterationMs), line('update', COLOURS[1], (r) => r.updateMs)] },
      { ...common, title: `${title}: memory`, yLabel: 'MB of GPU buffers', lines: [line('buffers', COLOURS[2], (r) => r.bytes / 1e6)] },
    ];
  });
  return chart(panels, 2, 'Time of an update and of an iteration, and memory, against batch, answer length, width, depth and number of runs');
}

/** The exponent k of time ~ size^k over the axis, from its ends. */
export function growth(results: readonly ScaleResult[], axis: Axis): number {
  const [first, last] = [results[0], results[results.length - 1]];
  return Math.log(last.iterationMs / first.iterationMs) / Math.log(last[axis] / first[axis]);
}

function ladderText(ladder: readonly ScaleResult[]): string {
  const fits = ladder.filter((r) => r.iterationMs <= LADDER_MS).at(-1);
  const over = ladder.find((r) => r.iterationMs > LADDER_MS);
  const size = (r: ScaleResult): string => `${r.parameters.toLocaleString('en')} parameters (C=${r.C}, L=${r.L})`;
  if (!fits) return `None of the models tried makes an iteration a second here; the smallest, ${size(ladder[0])}, takes ${ms(ladder[0].iterationMs)} ms.`;
  const next = over ? `The next one tried, ${size(over)}, takes ${ms(over.iterationMs)} ms.` : 'It is the largest that was tried.';
  return `The largest model that makes an iteration a second here has ${size(fits)}: ${ms(fits.iterationMs)} ms and ${megabytes(fits.bytes)} MB. ${next}`;
}

export function scaleMarkdown(file: ScaleFile): string {
  const { machine } = file;
  const busy = Math.max(machine.load1, machine.loadAtEnd) > 0.5 * machine.cores;
  const tables = axesOf(file).flatMap(([axis, results]) => [
    `## ${TITLES[axis][0]}`, '',
    `| ${TITLES[axis][1]} | parameters | ms an update | ms an iteration | MB |`, '|---|---|---|---|---|',
    ...results.map((r) => `| ${r[axis]} | ${r.parameters.toLocaleString('en')} | ${ms(r.updateMs)} | ${ms(r.iterationMs)} | ${megabytes(r.bytes)} |`), '',
    `From the first row to the last an iteration\u2019s time grows as the ${growth(results, axis).toFixed(2)}th power of the number on the left.`, '',
  ]);
  return [
    '# How cost grows', '',
    `Measured by \`${file.command}\` on ${file.adapter}, ${file.date}, Dawn in Node ${machine.node}, ${machine.cores} cores. Written from \`bench/results/scale.json\`; \`${file.command} --document\` writes it again.`, '',
    ...(busy ? [`**The machine was busy with other work**: load ${machine.load1.toFixed(1)} at the start and ${machine.loadAtEnd.toFixed(1)} at the end on ${machine.cores} cores. The times are upper bounds and wobble; the memory is exact.`, ''] : []),
    `Everything departs from ${SCALE_BASE.rows} answers of exactly ${SCALE_BASE.length} tokens, C=${SCALE_BASE.C}, L=${SCALE_BASE.L}, one run. An iteration is a rollout and ${UPDATES} GRPO updates on a quarter of the answers each; an update is timed alone, its records read back. The least of up to five timings. With several runs the time is that in which each of them makes one. MB are bytes of GPU buffers (10^6), allocated for exactly this work; the page allocates for the largest work its controls allow.`, '',
    '![Time and memory against batch, answer length, width, depth and runs](scale.svg)', '',
    '## The largest model at one iteration a second', '', ladderText(file.ladder), '',
    ...tables,
  ].join('\n');
}
