import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gpuObjects, instrumentWorker, launchChromium, ratioscope, serveDist, waitForStep, watch, type PageProblems } from '../helpers/chromium';

/** One visit from the first look to a shared link. The tests build on each other, so the first failure explains the rest. */
let browser: Browser;
let page: Page;
let problems: PageProblems;
let site: { url: string; close: () => void };

const OBJECTIVES = ['GRPO', 'GSPO', 'SSPO', 'SPPO'] as const;
const play = () => page.getByRole('button', { name: /^Play/ });
const pause = () => page.getByRole('button', { name: /^Pause/ });

/** Colours of a canvas that are not fully transparent: one colour is an empty frame, many are a picture. */
const coloursOf = (canvas: Locator) =>
  canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const data = (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
    const colours = new Set<number>();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] !== 0) colours.add((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!);
    return colours.size;
  });

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  problems = watch(page, site.url);
  await instrumentWorker(page);
  await page.goto(`${site.url}#preset=grpo&model=small&seed=1&totalSteps=400`);
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('the page', () => {
  test('shows something at once and says what it waits for', async () => {
    await expect.poll(() => page.locator('body').innerText(), { timeout: 5000 }).toMatch(/\S/);
    await ratioscope.ready(page);
  });

  test('shows the base policy and its bad habit before Play', async () => {
    const { base, step, adapter } = await ratioscope.snapshot(page);
    expect(step).toBe(0);
    expect(adapter?.software).toBe(true);
    expect(base?.passRate).toBeGreaterThan(0.25);
    expect(base?.passRate).toBeLessThan(0.45);
    const body = await page.locator('body').innerText();
    // A column addition as the base policy answers it: units first, ending in ;
    expect(body).toMatch(/u\d\+\d=\d+\./);
    await expect.poll(() => play().isVisible()).toBe(true);
  });

  test('trains when Play is pressed', async () => {
    await play().click();
    const snapshot = await waitForStep(page, 3);
    expect(snapshot.report?.updates.length).toBe(4);
    expect(snapshot.report?.selfCheck.maxAbsLogRatio).toBeLessThan(1e-4);
    expect(snapshot.reward.length).toBeGreaterThanOrEqual(3);
    for (const { reward } of snapshot.reward) expect(reward).toBeGreaterThan(0.1);
  });

  test('draws its charts', async () => {
    const canvases = page.locator('canvas:visible');
    await expect.poll(() => canvases.count()).toBeGreaterThan(0);
    for (const canvas of await canvases.all()) expect(await coloursOf(canvas), await canvas.evaluate((element) => element.outerHTML.slice(0, 200))).toBeGreaterThan(3);
    const lines = page.locator('.recharts-line-curve, .recharts-line path');
    await expect.poll(() => lines.count()).toBeGreaterThan(0);
    const longest = Math.max(...(await lines.evaluateAll((all) => all.map((line) => line.getAttribute('d')?.split(/[LC]/).length ?? 0))));
    expect(longest).toBeGreaterThanOrEqual(3);
  });

  test('shows the rollouts as text with their ratios', async () => {
    const body = await page.locator('body').innerText();
    const { batch } = await ratioscope.snapshot(page);
    const record = batch as { prompts: string[]; completions: { tokens: string[]; oldLogp: number[]; newLogp: number[] }[] };
    expect(record.completions.length).toBe(128);
    const [first] = record.completions;
    expect(first?.tokens.length).toBe(first?.newLogp.length);
    // Ratios are written with three decimals near 1.
    expect(body).toMatch(/\b(0\.9\d\d|1\.0\d\d)\b/);
  });

  test('switches between all four objectives while it runs', async () => {
    for (const name of [...OBJECTIVES.slice(1), OBJECTIVES[0]]) {
      await page.getByRole('radio', { name, exact: true }).first().click();
      const id = name.toLowerCase();
      await expect.poll(async () => (await ratioscope.snapshot(page)).config.objective).toBe(id);
      await expect.poll(async () => (await ratioscope.snapshot(page)).report?.objective, { timeout: 90_000 }).toBe(id);
      const { report, error } = await ratioscope.snapshot(page);
      expect(error).toBeNull();
      for (const level of ['token', 'segment', 'sequence'] as const) {
        expect(Number.isFinite(report?.updates.at(-1)?.metrics.levels[level].logRatio.sd), `${name} ${level}`).toBe(true);
      }
    }
  });

  test('a step makes no GPU object once a run is warm', async () => {
    await ratioscope.pause(page);
    await ratioscope.step(page, 1);
    const before = await gpuObjects(page);
    expect(Object.values(before).reduce((a, b) => a + b, 0)).toBeGreaterThan(10);
    await ratioscope.step(page, 2);
    expect(await gpuObjects(page)).toEqual(before);
  });

  test('pauses, and stays paused', async () => {
    await play().click();
    await expect.poll(() => pause().isVisible()).toBe(true);
    await pause().click();
    await expect.poll(async () => (await ratioscope.snapshot(page)).phase, { timeout: 60_000 }).toBe('paused');
    const { step } = await ratioscope.snapshot(page);
    await page.waitForTimeout(1500);
    expect((await ratioscope.snapshot(page)).step).toBe(step);
  });

  test('a link carries the whole configuration', async () => {
    const config = await ratioscope.config(page, { seed: 7, epochs: 2, clipHighToken: 0.28, samplerPrecision: 'e5m2' });
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('seed=7');
    const link = await page.evaluate(() => location.href);
    await page.reload();
    await ratioscope.ready(page);
    expect(await page.evaluate(() => location.href)).toBe(link);
    expect(await ratioscope.config(page)).toEqual(config);
    const other = await browser.newPage();
    await other.goto(link);
    await ratioscope.ready(other);
    expect(await ratioscope.config(other)).toEqual(config);
    await other.close();
  });

  test('more steps than planned are run when asked for', async () => {
    await ratioscope.config(page, { totalSteps: 1, samplerPrecision: 'f32' });
    await ratioscope.step(page, 1);
    expect((await ratioscope.snapshot(page)).phase).toBe('finished');
    await ratioscope.step(page, 1);
    expect((await ratioscope.snapshot(page)).step).toBe(2);
  });

  test('loads the reference policy only for beta > 0, under the content security policy', async () => {
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(request.url()));
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
    await ratioscope.config(page, { beta: 0.05, totalSteps: 60 });
    await ratioscope.step(page, 1);
    const { report, error, batch } = await ratioscope.snapshot(page);
    expect(error).toBeNull();
    expect(fetched.filter((url) => url.endsWith('.wasm')).length).toBe(1);
    const metrics = report!.updates.at(-1)!.metrics;
    expect(metrics.refK3).toBeGreaterThan(0);
    const [first] = (batch as { completions: { refLogp: number[]; oldLogp: number[] }[] }).completions;
    expect(first!.refLogp.length).toBe(first!.oldLogp.length);
  });

  test('asked no other origin for anything and logged no error', () => {
    expect(problems).toEqual({ errors: [], foreign: [] });
  });
});
