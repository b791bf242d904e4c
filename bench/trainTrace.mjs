// @ts-check
// Plays a run at 1440 x 900 in real Chromium and records every task of the page's main thread, layout shifts, and how soon the first
// iteration is done: node bench/trainTrace.mjs [--root folder of the built page] [--iterations 20]. Writes
// bench/results/train-trace.json; `node bench/pages.mjs` draws docs/traces.md from it.
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { mainThreadTasks } from './lensDrag.mjs';
import { keepResult, machine, openSite } from './lib/page.mjs';

/** The promises: no task of the main thread takes longer; the first iteration is done; ms. */
export const LIMIT_MS = 50;
export const FIRST_STEP_MS = 2000;
/** Most that the layout may shift, as the browser scores it; up to 0.1 counts as good on the web. */
export const SHIFT_LIMIT = 0.01;

/**
 * Cumulative layout shift as the web's metric has it: the largest sum over shifts less than a second apart, within five seconds.
 * Shifts right after a person's own input do not count.
 * @param {readonly { at: number, value: number, hadRecentInput: boolean }[]} shifts in order of time, ms
 */
export function cumulativeShift(shifts) {
  let most = 0;
  let sum = 0;
  let began = -Infinity;
  let last = -Infinity;
  for (const { at, value } of shifts.filter((shift) => !shift.hadRecentInput)) {
    if (at - last >= 1000 || at - began >= 5000) [sum, began] = [0, at];
    sum += value;
    last = at;
    most = Math.max(most, sum);
  }
  return most;
}

/** @typedef {{ name: string, ph: string, pid: number, tid: number, ts: number, dur?: number, tdur?: number, args?: { data?: { url?: string, functionName?: string } } }} TraceEvent */

/**
 * What ran inside the longest tasks of the main thread, by the browser's own names, longest first.
 * @param {{ traceEvents: TraceEvent[] }} trace
 * @param {number} count
 */
export function insideLongest({ traceEvents }, count = 5) {
  const isTask = (/** @type {TraceEvent} */ event) => /RunTask$/.test(event.name) && event.dur !== undefined;
  const main = new Set(traceEvents.filter((event) => event.name === 'thread_name' && /** @type {any} */ (event.args)?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid}:${tid}`));
  const longest = traceEvents.filter((event) => isTask(event) && main.has(`${event.pid}:${event.tid}`)).sort((a, b) => (b.tdur ?? b.dur ?? 0) - (a.tdur ?? a.dur ?? 0)).slice(0, count);
  return longest.map((task) => {
    const inside = traceEvents
      .filter((event) => event !== task && !isTask(event) && event.dur !== undefined && event.pid === task.pid && event.tid === task.tid && event.ts >= task.ts && event.ts + event.dur <= task.ts + (task.dur ?? 0))
      .sort((a, b) => (b.dur ?? 0) - (a.dur ?? 0))
      .slice(0, 6)
      .map((event) => ({ name: event.name, wallMs: (event.dur ?? 0) / 1000, where: [event.args?.data?.functionName, event.args?.data?.url?.split('/').at(-1)].filter(Boolean).join(' ') }));
    return { wallMs: (task.dur ?? 0) / 1000, threadMs: task.tdur === undefined ? null : task.tdur / 1000, inside };
  });
}

async function main() {
  const { values } = parseArgs({ options: { root: { type: 'string' }, iterations: { type: 'string', default: '20' }, trace: { type: 'string' } } });
  const iterations = Number(values.iterations);
  const began = machine();
  const site = await openSite(values.root);
  try {
    const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const address = `${site.url}#preset=grpo&model=small&seed=1`;
    // Once before: fills the browser's caches (files, compiled scripts and shaders).
    const first = await context.newPage();
    await first.goto(address);
    await first.evaluate('window.ratioscope.ready');
    await first.evaluate('window.ratioscope.step(1)');
    await first.close();

    const page = await context.newPage();
    await page.addInitScript(() => {
      const seen = /** @type {any} */ (window);
      seen.layoutShifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const shift = /** @type {any} */ (entry);
          seen.layoutShifts.push({ at: Math.round(shift.startTime), value: shift.value, hadRecentInput: shift.hadRecentInput, sources: shift.sources.map((/** @type {any} */ s) => s.node?.outerHTML?.slice(0, 120) ?? '') });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const loading = Date.now();
    await page.goto(address);
    await page.evaluate('window.ratioscope.ready');
    const readyMs = Date.now() - loading;
    await page.evaluate(() => {
      const seen = /** @type {any} */ (window);
      window.ratioscope.on('step', () => (seen.firstStepAt ??= performance.now()));
      // Capture: the click as the browser saw it, before the page's own handler.
      addEventListener('click', () => (seen.playAt ??= performance.now()), { capture: true });
    });
    await site.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
    await page.getByRole('button', { name: /^Play/ }).click();
    await page.waitForFunction((wanted) => window.ratioscope.snapshot().step >= wanted, iterations, { timeout: 300_000, polling: 1000 });
    const trace = JSON.parse((await site.browser.stopTracing()).toString());
    const seen = await page.evaluate(() => {
      const { playAt, firstStepAt, layoutShifts } = /** @type {any} */ (window);
      const { step, report, error } = window.ratioscope.snapshot();
      return { playAt, firstStepMs: firstStepAt - playAt, layoutShifts, step, lastIterationMs: report?.ms, error };
    });
    const { longest, ...tasks } = mainThreadTasks(trace);
    const total = (/** @type {{ value: number, hadRecentInput: boolean }[]} */ shifts) => shifts.reduce((sum, shift) => sum + (shift.hadRecentInput ? 0 : shift.value), 0);
    const result = {
      what: `A run played for ${seen.step} iterations; tasks of the page's main thread`,
      command: 'node bench/trainTrace.mjs', limitMs: LIMIT_MS, firstStepLimitMs: FIRST_STEP_MS,
      note: 'threadMs is the main thread\u2019s own time; wallMs also holds the wait for a core, which on a busy machine is most of it',
      browser: site.browser.version(), machine: began,
      ...tasks, longest: longest.slice(0, 10), insideLongest: insideLongest(trace),
      readyMs, firstStepMs: seen.firstStepMs, lastIterationMs: seen.lastIterationMs,
      shiftLimit: SHIFT_LIMIT, cumulativeShift: cumulativeShift(seen.layoutShifts),
      shiftBeforePlay: total(seen.layoutShifts.filter((/** @type {any} */ shift) => shift.at < seen.playAt)), shiftWhileTraining: total(seen.layoutShifts.filter((/** @type {any} */ shift) => shift.at >= seen.playAt)),
      largestShifts: [...seen.layoutShifts].sort((a, b) => b.value - a.value).slice(0, 5), error: seen.error,
    };
    keepResult('train-trace.json', result);
    console.log(JSON.stringify(result, null, 1));
    if (!(tasks.longestThreadMs < LIMIT_MS) || !(result.cumulativeShift < SHIFT_LIMIT) || seen.error) process.exitCode = 1;
  } finally {
    await site.close();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
