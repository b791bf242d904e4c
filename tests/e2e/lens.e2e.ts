import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type ViteDevServer } from 'vite';
import { LIMIT_MS, openInvented, traceDrag } from '../../bench/lensDrag.mjs';
import { parseBatch } from '../../src/lens/batchFile';
import { LensSession } from '../../src/lens/session';
import { lensSettingsOf } from '../../src/lens/settings';
import { percent } from '../../src/ui/theme/numbers';
import { launchChromium, ratioscope, serveDist } from '../helpers/chromium';

/** The lens in real Chromium, with an invented worker behind the page; the drag is traced on the built page. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let server: ViteDevServer;
let context: BrowserContext;

beforeAll(async () => {
  server = await createServer({
    configFile: fileURLToPath(new URL('../visual/vite.config.ts', import.meta.url)),
    server: { port: 0, host: '127.0.0.1', hmr: false },
    logLevel: 'error',
    optimizeDeps: { include: ['react', 'react-dom', 'react-dom/client', 'react/jsx-dev-runtime', 'zustand', 'zustand/vanilla', 'recharts', 'katex'] },
  });
  await server.listen();
  browser = await launchChromium({ lack: 'no WebGPU' });
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'], acceptDownloads: true });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(hash = '#view=lens', options: { width?: number; height?: number; theme?: string; steps?: number; state?: string } = {}): Promise<Page> {
  const page = await context.newPage();
  if (options.width) await page.setViewportSize({ width: options.width, height: options.height ?? 900 });
  const address = server.httpServer?.address();
  if (!address || typeof address === 'string') throw new Error('the server has no port');
  await page.goto(`http://127.0.0.1:${address.port}/app.html?theme=${options.theme ?? 'dark'}&steps=${options.steps ?? 6}&state=${options.state ?? ''}${hash}`);
  return page;
}

const counted = (page: Page) => page.locator('tbody tr').nth(4).waitFor();
const cell = (page: Page, level: string, start: number) => page.locator(`[data-picture="three-rulers"] [data-level="${level}"][data-start="${start}"]`);
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const slider = (page: Page, level: string) => page.locator(`[data-picture="epsilon-curves"] [role=slider][data-level="${level}"]`);

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string }[];
}

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await (window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run()).violations);
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

async function textOf(download: Download): Promise<string> {
  return readFileSync(await download.path(), 'utf8');
}

describe('a frozen batch', () => {
  test('F freezes what is on show, training goes on behind it, and the lens stays on its step', async () => {
    const page = await open('', { state: 'running' });
    await page.waitForFunction(() => window.ratioscope.snapshot().step >= 6);
    await page.keyboard.press('f');
    await counted(page);
    const title = await page.getByText(/^Frozen batch, step \d+$/).innerText();
    const before = (await ratioscope.snapshot(page)).step;
    await page.waitForFunction((step) => window.ratioscope.snapshot().step > step, before);
    expect(await page.getByText(/^Frozen batch, step \d+$/).innerText()).toBe(title);
    expect(await page.getByText(/^Training goes on, step \d+$/).isVisible()).toBe(true);
    await page.close();
  });

  test('is nothing yet before the first iteration: the page says so and offers one', async () => {
    const page = await open('#view=lens', { steps: 0 });
    await page.getByRole('heading', { name: 'No batch under the lens yet' }).waitFor();
    await page.getByRole('button', { name: 'Run one iteration' }).click();
    await counted(page);
    await page.close();
  });
});

describe('the three rulers', () => {
  test('are a grid with words; arrows move inside it and between levels', async () => {
    const page = await open();
    await counted(page);
    const grid = page.getByRole('grid', { name: 'Sequence, subsentences and tokens of one answer' });
    expect(await grid.getByRole('row').count()).toBe(3);
    const labels = await grid.getByRole('gridcell').evaluateAll((cells) => cells.map((element) => element.getAttribute('aria-label') ?? ''));
    expect(labels.length).toBeGreaterThan(10);
    expect(labels.filter((label) => !/ratio \d/.test(label))).toEqual([]);
    await cell(page, 'token', 2).click();
    await cell(page, 'token', 2).focus();
    await page.keyboard.press('ArrowRight');
    const focused = () => page.evaluate(() => { const { level, start } = (document.activeElement as HTMLElement).dataset; return [level, Number(start)]; });
    expect(await focused()).toEqual(['token', 3]);
    await page.keyboard.press('ArrowUp');
    expect((await focused())[0]).toBe('segment');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toEqual(['sequence', 0]);
    // The token, its subsentence and the sequence are chosen together.
    expect(await grid.locator('[aria-selected="true"]').evaluateAll((cells) => cells.map((element) => (element as HTMLElement).dataset['level']))).toEqual(['sequence', 'segment', 'token']);
    await page.close();
  });

  test('a token that is moved by key dilutes: its subsentence moves by 1/length of it', async () => {
    const page = await open();
    await counted(page);
    await cell(page, 'token', 1).click();
    const handle = page.getByRole('slider', { name: /^Log ratio of/ });
    const log = async () => Number(await handle.getAttribute('aria-valuenow'));
    const segment = page.locator('[data-picture="three-rulers"] [data-level="segment"][aria-selected="true"]');
    const ratioOf = async () => Number(/ratio ([\d.]+)/.exec((await segment.getAttribute('aria-label')) ?? '')?.[1]);
    const [before, ratioBefore] = [await log(), await ratioOf()];
    const length = Number(await segment.getAttribute('data-end')) - Number(await segment.getAttribute('data-start'));
    await handle.focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('PageUp');
    expect((await log()) - before).toBeCloseTo(1, 3);
    expect(Math.log((await ratioOf()) / ratioBefore)).toBeCloseTo(1 / length, 2);
    await page.getByRole('button', { name: 'Put back' }).first().click();
    expect(await log()).toBeCloseTo(before, 6);
    await page.close();
  });

  test('cuts are edited on the text, by key as well', async () => {
    const page = await open();
    await counted(page);
    const segments = page.locator('[data-picture="three-rulers"] [data-level="segment"]');
    const before = await segments.count();
    await page.getByRole('button', { name: 'Edit cuts' }).click();
    const cut = page.locator('[data-cut="2"]');
    expect(await cut.getAttribute('aria-checked')).toBe('false');
    await cut.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => segments.count()).toBe(before + 1);
    expect(await cut.getAttribute('aria-checked')).toBe('true');
    await page.close();
  });
});

describe('widths', () => {
  test('a key on a slider moves every number; a link brings the settings back', async () => {
    const page = await open();
    await counted(page);
    const gspo = () => page.locator('tbody tr', { hasText: 'GSPO' }).first().innerText();
    const before = await gspo();
    await slider(page, 'sequence').focus();
    await page.keyboard.press('End');
    await expect.poll(gspo).not.toBe(before);
    await page.getByRole('radio', { name: 'every n tokens' }).click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toContain('view=lens');
    const other = await open(link.slice(link.indexOf('#')));
    await counted(other);
    expect(await slider(other, 'sequence').getAttribute('aria-valuenow')).toBe('1');
    expect(await other.getByRole('radio', { name: 'every n tokens' }).getAttribute('aria-checked')).toBe('true');
    await other.close();
    await page.close();
  });

  test('M matches: token objectives come to the target, and the page says how near whole units come', async () => {
    const page = await open();
    await counted(page);
    await page.keyboard.press('m');
    await page.getByText(/^matched at 2/).waitFor();
    const share = await page.locator('tbody tr', { hasText: 'GRPO' }).first().locator('td').nth(3).innerText();
    expect(Math.abs(Number.parseFloat(share) - 2)).toBeLessThanOrEqual(0.2);
    await page.close();
  });
});

describe('files', () => {
  test('the batch goes out and comes back the same; the CSV is the table that the lens counts', async () => {
    const page = await open();
    await counted(page);
    const save = async (name: string): Promise<string> => {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return textOf(download);
    };
    const jsonl = await save('Batch as JSONL');
    const { source } = parseBatch(jsonl);
    await page.keyboard.press('Escape');
    const csv = await save('Table as CSV');
    const table = new LensSession(source).answer(lensSettingsOf(source.record.config), { table: true }).table ?? [];
    const grpo = table.find((row) => row.objective === 'grpo');
    const [head = '', ...lines] = csv.split('\r\n');
    const column = head.split(',').indexOf('clippedTokens');
    const line = lines.find((text) => text.startsWith('grpo,in force'));
    expect(Number(line?.split(',')[column])).toBe(grpo?.metrics.clippedTokens);
    expect(await page.locator('tbody tr', { hasText: 'GRPO' }).first().locator('td').nth(3).innerText()).toBe(percent(grpo?.metrics.clippedTokens));
    await page.locator('input[type=file]').first().setInputFiles({ name: 'again.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(jsonl) });
    await page.getByText('Frozen batch, from a file').waitFor();
    await page.locator('input[type=file]').first().setInputFiles({ name: 'bad.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from('{"format":"x"}\n') });
    await page.getByRole('alert').waitFor();
    await page.close();
  });

  test('each picture is saved as an SVG that stands alone and as a PNG', async () => {
    const page = await open();
    await counted(page);
    for (const name of ['three rulers', 'epsilon curves', 'length scaling', 'histograms']) {
      if (name === 'histograms') await tab(page, 'Histograms').click();
      const [svg] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Save ${name} as SVG` }).click()]);
      const text = await textOf(svg);
      expect(text.startsWith('<svg xmlns=')).toBe(true);
      expect(/var\(--|class=|href="http/.exec(text)?.[0] ?? null).toBe(null);
      const [png] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Save ${name} as PNG` }).click()]);
      const bytes = readFileSync(await png.path());
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      expect(bytes.length).toBeGreaterThan(4000);
    }
    await page.close();
  });
});

describe('answers', () => {
  test('are filtered, searched, sorted and stepped through by arrows; only those in sight are drawn', async () => {
    const page = await open();
    await counted(page);
    await tab(page, 'Answers').click();
    await page.getByRole('radio', { name: 'all prompts' }).click();
    const grid = page.getByRole('grid', { name: /^Answers/ });
    const total = Number(await grid.getAttribute('aria-rowcount'));
    expect(total).toBe(32);
    expect(await grid.getByRole('row').count()).toBeLessThan(total);
    await page.getByRole('radio', { name: 'wrong' }).click();
    const wrong = Number(await grid.getAttribute('aria-rowcount'));
    await page.getByRole('radio', { name: 'right' }).click();
    expect(wrong + Number(await grid.getAttribute('aria-rowcount'))).toBe(total);
    await page.getByRole('radio', { name: 'all', exact: true }).click();
    await page.getByRole('searchbox').fill('no such text');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('0');
    await page.getByRole('searchbox').fill('');
    await grid.focus();
    await page.keyboard.press('Home');
    const first = await grid.getAttribute('aria-activedescendant');
    await page.keyboard.press('End');
    expect(await grid.getAttribute('aria-activedescendant')).not.toBe(first);
    expect(await grid.locator('[aria-selected="true"]').isVisible()).toBe(true);
    await page.close();
  });
});

describe.each(['dark', 'light'])('in %s', (theme) => {
  test('axe finds nothing serious on any tab', async () => {
    const page = await open('#view=lens', { theme });
    await counted(page);
    expect(await seriousFindings(page)).toEqual([]);
    for (const [lower, side] of [['This token', 'Histograms'], ['Answers', 'What if']] as const) {
      await tab(page, lower).click();
      await tab(page, side).click();
      await page.waitForTimeout(300);
      expect(await seriousFindings(page), `${lower}, ${side}`).toEqual([]);
    }
    await page.close();
  });

  test('fits its screens without scrolling sideways', async () => {
    for (const [width, height] of [[1920, 1080], [1440, 900], [1100, 800], [768, 1024], [390, 844], [360, 740]] as const) {
      const page = await open('#view=lens', { theme, width, height });
      await counted(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), `${width} wide`).toBeLessThanOrEqual(0);
      if (width < 500) expect(await seriousFindings(page)).toEqual([]);
      await page.close();
    }
  });
});

describe('a drag over 128 answers of 64 tokens', () => {
  test(`keeps every task of the built page's main thread under ${LIMIT_MS} ms of its own time, and the table follows`, async () => {
    const site = await serveDist();
    const chromium = await launchChromium();
    try {
      const page = await chromium.newPage({ viewport: { width: 1440, height: 900 } });
      await page.goto(`${site.url}#preset=grpo&model=small&seed=1`);
      await ratioscope.ready(page);
      await openInvented(page);
      const { longestThreadMs, tasks, tableRepaints } = await traceDrag(chromium, page, 40);
      expect(tasks).toBeGreaterThan(100);
      expect(tableRepaints).toBeGreaterThan(3);
      expect(longestThreadMs).toBeLessThan(LIMIT_MS);
    } finally {
      await chromium.close();
      site.close();
    }
  });
});
