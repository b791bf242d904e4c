import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParityPage } from '../browser/parity';
import type { ParityNumbers } from '../browser/parityWorker';
import { launchChromium, serveDist, watch, type PageProblems } from '../helpers/chromium';

/**
 * In real Chromium: our WGSL engine, onnxruntime-web on WASM and onnxruntime-web on WebGPU (on our own device, without
 * copies) give the same numbers for every shipped policy, all within 1e-4 of the f64 definition.
 */

const TOLERANCE = 1e-4;

let folder: string;
let site: Awaited<ReturnType<typeof serveDist>>;
let browser: Browser;
let page: Page;
let problems: PageProblems;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratioscope-parity-'));
  await build({
    configFile: false,
    root: resolve('tests/browser'),
    publicDir: resolve('public'),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { target: 'es2023', outDir: folder, emptyOutDir: true, chunkSizeWarningLimit: 2000, rolldownOptions: { input: resolve('tests/browser/parity.html') } },
  });
  site = await serveDist({ root: folder });
  browser = await launchChromium();
  page = await browser.newPage();
  problems = watch(page, site.url);
  await page.goto(`${site.url}parity.html`);
  await page.waitForFunction(() => 'parityPage' in window);
}, 240_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** The largest distance; throws at the first number that is not within the tolerance, NaN included. */
function within(got: number[], want: number[], tolerance: number, what: string): number {
  expect(got, what).toHaveLength(want.length);
  let worst = 0;
  want.forEach((value, i) => {
    const distance = Math.abs(got[i]! - value);
    if (!(distance <= tolerance)) throw new Error(`${what}[${i}]: ${got[i]} against ${value}`);
    worst = Math.max(worst, distance);
  });
  return worst;
}

async function checkPolicy(id: string): Promise<void> {
  const numbers: ParityNumbers = await page.evaluate((policy) => (window as unknown as ParityPage).parityPage.parity(policy), id);
  const { expected, engine, wasm, webgpu } = numbers;
  expect(wasm.description).toBe('onnxruntime-web, WASM provider');
  expect(webgpu.description).toMatch(/^onnxruntime-web, WebGPU provider( \(JSPI\))? on the page's device$/);
  // Numbers that are all alike would agree by themselves.
  expect(Math.max(...expected.logits) - Math.min(...expected.logits)).toBeGreaterThan(1);
  expect(new Set(expected.logp).size).toBeGreaterThan(50);
  const worst = {
    engine: within(engine.logits, expected.logits, TOLERANCE, 'logits of our engine'),
    wasm: within(wasm.logits, expected.logits, TOLERANCE, 'logits of ORT WASM'),
    webgpu: within(webgpu.logits, expected.logits, TOLERANCE, 'logits of ORT WebGPU'),
    engineAgainstWasm: within(engine.logits, wasm.logits, TOLERANCE, 'logits of our engine against ORT WASM'),
    engineAgainstWebgpu: within(engine.logits, webgpu.logits, TOLERANCE, 'logits of our engine against ORT WebGPU'),
    engineLogp: within(engine.logp, expected.logp, TOLERANCE, 'log-probs of our engine'),
    wasmLogp: within(wasm.logp, expected.logp, TOLERANCE, 'log-probs of ORT WASM'),
    webgpuLogp: within(webgpu.logp, expected.logp, TOLERANCE, 'log-probs of ORT WebGPU'),
  };
  const largest = Object.entries(worst).map(([name, value]) => `${name} ${value.toExponential(1)}`);
  console.log(`${id} on ${numbers.adapter}: ${largest.join(', ')}; ORT WebGPU started in ${webgpu.secondsToStart.toFixed(1)} s, ran in ${webgpu.secondsPerRun.toFixed(1)} s`);
}

describe('the policy in real Chromium', () => {
  it.each(['random-small', 'random-main'])('is the same in all implementations: %s', (id) => checkPolicy(id), 240_000);

  it('is the same in all implementations: every shipped policy', async () => {
    const shipped = await page.evaluate(() => (window as unknown as ParityPage).parityPage.shipped());
    expect(shipped).toEqual(expect.arrayContaining(['columnAddition-main', 'columnAddition-small']));
    for (const id of shipped) await checkPolicy(id);
  }, 600_000);

  it('survives simultaneous calls, growing batches and a failed run on WebGPU', async () => {
    const { stages, failure, expected, uncaptured } = await page.evaluate(() => (window as unknown as ParityPage).parityPage.hardship());
    expect(failure).toMatch(/onnxruntime-web failed/);
    expect(Object.keys(stages)).toHaveLength(3);
    for (const [name, logp] of Object.entries(stages)) within(logp, expected, TOLERANCE, name);
    expect(uncaptured).toEqual([]);
  }, 240_000);

  it('needed nothing from any other origin', () => {
    expect(problems.foreign).toEqual([]);
  });
});
