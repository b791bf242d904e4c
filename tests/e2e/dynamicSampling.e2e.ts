import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium, ratioscope, serveDist, watch, type PageProblems } from '../helpers/chromium';

/** DAPO's dynamic sampling in the real page: what was drawn is counted, and said where reward and dead groups stand. */
let browser: Browser;
let page: Page;
let problems: PageProblems;
let site: { url: string; close: () => void };

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  problems = watch(page, site.url);
  await page.goto(`${site.url}#preset=dapo&model=small&seed=3&totalSteps=4&prompts=8&evalEvery=0`);
  await ratioscope.ready(page);
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('dynamic sampling', () => {
  test('draws other prompts for dead groups, trains on as many groups as were asked for, and says both', async () => {
    await ratioscope.step(page, 2);
    const { report } = await ratioscope.snapshot(page);
    const groups = report?.groups;
    expect(groups?.drawn).toBeGreaterThan(8);
    expect((groups?.drawn ?? 1) % 8).toBe(0);
    expect(groups?.trained).toBe(8);
    expect(report?.updates.reduce((rows, update) => rows + update.metrics.sequences, 0)).toBe(64);
    const words = page.getByTitle('Mean over five steps of all answers drawn, trained on or not');
    expect(await words.innerText()).toBe('mean, all drawn');
    const [box, legend] = await Promise.all([words.locator('..').boundingBox(), words.locator('..').evaluate((element) => element.scrollWidth)]);
    expect(legend).toBeLessThanOrEqual(Math.ceil(box?.width ?? 0));
    expect(await page.locator('.reward').innerText()).toMatch(new RegExp(`Prompts drawn\\s+${groups?.drawn}`));
  });

  test('may be turned off while it runs; the words go with it', async () => {
    await ratioscope.config(page, { dynamicSampling: false });
    await ratioscope.step(page, 1);
    expect((await ratioscope.snapshot(page)).report?.groups).toEqual({ drawn: 8, trained: 8, revisited: null });
    await expect.poll(() => page.getByText('all drawn').count()).toBe(0);
    expect(await page.locator('.reward').innerText()).not.toContain('Prompts drawn');
  });

  test('nothing else went wrong', () => {
    expect(problems).toEqual({ errors: [], foreign: [] });
  });
});
