import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type ViteDevServer } from 'vite';
import { launchChromium, ratioscope } from '../helpers/chromium';

/** The page's controls and states, with an invented worker behind them: no GPU, so each is reached in seconds. */
let browser: Browser;
let server: ViteDevServer;
let context: BrowserContext;

beforeAll(async () => {
  server = await createServer({
    configFile: fileURLToPath(new URL('../visual/vite.config.ts', import.meta.url)),
    server: { port: 0, host: '127.0.0.1', hmr: false },
    logLevel: 'error',
    optimizeDeps: { include: ['react', 'react-dom/client', 'react/jsx-dev-runtime', 'zustand', 'zustand/vanilla', 'recharts', 'katex'] },
  });
  await server.listen();
  browser = await launchChromium({ lack: 'no WebGPU' });
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(query = '', hash = '', options: { width?: number; height?: number } = {}): Promise<Page> {
  const page = await context.newPage();
  if (options.width) await page.setViewportSize({ width: options.width, height: options.height ?? 900 });
  const address = server.httpServer?.address();
  if (!address || typeof address === 'string') throw new Error('the server has no port');
  await page.goto(`http://127.0.0.1:${address.port}/app.html?${query}${hash}`);
  await page.waitForSelector('.app, .no-webgpu');
  return page;
}

const configOf = async (page: Page) => (await ratioscope.snapshot(page)).config;
const stepIs = (page: Page, step: number) => page.waitForFunction((n) => window.ratioscope.snapshot().step === n, step);

describe('keys', () => {
  test('numbers choose objectives, Space plays and pauses, the arrow takes one step, T changes the theme, ? opens help', async () => {
    const page = await open();
    for (const [key, id] of [['2', 'sspo'], ['3', 'gspo'], ['4', 'sppo'], ['1', 'grpo']] as const) {
      await page.keyboard.press(key);
      expect((await configOf(page)).objective).toBe(id);
    }
    await page.keyboard.press('ArrowRight');
    await stepIs(page, 1);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play' }).waitFor();
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
    const before = await theme();
    await page.keyboard.press('t');
    expect(await theme()).not.toBe(before);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').isVisible()).toBe(false);
    await page.close();
  });

  test('keys typed into a field or pressed on a control stay there', async () => {
    const page = await open();
    const seed = page.getByLabel('Seed');
    await seed.fill('42');
    await seed.press('Enter');
    expect(await configOf(page)).toMatchObject({ seed: 42, objective: 'grpo' });
    const grpo = page.getByRole('radio', { name: 'GRPO', exact: true });
    await grpo.focus();
    await page.keyboard.press('ArrowRight');
    expect((await configOf(page)).objective).toBe('sspo');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-checked'))).toBe('true');
    await page.keyboard.press('End');
    expect((await configOf(page)).objective).toBe('sppo');
    expect((await ratioscope.snapshot(page)).step).toBe(0);
    await page.close();
  });
});

describe('clip widths', () => {
  test('move by key on one log axis, low and high together', async () => {
    const page = await open();
    const slider = page.getByRole('slider', { name: 'Token, clip width' });
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    const { clipLowToken, clipHighToken } = await configOf(page);
    expect(clipLowToken).toBeGreaterThan(0.2);
    expect(clipHighToken).toBe(clipLowToken);
    await page.keyboard.press('Home');
    expect((await configOf(page)).clipLowToken).toBe(1e-4);
    expect(await slider.getAttribute('aria-valuetext')).toBe('\u03b5 1e\u22124');
    await page.close();
  });

  test('move by pointer: the handle is where the pointer is', async () => {
    const page = await open();
    const track = page.locator('.eps-track[data-level="sequence"]');
    const box = (await track.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    expect((await configOf(page)).clipLowSequence).toBeCloseTo(0.1, 2);
    await page.close();
  });

  test('split into two sides, and linked again', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'split sides' }).click();
    await page.getByRole('slider', { name: 'Token, width above 1' }).focus();
    await page.keyboard.press('ArrowRight');
    let config = await configOf(page);
    expect(config.clipLowToken).toBe(0.2);
    expect(config.clipHighToken).toBeGreaterThan(0.2);
    await page.getByRole('button', { name: 'link sides' }).click();
    config = await configOf(page);
    expect(config.clipHighToken).toBe(0.2);
    await page.close();
  });

  test('are typed, and held within bounds with a word about it', async () => {
    const page = await open();
    const field = page.getByRole('textbox', { name: 'Token, clip width' });
    await field.fill('3e-4');
    await field.press('Enter');
    expect((await configOf(page)).clipLowToken).toBe(3e-4);
    await field.fill('7');
    await field.press('Enter');
    expect((await configOf(page)).clipLowToken).toBe(1);
    await field.fill('many');
    await field.press('Enter');
    expect((await configOf(page)).clipLowToken).toBe(1);
    await expect.poll(() => page.locator('.field-problem').first().innerText()).toContain('not a number');
    await page.close();
  });
});

