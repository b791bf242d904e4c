import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { instrumentWorker, launchChromium, loseDevice, ratioscope, serveDist, waitForStep } from '../helpers/chromium';

let browser: Browser;
let site: { url: string; close: () => void };

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

const open = async (hash: string, prepare: (page: Page) => Promise<void> = () => Promise.resolve()) => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await prepare(page);
  await page.goto(`${site.url}#${hash}`);
  return page;
};
const textOf = (page: Page) => page.locator('body').innerText();

/** Replaces what the server answers for the base policy's ONNX file. */
const tamper = (change: (bytes: Buffer) => Buffer) => async (page: Page) => {
  await page.route(/\.onnx$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.body()) });
  });
};

describe('bad input', () => {
  test('a bad value in the address is clamped or refused, with a notice', async () => {
    const page = await open('preset=grpo&model=small&seed=-5&epochs=99999&objective=nonsense&clipLowToken=abc&rubbish=1&temperature=');
    await page.waitForFunction(() => 'ratioscope' in window);
    const config = await ratioscope.config(page);
    expect(config.objective).toBe('grpo');
    expect(config.epochs).toBeLessThan(1000);
    expect(config.seed).toBeGreaterThanOrEqual(0);
    expect(config.clipLowToken).toBe(0.2);
    const notices = page.getByRole('status').filter({ hasText: /\S/ });
    await expect.poll(() => notices.count()).toBeGreaterThan(0);
    await page.close();
  });

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    ['changed in one byte', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 5000), Buffer.from([bytes[5000]! ^ 1]), bytes.subarray(5001)])],
    ['replaced by something else', () => Buffer.from('<html>not a model</html>')],
  ])('a model file that is %s is refused with a clear message', async (_, change) => {
    const page = await open('preset=grpo&model=small&seed=1', tamper(change));
    await page.waitForFunction(() => 'ratioscope' in window);
    await expect.poll(async () => (await ratioscope.snapshot(page)).phase, { timeout: 60_000 }).toBe('failed');
    const { error } = await ratioscope.snapshot(page);
    expect(error?.kind).toBe('badModel');
    expect(error?.hint.length).toBeGreaterThan(10);
    await expect.poll(() => textOf(page)).toContain(error?.message);
    await page.close();
  });

  test('a missing model file says so', async () => {
    const page = await open('preset=grpo&model=small&seed=1', async (p) => {
      await p.route(/\.onnx$/, (route) => route.fulfill({ status: 404, body: 'gone' }));
    });
    await page.waitForFunction(() => 'ratioscope' in window);
    await expect.poll(async () => (await ratioscope.snapshot(page)).error?.kind, { timeout: 60_000 }).toBe('badModel');
    await page.close();
  });

  test('a lost device is reported, the run goes on by itself on another, and Reset still starts again', async () => {
    const page = await open('preset=grpo&model=small&seed=1&prompts=8&evalEvery=0', instrumentWorker);
    await ratioscope.ready(page);
    await ratioscope.step(page, 6);
    const before = await ratioscope.snapshot(page);
    await page.getByRole('button', { name: /^Play/ }).click();
    await waitForStep(page, 7);
    await loseDevice(page);
    await expect.poll(async () => (await ratioscope.snapshot(page)).error?.kind, { timeout: 60_000 }).toBe('deviceLost');
    const { error } = await ratioscope.snapshot(page);
    expect(error?.fatal).toBe(false);
    await expect.poll(() => textOf(page)).toContain(error?.message);
    await waitForStep(page, 9);
    const after = await ratioscope.snapshot(page);
    // What was made again after the checkpoint came out as it had been, to the last bit.
    expect(after.reward.slice(0, 6)).toEqual(before.reward);
    await ratioscope.pause(page);
    await ratioscope.reset(page);
    await ratioscope.step(page, 1);
    expect((await ratioscope.snapshot(page)).error).toBeNull();
    await page.close();
  });
});
