import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../helpers/axe';
import { launchChromium, ratioscope, serveDist, waitForStep, watch, type PageProblems } from '../helpers/chromium';

/** A person writes GRPO by hand in the real page, trains with it, shares it and looks at its kernel. The tests build on each other. */
let browser: Browser;
let page: Page;
let problems: PageProblems;
let site: { url: string; close: () => void };

const START = 'preset=grpo&model=small&seed=5&totalSteps=2&prompts=8&evalEvery=0';
const TYPED = `title "Mine"
level token
param clipLow = 0.2 in 0..1;
param clipHigh = 0.2 in 0..1;
param scale = 1 in 0.5..2 step 0.5 "A factor on everything";
let surrogate = min(ratio * adv, clip(ratio, 1 - clipLow, 1 + clipHigh) * adv);
-scale * surrogate`;

const editor = () => page.getByRole('textbox', { name: 'Text of the objective' });
const dialog = () => page.getByRole('dialog', { name: 'Write your own objective' });

/** Types as a person does, but pastes what is long, so that brackets are not closed twice. */
async function write(text: string) {
  await editor().click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** By the attribute: the page's own switch lies behind the dialog. */
const otherTheme = () => page.evaluate(() => {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === 'light' ? 'dark' : 'light';
});

const report = async () => (await ratioscope.snapshot(page)).report;

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  problems = watch(page, site.url);
  await page.goto(`${site.url}#${START}`);
  await ratioscope.ready(page);
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('an objective of one\u2019s own', () => {
  let builtIn: Awaited<ReturnType<typeof report>>;

  test('begins with what the built-in gives, to compare with', async () => {
    await ratioscope.step(page, 2);
    builtIn = await report();
    expect(builtIn?.objective).toBe('grpo');
  });

  test('says at the place what is wrong, while it is typed', async () => {
    await page.getByRole('combobox', { name: 'More', exact: true }).selectOption({ label: 'write your own' });
    await expect.poll(() => editor().isVisible()).toBe(true);
    await write(TYPED.replace('ratio * adv,', 'ratoi * adv,'));
    await expect.poll(() => dialog().getByRole('alert').innerText()).toMatch(/Line 6, column 21: there is no name “ratoi”\.\s*Did you mean ratio\?/);
    await expect.poll(() => dialog().locator('.cm-lintRange-error').innerText()).toBe('ratoi');
    expect(await dialog().getByRole('button', { name: 'Use' }).isDisabled()).toBe(true);
  });

  test('completes names', async () => {
    await write('-seg');
    await page.keyboard.type('R');
    await expect.poll(() => page.locator('.cm-tooltip-autocomplete').innerText()).toContain('segRatio');
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await page.getByRole('option', { name: /segRatio/ }).click();
    await expect.poll(() => editor().innerText()).toBe('-segRatio');
  });

  test('is checked on the spot: finite, exact gradient, GPU against CPU', async () => {
    await write(TYPED);
    await expect.poll(() => dialog().getByTestId('verdicts').locator('li[data-ok=true]').count(), { timeout: 30_000 }).toBe(3);
    const words = await dialog().getByTestId('verdicts').innerText();
    expect(words).toMatch(/central differences: 14 tokens, largest difference/);
    expect(words).toMatch(/GPU against CPU: 14 tokens/);
    expect(await dialog().locator('.katex').count()).toBeGreaterThan(1);
  });

  test('the editor is accessible: axe finds nothing with a good text, with a bad one, in the other theme and on a phone', async () => {
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await write('-ratoi * adv');
    await expect.poll(() => dialog().getByRole('alert').isVisible()).toBe(true);
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await write(TYPED);
    await expect.poll(() => dialog().getByTestId('verdicts').locator('li[data-ok=true]').count(), { timeout: 30_000 }).toBe(3);
    await otherTheme();
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await otherTheme();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('exports what was typed', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), dialog().getByRole('button', { name: 'Export' }).click()]);
    expect(readFileSync(await download.path(), 'utf8')).toBe(TYPED);
  });

  test('trains, and equals the built-in that it imitates to the last bit', async () => {
    await dialog().getByRole('button', { name: 'Use' }).click();
    await expect.poll(() => page.getByRole('heading', { name: 'Mine as it runs' }).isVisible()).toBe(true);
    await ratioscope.reset(page);
    await ratioscope.step(page, 2);
    const own = await report();
    expect(own?.objective).toMatch(/^custom:[0-9a-f]{16}$/);
    const numbers = (r: typeof own) => r?.updates.map((u) => [u.gradNorm, u.metrics.loss, u.metrics.clippedTokens, u.metrics.absCoefficientSum, u.metrics.k3]);
    expect(numbers(own)).toEqual(numbers(builtIn));
    expect(own?.reward).toBe(builtIn?.reward);
  });

  test('its parameter is a slider that takes effect without a reset', async () => {
    const slider = page.getByRole('slider', { name: 'scale, slider' });
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await ratioscope.step(page, 1);
    const snapshot = await waitForStep(page, 3);
    expect(snapshot.inForce?.customParameters).toBe('scale=1.5');
  });

  test('shows the kernel that runs', async () => {
    await page.getByRole('button', { name: 'Show the kernel' }).click();
    const kernel = page.getByRole('dialog', { name: 'The kernel of Mine' });
    await expect.poll(() => kernel.getByTestId('wgsl').innerText(), { timeout: 30_000 }).toContain('let surrogate_ = ');
    expect(await kernel.getByTestId('wgsl').innerText()).toContain('@compute');
    expect(await kernel.getByTestId('kernel-check').innerText()).toContain('They agree');
    expect(await kernel.innerText()).toContain('loss = -scale * surrogate;');
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await otherTheme();
    expect(await axeFindings(page, 'dialog[open]')).toEqual([]);
    await otherTheme();
    await page.keyboard.press('Escape');
    await expect.poll(() => kernel.count()).toBe(0);
  });

  test('travels by its address, and a bad one is refused in words', async () => {
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('customParameters=scale%3D1.5');
    const hash = await page.evaluate(() => location.hash);
    const other = await browser.newPage();
    try {
      await other.goto(`${site.url}${hash}`);
      await ratioscope.ready(other);
      const { inForce } = await ratioscope.snapshot(other);
      expect([inForce?.customObjective, inForce?.customParameters]).toEqual([TYPED, 'scale=1.5']);
      await other.goto('about:blank');
      await other.goto(`${site.url}#${START}&objective=custom&customObjective=${encodeURIComponent('-exp(ratio * 1e9)')}`);
      await ratioscope.ready(other);
      expect((await ratioscope.snapshot(other)).inForce?.objective).toBe('grpo');
      expect(await other.locator('.notices').innerText()).toContain('Your objective was refused');
    } finally {
      await other.close();
    }
  });

  test('stands in the lens with its curve over epsilon, at the widths in force', async () => {
    await page.keyboard.press('f');
    const picture = page.locator('[data-picture="epsilon-curves"]');
    const share = async (name: string) => (await picture.locator('text').allTextContents()).map((text) => new RegExp(`^${name} \\.2, (none|[\\d.]+%)$`).exec(text)?.[1]).find(Boolean);
    await expect.poll(() => share('GRPO and Mine'), { timeout: 30_000 }).toBeTruthy();
    await expect.poll(() => picture.locator('path[class*=typed]').count()).toBe(1);
  });

  test('nothing else went wrong', () => {
    expect(problems).toEqual({ errors: [], foreign: [] });
  });
});
