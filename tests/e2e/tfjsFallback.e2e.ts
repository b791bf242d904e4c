import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Snapshot } from '../../src/store/api';
import { launchChromium, ratioscope, serveDist, watch } from '../helpers/chromium';

/** Without WebGPU the built page trains all the same, under its own content security policy. */
let site: { url: string; close: () => void };
beforeAll(async () => {
  site = await serveDist();
});
afterAll(() => site?.close());

const textOf = (page: Page) => page.locator('body').innerText();

describe.each(['no WebGPU', 'no adapter'] as const)('a browser with %s', (lack) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium({ lack });
  });
  afterAll(() => browser?.close());

  test('trains a few steps, with a smaller model and batch, and says plainly that this is the slow path', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const problems = watch(page, site.url);
    await page.goto(site.url);
    await page.waitForFunction(() => 'ratioscope' in window);
    await ratioscope.ready(page);
    const config = await ratioscope.config(page);
    expect(config).toMatchObject({ model: 'small', prompts: 8, groupSize: 8 });
    await ratioscope.step(page, 3);
    const { step, error, reward, batch, adapter, report } = await ratioscope.snapshot(page);
    expect({ step, error }).toEqual({ step: 3, error: null });
    expect(reward).toHaveLength(3);
    for (const point of reward) expect(point.reward).toBeGreaterThan(0.05);
    expect((batch as { completions: unknown[] }).completions).toHaveLength(64);
    expect(adapter).toMatchObject({ software: true, description: 'tfjs WASM', fallback: { title: 'tfjs WASM' } });
    // The sampler and the training pass are the same policy, and the updates moved it.
    expect(report?.selfCheck.ok).toBe(true);
    expect(report?.updates.every((update) => Number.isFinite(update.gradNorm) && update.gradNorm > 0)).toBe(true);
    expect(report?.updates.at(-1)?.metrics.levels.token.logRatio.sd).toBeGreaterThan(1e-4);
    console.log(`${lack}: ${Math.round(report?.ms.total ?? NaN)} ms a step, ${Math.round(report?.ms.rollout ?? NaN)} of them sampling`);

    const text = await textOf(page);
    for (const words of ['This is the slow path', 'No WebGPU: tfjs WASM']) expect(text).toContain(words);
    await page.getByRole('button', { name: 'How to get WebGPU' }).click();
    const advice = await page.getByRole('dialog').innerText();
    for (const name of ['Chrome', 'Edge', 'Firefox', 'Safari']) expect(advice).toContain(name);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.locator('.slow-path').getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('.slow-path').count()).toBe(0);
    expect(problems).toEqual({ errors: [], foreign: [] });
    await page.close();
  }, 240_000);
});

describe('beside WebGPU', () => {
  test('engine=tfjs in the address draws the same answers as WebGPU, and measures KL to the same reference', async () => {
    const browser = await launchChromium();
    try {
      const runs = [];
      for (const query of ['', '?engine=tfjs']) {
        const page = await browser.newPage();
        await page.goto(`${site.url}${query}#preset=grpo&model=small&seed=5&prompts=4&evalEvery=0&beta=0.02`);
        await page.waitForFunction(() => 'ratioscope' in window);
        await ratioscope.ready(page);
        await ratioscope.step(page, 1);
        runs.push(await ratioscope.snapshot(page));
        await page.close();
      }
      const [gpu, tfjs] = runs as [Snapshot, Snapshot];
      expect(gpu.adapter?.fallback).toBeUndefined();
      expect(tfjs.adapter?.fallback?.title).toBe('tfjs WASM');
      const answers = ({ batch }: Snapshot) => (batch as { completions: { tokens: string[] }[] }).completions.map(({ tokens }) => tokens.join(''));
      expect(answers(tfjs)).toEqual(answers(gpu));
      expect(tfjs.report?.reward).toBe(gpu.report?.reward);
      const last = ({ report }: Snapshot) => report!.updates.at(-1)!;
      expect(last(gpu).metrics.refK3).toBeGreaterThan(0);
      expect(last(tfjs).metrics.refK3! / last(gpu).metrics.refK3!).toBeCloseTo(1, 2);
      expect(last(tfjs).gradNorm / last(gpu).gradNorm).toBeCloseTo(1, 2);
    } finally {
      await browser.close();
    }
  }, 240_000);
});

describe('where the stand-in does not start either', () => {
  test('the whole page says what to do', async () => {
    const browser = await launchChromium({ lack: 'no WebGPU' });
    try {
      const page = await browser.newPage();
      await page.route(/tfjs/, (route) => route.abort());
      await page.goto(site.url);
      for (const name of ['Chrome', 'Firefox', 'Safari', 'WebGPU']) await expect.poll(() => textOf(page), { timeout: 30_000 }).toContain(name);
      expect(await page.getByRole('heading').first().isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Look again' }).isVisible()).toBe(true);
      expect((await ratioscope.snapshot(page)).error?.kind).toBe('noWebGpu');
    } finally {
      await browser.close();
    }
  });
});
