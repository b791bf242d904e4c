// @ts-check
// Trains for thousands of updates in real Chromium and watches memory: node bench/soak.mjs [--updates 10000] [--root folder of the
// built page]. Writes bench/results/soak.json; `node bench/pages.mjs` draws docs/soak.md from it.
import { parseArgs } from 'node:util';
import { countGpuBytes, gpuBytes, gpuProcessMeter, heapMeter, keepResult, machine, openSite } from './lib/page.mjs';

const { values } = parseArgs({ options: { updates: { type: 'string', default: '10000' }, root: { type: 'string' }, samples: { type: 'string', default: '60' }, minutes: { type: 'string', default: '30' } } });
const updates = Number(values.updates);

/** Few rows, so that an iteration is short: what could leak is made per iteration and per update, not per row. */
const SETTINGS = { preset: 'grpo', model: 'small', seed: 1, prompts: 2, groupSize: 2, minibatches: 4, epochs: 2, evalEvery: 25, evalPrompts: 8 };
const perIteration = SETTINGS.minibatches * SETTINGS.epochs;
const iterations = Math.ceil(updates / perIteration);

const began = machine();
const site = await openSite(values.root);
try {
  const page = await site.browser.newPage({ viewport: { width: 1440, height: 900 } });
  const problems = /** @type {string[]} */ ([]);
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await countGpuBytes(page);
  const query = Object.entries({ ...SETTINGS, totalSteps: iterations }).map(([name, value]) => `${name}=${value}`).join('&');
  await page.goto(`${site.url}#${query}`);
  const meter = await heapMeter(page);
  await page.evaluate('window.ratioscope.ready');
  const processMeter = await gpuProcessMeter(site.browser);
  const samples = /** @type {Record<string, number | null>[]} */ ([]);
  const start = Date.now();
  const look = () => page.evaluate(() => {
    const { phase, step, error, inForce } = window.ratioscope.snapshot();
    return { phase, step, error, inForce };
  });
  const sample = async (/** @type {number} */ step) => {
    const taken = { update: step * perIteration, seconds: Math.round((Date.now() - start) / 1000), ...(await meter()), gpuBuffers: await gpuBytes(page), gpuProcess: await processMeter(), nodes: await page.evaluate(() => document.querySelectorAll('*').length) };
    samples.push(taken);
    console.log(JSON.stringify(taken));
  };
  await sample(0);
  await page.evaluate(() => window.ratioscope.play());
  let state = await look();
  const stride = iterations / Number(values.samples);
  for (let next = stride; state.phase !== 'finished' && state.phase !== 'failed'; ) {
    await page.waitForTimeout(500);
    state = await look();
    if (Date.now() - start > Number(values.minutes) * 60_000) break;
    if (state.step < next) continue;
    await sample(state.step);
    while (next <= state.step) next += stride;
  }
  if (samples.at(-1)?.update !== state.step * perIteration) await sample(state.step);
  const seconds = (Date.now() - start) / 1000;
  keepResult('soak.json', {
    what: 'One page that trains; heaps after a forced collection, bytes',
    command: 'node bench/soak.mjs', settings: SETTINGS, updates: state.step * perIteration, iterations: state.step, seconds, phase: state.phase, error: state.error, problems,
    browser: site.browser.version(), machine: began, samples,
  });
  console.log(`${state.step * perIteration} updates in ${seconds.toFixed(0)} s, ${state.phase}`);
  if (state.phase !== 'finished' || state.error || problems.length > 0) process.exitCode = 1;
} finally {
  await site.close();
}
