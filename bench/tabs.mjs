// @ts-check
// Five pages of one browser train side by side: node bench/tabs.mjs [--tabs 5] [--iterations 5] [--root folder of the built page].
// Writes bench/results/tabs.json; `node bench/pages.mjs` draws docs/soak.md from it.
import { parseArgs } from 'node:util';
import { countGpuBytes, gpuBytes, gpuProcessMeter, keepResult, machine, openSite } from './lib/page.mjs';

const { values } = parseArgs({ options: { tabs: { type: 'string', default: '5' }, iterations: { type: 'string', default: '5' }, root: { type: 'string' } } });
const [tabs, iterations] = [Number(values.tabs), Number(values.iterations)];
/** A different objective in each, so that each compiles kernels of its own. */
const OBJECTIVES = ['grpo', 'gspo', 'sspo', 'sppo', 'dapo'];

const began = machine();
const site = await openSite(values.root);
try {
  const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const processMeter = await gpuProcessMeter(site.browser);
  const pages = await Promise.all(Array.from({ length: tabs }, async (_, i) => {
    const page = await context.newPage();
    const problems = /** @type {string[]} */ ([]);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await countGpuBytes(page);
    return { page, problems, seed: i + 1, objective: OBJECTIVES[i % OBJECTIVES.length] };
  }));
  const start = Date.now();
  const seconds = () => Number(((Date.now() - start) / 1000).toFixed(1));
  const measured = await Promise.all(pages.map(async ({ page, problems, seed, objective }) => {
    await page.goto(`${site.url}#preset=grpo&model=small&seed=${seed}&objective=${objective}&totalSteps=${iterations}`);
    await page.evaluate('window.ratioscope.ready');
    const readyAfter = seconds();
    const finished = page.evaluate(() => new Promise((resolve) => {
      const times = /** @type {number[]} */ ([]);
      window.ratioscope.on('step', () => void times.push(performance.now()));
      window.ratioscope.on('phase', ({ phase }) => (phase === 'finished' || phase === 'failed') && resolve(times));
      window.ratioscope.on('error', () => resolve(times));
    }));
    await page.evaluate(() => window.ratioscope.play());
    const times = /** @type {number[]} */ (await finished);
    const end = await page.evaluate(() => {
      const { step, phase, error, reward } = window.ratioscope.snapshot();
      return { step, phase, error, rewards: reward.map((point) => point.reward), visibility: document.visibilityState };
    });
    const gaps = times.slice(1).map((at, i) => at - /** @type {number} */ (times[i]));
    return { objective, seed, readyAfter, finishedAfter: seconds(), secondsPerIteration: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length / 1000, gpuBuffers: await gpuBytes(page), ...end, problems };
  }));
  const result = { what: `${tabs} pages of one browser that train at once`, command: 'node bench/tabs.mjs', iterations, browser: site.browser.version(), machine: began, gpuProcess: await processMeter(), seconds: seconds(), tabs: measured };
  keepResult('tabs.json', result);
  console.log(JSON.stringify(result, null, 1));
  const failed = measured.filter((tab) => tab.step < iterations || tab.error !== null || tab.problems.length > 0 || !tab.rewards.every(Number.isFinite));
  if (failed.length > 0) process.exitCode = 1;
} finally {
  await site.close();
}
