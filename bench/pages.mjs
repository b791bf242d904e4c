// @ts-check
// Writes docs/soak.md, docs/soak.svg and docs/traces.md from the results in bench/results: node bench/pages.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../scripts/lib/paths.mjs';
import { chart, COLOURS } from './lib/svg.mjs';

const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(ROOT, 'bench', 'results', name), 'utf8'));
const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
const where = (/** @type {any} */ { machine, browser }) => `Chromium ${browser} on its software adapter, ${machine.cores} cores, ${machine.date}, load ${machine.load1} at the start`;
const MEASURES = /** @type {const} */ ([['pageHeap', 'Heap of the page'], ['workerHeap', 'Heap of the training worker'], ['gpuBuffers', 'GPU buffers of the worker'], ['gpuProcess', 'Chromium\u2019s GPU process, resident']]);

/**
 * Least-squares slope of a measure over the second half of a soak, bytes per 1,000 updates: caches have filled by then.
 * @param {{ update: number }[]} samples @param {string} key
 */
export function slope(samples, key) {
  const half = samples.slice(Math.floor(samples.length / 2)).map((sample) => /** @type {const} */ ([sample.update, /** @type {any} */ (sample)[key]]));
  const meanX = half.reduce((sum, [x]) => sum + x, 0) / half.length;
  const meanY = half.reduce((sum, [, y]) => sum + y, 0) / half.length;
  return (1000 * half.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)) / half.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** @param {any} soak */
export function soakSvg(soak) {
  const line = (/** @type {string} */ key, /** @type {string} */ label, /** @type {string | undefined} */ colour) => ({ label, colour: colour ?? '#000000', points: soak.samples.map((/** @type {any} */ s) => /** @type {const} */ ([s.update, s[key] / 1e6])) });
  const ticksX = [0, soak.updates / 2, soak.updates];
  return chart(
    [
      { title: 'JavaScript heap after collection', xLabel: 'updates', yLabel: 'MB', ticksX, lines: [line('pageHeap', 'page', COLOURS[0]), line('workerHeap', 'worker', COLOURS[1])] },
      { title: 'GPU memory', xLabel: 'updates', yLabel: 'MB', ticksX, lines: [line('gpuProcess', 'GPU process', COLOURS[3]), line('gpuBuffers', 'buffers', COLOURS[2])] },
    ],
    2, 'Heaps and GPU memory over the updates of a soak',
  );
}

/** @param {any} soak @param {any} tabs */
export function soakMarkdown(soak, tabs) {
  const at = (/** @type {number} */ share) => soak.samples[Math.round(share * (soak.samples.length - 1))];
  const [early, half, end] = [at(0.1), at(0.5), at(1)];
  return [
    '# Soak and load', '', 'Written by `node bench/pages.mjs` from `bench/results/soak.json` and `bench/results/tabs.json`; a test holds this page to them.', '',
    '## One page, many updates', '',
    `\`${soak.command}\`: ${soak.updates.toLocaleString('en')} updates in ${soak.iterations.toLocaleString('en')} iterations, ${Math.round(soak.seconds)} s, ${soak.phase}; errors: ${soak.problems.length + (soak.error ? 1 : 0)}. ${where(soak)}. Few answers an iteration (${Object.entries(soak.settings).map(([k, v]) => `${k}=${v}`).join(', ')}): what could leak is made per iteration and per update.`, '',
    '![Heaps and GPU memory over the updates](soak.svg)', '',
    `| MB (10^6 bytes) | after ${early.update.toLocaleString('en')} updates | ${half.update.toLocaleString('en')} | ${end.update.toLocaleString('en')} | slope of the second half, kB per 1,000 updates |`, '|---|---|---|---|---|',
    ...MEASURES.map(([key, title]) => `| ${title} | ${mb(early[key])} | ${mb(half[key])} | ${mb(end[key])} | ${(slope(soak.samples, key) / 1e3).toFixed(1)} |`), '',
    'Heaps are read after a forced collection. Buffers are counted where they are made and destroyed, by a few lines put before the worker\u2019s script. The page keeps the last batches for stepping back and thins its curves, so its heap rises to a plateau first.', '',
    '## Several tabs at once', '',
    `\`${tabs.command}\`: ${tabs.tabs.length} pages of one browser, ${tabs.iterations} iterations each, all done after ${Math.round(tabs.seconds)} s; GPU process at the end ${mb(tabs.gpuProcess)} MB. ${where(tabs)}.`, '',
    '| tab | ready after, s | iterations | s an iteration | reward, first and last | GPU buffers, MB | errors |', '|---|---|---|---|---|---|---|',
    ...tabs.tabs.map((/** @type {any} */ t, /** @type {number} */ i) => `| ${i + 1}, ${t.objective} | ${t.readyAfter} | ${t.step} | ${t.secondsPerIteration.toFixed(1)} | ${t.rewards[0].toFixed(2)}, ${t.rewards.at(-1).toFixed(2)} | ${mb(t.gpuBuffers)} | ${t.problems.length + (t.error ? 1 : 0)} |`), '',
  ].join('\n');
}