describe('changes that need a reset', () => {
  test('wait in mid-run, say so, and are taken or taken back', async () => {
    const page = await open('steps=3');
    await stepIs(page, 3);
    await ratioscope.config(page, { seed: 5 });
    const banner = page.locator('.banner');
    await expect.poll(() => banner.innerText()).toContain('Takes effect on reset: seed 1 \u2192 5');
    await banner.getByRole('button', { name: 'Keep the old' }).click();
    expect((await configOf(page)).seed).toBe(1);
    await ratioscope.config(page, { seed: 6 });
    await banner.getByRole('button', { name: 'Reset now' }).click();
    await stepIs(page, 0);
    expect((await ratioscope.snapshot(page)).inForce?.seed).toBe(6);
    await page.close();
  });

  test('a live change is marked on the reward chart', async () => {
    const page = await open('steps=3');
    await stepIs(page, 3);
    await ratioscope.config(page, { epochs: 4 });
    await expect.poll(() => page.locator('.panel.reward').innerText(), { timeout: 15_000 }).toContain('epochs 1 \u2192 4');
    await page.close();
  });
});

describe('rollouts', () => {
  test('a chosen token holds its batch and opens its numbers; Escape lets go', async () => {
    const page = await open('steps=4', '#preset=squeeze&model=main&seed=1');
    await stepIs(page, 4);
    await page.locator('[data-token]').nth(10).click();
    const inspector = page.locator('.panel.inspector');
    await expect.poll(() => inspector.innerText()).toContain('row 1, token 11');
    await ratioscope.step(page, 2);
    await expect.poll(() => page.locator('.panel.rollouts').innerText()).toContain('step 4');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.panel.rollouts').innerText()).toContain('step 6');
    await expect.poll(() => inspector.innerText()).toContain('GRPO as it runs');
    await page.close();
  });

  test('on a narrower screen the inspector is a drawer', async () => {
    const page = await open('steps=2', '', { width: 1200, height: 850 });
    await stepIs(page, 2);
    expect(await page.locator('.panel.inspector').count()).toBe(0);
    await page.getByRole('button', { name: /why a token is clipped/ }).click();
    await page.locator('.inspector.drawer').waitFor();
    await page.getByRole('button', { name: 'Close the panel' }).click();
    expect(await page.locator('.panel.inspector').count()).toBe(0);
    await page.close();
  });
});

describe('states', () => {
  test('before Play the base policy\u2019s habit can be read, with its verdicts', async () => {
    const page = await open();
    const text = await page.locator('.panel.rollouts').innerText();
    expect(text).toContain('u8+3=11.t2+1=3.31;');
    expect(text).toContain('41');
    await page.close();
  });

  test('compiling shows what and how far', async () => {
    const page = await open('state=compiling');
    const bar = page.getByRole('progressbar');
    await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('40');
    expect(await page.locator('.step-count').innerText()).toContain('Compiling kernels, 12 of 30');
    expect(await page.getByRole('button', { name: 'Play' }).isDisabled()).toBe(true);
    await page.close();
  });

  test('a lost device leaves the history on screen and offers a reset', async () => {
    const page = await open('steps=5&state=lost');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('The GPU was lost.');
    expect((await ratioscope.snapshot(page)).reward.length).toBe(5);
    expect(await page.locator('[data-token]').count()).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'Reset and start again' }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.close();
  });

  test('at the planned end the button runs 30 more', async () => {
    const page = await open('steps=4', '#preset=grpo&model=small&seed=1&totalSteps=4');
    await page.getByRole('button', { name: 'Run 30 more' }).click();
    expect((await configOf(page)).totalSteps).toBe(34);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.close();
  });

  test('without WebGPU the page says what to do', async () => {
    const page = await open('state=none');
    const text = await page.locator('main').innerText();
    for (const word of ['Chrome', 'Edge', 'Safari', 'Firefox', '113', '26', '141', '145']) expect(text).toContain(word);
    expect(await page.getByRole('button', { name: 'Look again' }).isVisible()).toBe(true);
    await page.close();
  });
});

test('the link that is copied holds every setting', async () => {
  const page = await open();
  await ratioscope.config(page, { epochs: 4, seed: 9 });
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('seed=9&epochs=4');
  await page.close();
});

test('at 1440 by 900 nothing scrolls, whatever the objective', async () => {
  for (const preset of ['grpo', 'gspo-paper', 'sspo', 'sppo']) {
    const page = await open('steps=2', `#preset=${preset}&model=main&seed=1`);
    await stepIs(page, 2);
    for (const selector of ['html', '.rail', '.main']) {
      const over = await page.locator(selector).evaluate((element) => element.scrollHeight - element.clientHeight);
      expect(over, `${selector} with ${preset}`).toBeLessThanOrEqual(0);
    }
    await page.close();
  }
});
