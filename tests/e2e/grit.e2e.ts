import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Snapshot } from '../../src/store/api';
import type { WorkerCommand } from '../../src/worker/protocol';
import { instrumentWorker, launchChromium, loseDevice, ratioscope, serveDist, trainingWorker, waitForStep } from '../helpers/chromium';

/** Faults in the built page while it trains: what the person sees, and that the run goes on. The tests build on each other. */
let browser: Browser;
let page: Page;
let site: { url: string; close: () => void };

const alert = () => page.getByRole('alert').filter({ hasText: /\S/ });
const until = <T>(read: (snapshot: Snapshot) => T) => expect.poll(async () => read(await ratioscope.snapshot(page)), { timeout: 60_000 });
/** Iterations on the reward curve: a hole or a fold would show. */
const curve = (snapshot: Snapshot) => snapshot.reward.map(({ step }) => step);
const whole = (last: number) => Array.from({ length: last }, (_, i) => i + 1);
const told = ({ report, batch }: Snapshot) => ({ ...report, ms: null, tokensPerSecond: null, batch });

/** A command that the page has no button for, as if the page had sent it. */
const command = (data: WorkerCommand) =>
  trainingWorker(page).evaluate((sent) => {
    globalThis.dispatchEvent(new MessageEvent('message', { data: sent }));
  }, data);

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await instrumentWorker(page);
  await page.goto(`${site.url}#preset=grpo&model=small&seed=1&prompts=8&evalEvery=0&totalSteps=400`);
  await ratioscope.ready(page);
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('the same seed', () => {
  test('gives the same bits in another load of the page', async () => {
    await ratioscope.step(page, 3);
    const first = told(await ratioscope.snapshot(page));
    await page.reload();
    await ratioscope.ready(page);
    await ratioscope.step(page, 3);
    const again = told(await ratioscope.snapshot(page));
    expect(first.step).toBe(3);
    expect(again).toEqual(first);
  });
});

describe('a device that is lost', () => {
  test('is said, and the run goes on by itself on another with its history', async () => {
    await page.getByRole('button', { name: /^Play/ }).click();
    const before = await waitForStep(page, 6);
    await loseDevice(page);
    await until(({ error }) => error?.kind).toBe('deviceLost');
    const { error } = await ratioscope.snapshot(page);
    expect(error?.fatal).toBe(false);
    expect(error?.hint).toMatch(/put back to iteration \d+ on a new device/);
    await expect.poll(() => alert().innerText()).toContain('The graphics device was lost');
    const after = await waitForStep(page, before.step + 3);
    expect(after.phase).toBe('running');
    expect(curve(after)).toEqual(whole(after.step));
    // The words go when they have been read; the keyboard is enough.
    await page.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => alert().count()).toBe(0);
  });
});

describe('a number that is not finite', () => {
  test('is named, pauses the run and can be gone back from with one button', async () => {
    await command({ type: 'poison' });
    await until(({ error }) => error?.kind).toBe('notFinite');
    await until(({ phase }) => phase).toBe('paused');
    const { error, step } = await ratioscope.snapshot(page);
    expect(error?.message).toMatch(/ is not a finite number at iteration \d+, .*answer 1, token 1\.$/);
    await expect.poll(() => alert().innerText()).toContain(error?.message);
    // Play alone does not get past it, and applies nothing.
    await page.getByRole('button', { name: /^Play/ }).click();
    await until(({ phase }) => phase).toBe('paused');
    const goal = error?.rewindTo ?? -1;
    expect(goal).toBeGreaterThanOrEqual(step - 5);
    await page.getByRole('button', { name: `Rewind to iteration ${goal}` }).focus();
    await page.keyboard.press('Enter');
    await until((snapshot) => [snapshot.error, snapshot.step, snapshot.phase]).toEqual([null, goal, 'paused']);
    await expect.poll(() => alert().count()).toBe(0);
    expect(curve(await ratioscope.snapshot(page))).toEqual(whole(goal));
    await ratioscope.step(page, 2);
    const after = await ratioscope.snapshot(page);
    expect([after.step, after.error, curve(after)]).toEqual([goal + 2, null, whole(goal + 2)]);
    expect(after.report?.updates.every(({ gradNorm }) => Number.isFinite(gradNorm))).toBe(true);
  });
});

describe('a worker that crashes', () => {
  test('is replaced, and the run goes on from the page’s checkpoint', async () => {
    await page.getByRole('button', { name: /^Play/ }).click();
    const before = await waitForStep(page, (await ratioscope.snapshot(page)).step + 2);
    await trainingWorker(page).evaluate(() => {
      setTimeout(() => {
        throw new Error('on purpose');
      });
    });
    await until(({ error }) => error?.kind).toBe('crashed');
    const { error } = await ratioscope.snapshot(page);
    expect([error?.fatal, error?.message.includes('on purpose')]).toEqual([false, true]);
    const after = await waitForStep(page, before.step + 2);
    expect([after.phase, curve(after)]).toEqual(['running', whole(after.step)]);
    expect(page.workers().filter((worker) => /trainer/.test(worker.url()))).toHaveLength(1);
  });
});

describe('a page that sleeps', () => {
  test('goes on when it wakes, an hour later by its clock, at the speed it was given', async () => {
    await ratioscope.config(page, { speed: 1 });
    const before = await waitForStep(page, (await ratioscope.snapshot(page)).step + 1);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
    await trainingWorker(page).evaluate(() => {
      const real = performance.now.bind(performance);
      performance.now = () => real() + 3_600_000;
    });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await cdp.send('Page.setWebLifecycleState', { state: 'active' });
    const woken = await ratioscope.snapshot(page);
    // No hour of iterations is made up for.
    const after = await waitForStep(page, woken.step + 3);
    expect(after.step - before.step).toBeLessThan(20);
    expect([after.phase, after.error?.kind, curve(after)]).toEqual(['running', 'crashed', whole(after.step)]);
    expect(after.report?.ms.total).toBeLessThan(60_000);
    await ratioscope.pause(page);
  });
});
