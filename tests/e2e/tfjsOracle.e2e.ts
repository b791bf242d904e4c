import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OraclePage } from '../browser/oracle';
import type { GradientNumbers } from '../browser/oracleWorker';
import { OBJECTIVES } from '../../src/objectives';
import { launchChromium, serveDist, watch, type PageProblems } from '../helpers/chromium';

/**
 * tfjs as the oracle, in real Chromium: its automatic differentiation of each loss as the papers write it gives the
 * gradient of our WebGPU engine, whose coefficients come from our own algebra; and the engine that trains without
 * WebGPU makes the same rollouts and updates.
 */

let folder: string;
let site: Awaited<ReturnType<typeof serveDist>>;
let browser: Browser;
let page: Page;
let problems: PageProblems;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratioscope-oracle-'));
  await build({
    configFile: false,
    root: resolve('tests/browser'),
    publicDir: resolve('public'),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { target: 'es2023', outDir: folder, emptyOutDir: true, minify: false, chunkSizeWarningLimit: 4000, rolldownOptions: { input: resolve('tests/browser/oracle.html') } },
  });
  site = await serveDist({ root: folder });
  browser = await launchChromium();
  page = await browser.newPage();
  problems = watch(page, site.url);
  await page.goto(`${site.url}oracle.html`);
  await page.waitForFunction(() => 'oraclePage' in window);
}, 300_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function check(id: string, numbers: GradientNumbers): void {
  console.log(`${id}, tfjs ${numbers.backend} against our engine on ${numbers.adapter}: gradient ${numbers.relativeError.toExponential(1)}, worst weight ${numbers.worst.name} ${numbers.worst.relativeError.toExponential(1)}; ${numbers.live} tokens live, ${numbers.cut} cut`);
  expect(numbers.relativeError).toBeLessThan(1e-4);
  expect(numbers.worst.relativeError).toBeLessThan(1e-3);
  expect(Math.abs(numbers.loss.oracle - numbers.loss.ours)).toBeLessThan(1e-5 * Math.max(1, Math.abs(numbers.loss.ours)));
  // A gradient of nothing, or a batch in which the clip did nothing, would prove nothing.
  expect(numbers.norm).toBeGreaterThan(1e-3);
  expect(numbers.live).toBeGreaterThan(5);
  if (numbers.clipEffect === 'cut') expect(numbers.cut).toBeGreaterThan(5);
  else expect(numbers.cut).toBe(0);
  expect(numbers.uncaptured).toEqual([]);
}

describe('tfjs differentiates the loss itself', () => {
  it.each(OBJECTIVES.map((o) => o.id))('%s: the gradient is ours', async (id) => {
    const numbers = await page.evaluate((objective) => (window as unknown as OraclePage).oraclePage.gradient(objective), id);
    expect(numbers.backend).toBe('wasm');
    expect(numbers.tokens).toBeGreaterThan(200);
    check(id, numbers);
  }, 240_000);

  it('sspo on WebGPU: on the very device that our kernels use', async () => {
    const numbers = await page.evaluate((objective) => (window as unknown as OraclePage).oraclePage.gradientOnOurDevice(objective), 'sspo');
    expect(numbers.backend).toBe('webgpu');
    check('sspo', numbers);
  }, 420_000);
});

describe('the engine without WebGPU', () => {
  it.each(['grpo', 'sspo'])('%s: updates like the WebGPU engine', async (id) => {
    const { records, relativeError, moved } = await page.evaluate((objective) => (window as unknown as OraclePage).oraclePage.updates(objective), id);
    console.log(`${id}: after 3 updates the parameters are ${relativeError.toExponential(1)} of their way apart`, JSON.stringify(records));
    expect(records).toHaveLength(3);
    for (const { logp, entropy, coefficient, gradNorm } of records) {
      expect(logp).toBeLessThan(1e-4);
      expect(entropy).toBeLessThan(1e-4);
      expect(coefficient).toBeLessThan(1e-5);
      expect(Math.abs(gradNorm[1] / gradNorm[0] - 1)).toBeLessThan(1e-4);
    }
    expect(moved).toBeGreaterThan(0.01);
    expect(relativeError).toBeLessThan(1e-2);
  }, 240_000);

  it.each(['f32', 'e5m2', 'greedy'])('samples the same tokens, but at rounding boundaries: %s', async (kind) => {
    const { tokens, parted, logp, entropy } = await page.evaluate((k) => (window as unknown as OraclePage).oraclePage.rollout(k), kind);
    console.log(`${kind}: ${tokens} tokens alike, ${parted.length} rows part at a boundary; log-probs ${logp.toExponential(1)}, entropies ${entropy.toExponential(1)} apart`);
    expect(tokens).toBeGreaterThan(200);
    for (const { margin } of parted) expect(margin).toBeLessThan(1e-4);
    expect(parted.length).toBeLessThan(3);
    expect(logp).toBeLessThan(1e-4);
    expect(entropy).toBeLessThan(1e-4);
  }, 240_000);

  it('needed nothing from any other origin', () => {
    expect(problems.foreign).toEqual([]);
  });
});
