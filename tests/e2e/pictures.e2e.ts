import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type ViteDevServer } from 'vite';
import { markRows, shownCompletions } from '../../src/ui/text/marks';
import { tokenWords } from '../../src/ui/text/words';
import { launchChromium } from '../helpers/chromium';
import { fakeBatch } from '../visual/fakeData';

/** The charts and text views alone, on the gallery's invented data: no GPU, no worker, no store. */
let browser: Browser;
let server: ViteDevServer;

beforeAll(async () => {
  server = await createServer({
    configFile: fileURLToPath(new URL('../visual/vite.config.ts', import.meta.url)),
    server: { port: 0, host: '127.0.0.1', hmr: false },
    logLevel: 'error',
    optimizeDeps: { include: ['react', 'react-dom/client', 'react/jsx-dev-runtime', 'zustand', 'zustand/vanilla', 'recharts', 'katex'] },
  });
  await server.listen();
  browser = await launchChromium({ lack: 'no WebGPU' });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(query = '', width = 1440): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const address = server.httpServer?.address();
  if (!address || typeof address === 'string') throw new Error('the server has no port');
  await page.goto(`http://127.0.0.1:${address.port}/?${query}`);
  await page.waitForSelector('.katex');
  await page.waitForFunction(() => [...document.querySelectorAll('canvas')].every((canvas) => canvas.width > 300 || innerWidth < 400));
  return page;
}

/** Pixels of the first canvas as one string: equal strings are equal pictures. */
const picture = (page: Page) => page.locator('canvas').first().evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

/** How many colours the first canvas holds. */
const colours = (page: Page) =>
  page.locator('canvas').first().evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    return new Set(new Uint32Array(data.buffer)).size;
  });

describe('three rulers', () => {
  test('fills its canvas, and paints again when scale or theme changes', async () => {
    const page = await open();
    const first = await picture(page);
    expect(await colours(page)).toBeGreaterThan(50);
    await page.getByRole('button', { name: 'linear' }).click();
    await expect.poll(() => picture(page)).not.toBe(first);
    await page.getByRole('button', { name: 'log', exact: true }).click();
    await expect.poll(() => picture(page)).toBe(first);
    await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'light'));
    await expect.poll(() => picture(page)).not.toBe(first);
    await page.close();
  });

  test('is drawn at the pixel ratio of the screen', async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 2 });
    const page = await context.newPage();
    const address = server.httpServer?.address();
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
    const canvas = page.locator('canvas').first();
    await expect.poll(() => canvas.evaluate((c) => (c as HTMLCanvasElement).width - 2 * Math.round(c.getBoundingClientRect().width))).toBe(0);
    await context.close();
  });

  test('says what will fill it, and why it is flat when every ratio is 1', async () => {
    const empty = await open('view=empty');
    expect(await empty.locator('body').innerText()).toContain('fills while it runs');
    await empty.close();
    const flat = await open('view=flat');
    expect(await flat.locator('body').innerText()).toContain('one update per rollout: every ratio is 1');
    expect(await flat.getByRole('button', { name: 'Set minibatches and epochs' }).isVisible()).toBe(true);
    await flat.close();
  });
});

describe.each(['grpo', 'sspo', 'gspo', 'sppo'])('rollouts under %s', (objective) => {
  test('say of every token what the objectives say of it', async () => {
    const batch = objective === 'sppo' ? fakeBatch(5, objective, 32, 1) : fakeBatch(5, objective, 16, 8);
    const rows = shownCompletions(batch, 0, 8).map((index) => batch.completions[index]).filter((row) => row !== undefined);
    const marks = markRows(batch, rows, batch.config);
    const expected = rows.flatMap((row, i) => row.tokens.map((token, t) => tokenWords(token, marks[i]!.tokens[t]!, marks[i]!, t)));
    expect(expected.some((words) => words.includes('clipped above')) && expected.some((words) => words.includes('clipped below'))).toBe(true);
    const page = await open(`objective=${objective}`);
    const shown = await page.locator('[data-token]').evaluateAll((cells) => cells.map((cell) => cell.getAttribute('aria-label')));
    expect(shown).toEqual(expected);
    await page.close();
  });
});

describe('keys in the rollouts', () => {
  test('arrows, Home and End move focus and choice together; the inspector follows; Escape clears', async () => {
    const page = await open();
    const place = () => page.evaluate(() => {
      const { row, token } = (document.activeElement as HTMLElement).dataset;
      return row === undefined ? null : [Number(row), Number(token)];
    });
    const inspector = page.getByRole('region', { name: 'One token' });
    await page.locator('[data-row="0"][data-token="3"]').click();
    await expect.poll(() => inspector.innerText()).toContain('row 1, token 4 of');
    await page.locator('[data-row="0"][data-token="3"]').focus();
    await page.keyboard.press('ArrowRight');
    expect(await place()).toEqual([0, 4]);
    await page.keyboard.press('ArrowDown');
    expect(await place()).toEqual([1, 4]);
    await expect.poll(() => inspector.innerText()).toContain('row 2, token 5 of');
    await page.keyboard.press('Home');
    expect(await place()).toEqual([1, 0]);
    await page.keyboard.press('ArrowLeft');
    expect(await place()).toEqual([1, 0]);
    expect(await page.locator('[data-token][aria-selected=true]').count()).toBe(1);
    expect(await page.locator('[data-token][tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await page.locator('[data-token][aria-selected=true]').count()).toBe(0);
    await page.close();
  });

  test('steppers change the prompt', async () => {
    const page = await open();
    const before = await page.locator('[data-token]').allInnerTexts();
    await page.getByRole('button', { name: 'Next prompt' }).click();
    await expect.poll(async () => (await page.locator('[data-token]').allInnerTexts()).join('')).not.toBe(before.join(''));
    await page.close();
  });
});

describe('accessibility', () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  test.each(['theme=dark', 'theme=light&objective=sppo', 'theme=light&objective=ppo', 'theme=dark&view=empty', 'theme=dark&view=empty&objective=ppo', 'theme=light&view=phone', 'theme=light&view=flat'])('axe finds nothing serious with %s', async (query) => {
    const page = await open(query, query.includes('phone') ? 390 : 1440);
    await page.evaluate(axe);
    const findings = await page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe.run();
      return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
    });
    expect(findings).toEqual([]);
    await page.close();
  });
});