/** @param {any} train @param {any} drag */
export function tracesMarkdown(train, drag) {
  const row = (/** @type {string} */ name, /** @type {any} */ t) => `| ${name} | ${t.tasks} | ${t.longestThreadMs.toFixed(1)} | ${t.longestWallMs.toFixed(0)} |`;
  return [
    '# Traces of the main thread', '', 'Written by `node bench/pages.mjs` from `bench/results/train-trace.json` and `bench/results/lens-drag.json`; a test holds this page to them.', '',
    '| trace | tasks | longest, ms of the thread | longest, ms on the wall |', '|---|---|---|---|',
    row(`training (\`${train.command}\`)`, train), row('epsilon dragged in the lens (`node bench/lensDrag.mjs`)', drag), '',
    `The promise is ${train.limitMs} ms. ms of the thread are the main thread\u2019s own; ms on the wall also hold its wait for a core, which on a busy machine is most of it. Training: ${where(train)}. Lens: Chromium ${drag.browser}, ${drag.machine}.`, '',
    '## First step, and layout', '',
    `With warm caches the page is ready ${Math.round(train.readyMs)} ms after it was asked for, and the first iteration is done ${Math.round(train.firstStepMs)} ms after the click on Play (promised: ${train.firstStepLimitMs} ms), an evaluation of the base policy included.`, '',
    `Layout shift, as the web\u2019s metric scores it: ${train.cumulativeShift.toFixed(4)} (limit here ${train.shiftLimit}; up to 0.1 counts as good). Before Play the shifts add up to ${train.shiftBeforePlay.toFixed(4)}, in the whole traced run to ${train.shiftWhileTraining.toFixed(4)}: texts that a new batch replaces count as shifts of their letters.`, '',
    '## Inside the longest tasks of training', '', '| ms of the thread | ms on the wall | what ran in it, ms on the wall |', '|---|---|---|',
    ...train.insideLongest.map((/** @type {any} */ task) => `| ${task.threadMs?.toFixed(1) ?? '\u2013'} | ${task.wallMs.toFixed(0)} | ${task.inside.slice(0, 4).map((/** @type {any} */ part) => `${part.name} ${part.wallMs.toFixed(1)}`).join(', ')} |`), '',
  ].join('\n');
}

/** Every page by its file in docs. */
export const pages = () => ({
  'soak.svg': soakSvg(read('soak.json')),
  'soak.md': soakMarkdown(read('soak.json'), read('tabs.json')),
  'traces.md': tracesMarkdown(read('train-trace.json'), read('lens-drag.json')),
});

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [name, text] of Object.entries(pages())) writeFileSync(join(ROOT, 'docs', name), text);
}
