import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type ViteDevServer } from 'vite';
import { wilsonInterval } from '../../src/core/statistics';
import { valueLineWords } from '../../src/ui/text/valueLine';
import { fraction, significant } from '../../src/ui/theme/numbers';
import { launchChromium, ratioscope, serveDist } from '../helpers/chromium';

/** What is to be seen of the critics: on the page with an invented worker, then on the built page with PPO at work. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
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
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(query: string, width = 1440, height = 900): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height } });
  const address = server.httpServer?.address();
  if (!address || typeof address === 'string') throw new Error('the server has no port');
  await page.goto(`http://127.0.0.1:${address.port}/app.html?${query}`);
  await page.waitForSelector('.app');
  return page;
}

/** A run of so many invented iterations. */
async function trained(preset: string, steps: number, width?: number, height?: number): Promise<Page> {
  const page = await open(`theme=dark#preset=${preset}&model=small`, width, height);
  await ratioscope.ready(page);
  await ratioscope.step(page, steps);
  return page;
}

const critic = (page: Page) => page.getByRole('region', { name: 'Critic' });
const showCritic = (page: Page) => page.getByRole('radio', { name: 'Critic' }).click();
/** Where the four panels stand. */
const places = (page: Page) => page.locator('main .panel').evaluateAll((panels) => panels.map((panel) => JSON.stringify(panel.getBoundingClientRect())));

describe('the critic panel', () => {
  test('tells of SPPO what the reports say, bin by bin', async () => {
    const page = await trained('sppo', 12);
    await showCritic(page);
    const { report } = await ratioscope.snapshot(page);
    const { bins, answers, pearson, spearman } = report!.critic!.calibration;
    await expect.poll(() => critic(page).innerText()).toContain(`Pearson ${fraction(pearson)}, Spearman ${fraction(spearman)}`);
    expect(await critic(page).innerText()).toContain(`${answers} answers, last 10 iterations`);
    const rows = await critic(page).locator('tbody tr').evaluateAll((lines) => lines.map((line) => [...line.children].map((cell) => cell.textContent)));
    expect(rows).toEqual(bins.map((bin) => {
      const { low, high } = wilsonInterval(bin.successRate * bin.count, bin.count);
      return [`${fraction(bin.from, 1)} to ${fraction(bin.to, 1)}`, String(bin.count), fraction(bin.meanValue), fraction(bin.successRate), `${fraction(low)} to ${fraction(high)}`];
    }));
    expect(await critic(page).locator('circle').count()).toBe(bins.length);
    expect(await critic(page).getByRole('img', { name: /^Value loss, nats/ }).getAttribute('aria-label')).toContain(`now ${significant(report!.critic!.loss)}`);
    // It reads no answer, so there is no line along one.
    expect(await critic(page).getByRole('img', { name: /^V along the answer/ }).count()).toBe(0);
    await page.close();
  });

  test('switches the baseline while it runs, and says when no critic is trained', async () => {
    const page = await trained('sppo', 3);
    await showCritic(page);
    for (const [label, baseline, words] of [['batch mean', 'batchMean', 'the mean reward of the batch'], ['zero', 'zero', 'zero']] as const) {
      await page.getByRole('radiogroup', { name: 'Baseline' }).getByRole('radio', { name: label }).click();
      await expect.poll(() => critic(page).innerText()).toContain(`Baseline: ${words}. No critic is trained. It last learnt in iteration 3`);
      expect((await ratioscope.snapshot(page)).config.baseline).toBe(baseline);
      await ratioscope.step(page, 1);
      expect((await ratioscope.snapshot(page)).report?.critic).toBeNull();
    }
    await page.getByRole('radio', { name: 'learned V(prompt)' }).click();
    await ratioscope.step(page, 1);
    const { critic: curves } = await ratioscope.snapshot(page);
    expect(curves.prompt.loss.map((point) => point.step)).toEqual([1, 2, 3, 6]);
    await expect.poll(() => critic(page).locator('figure').count()).toBe(3);
    await page.close();
  });

  test('moves no panel: not with the objective, not with its opening, not with what fills it', async () => {
    const page = await trained('grpo', 2);
    await page.evaluate(() => document.fonts.ready);
    const before = await places(page);
    expect(before).toHaveLength(4);
    for (const objective of ['sppo', 'ppo'] as const) {
      await page.evaluate((id) => window.ratioscope.config({ objective: id, groupSize: 1 }), objective);
      expect(await places(page)).toEqual(before);
      await showCritic(page);
      expect(await places(page)).toEqual(before);
      await ratioscope.step(page, 2);
      await expect.poll(() => critic(page).innerText()).toContain('last 2 iterations');
      expect(await places(page)).toEqual(before);
      await page.getByRole('radio', { name: 'Formula' }).click();
    }
    await page.evaluate(() => window.ratioscope.config({ objective: 'grpo', groupSize: 8 }));
    expect(await page.getByRole('radio', { name: 'Critic' }).count()).toBe(0);
    expect(await places(page)).toEqual(before);
    await page.close();
  });

  test('opens by keyboard, and axe finds nothing serious in either theme or on the phone', async () => {
    const page = await trained('ppo', 4);
    await page.getByRole('radio', { name: 'Formula' }).focus();
    await page.keyboard.press('ArrowRight');
    await critic(page).waitFor();
    expect(await page.getByRole('radio', { name: 'Critic' }).evaluate((radio) => radio === document.activeElement)).toBe(true);
    const serious = async (on: Page) => {
      await on.evaluate(AXE);
      return on.evaluate(async () => {
        const { violations } = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe.run();
        return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
      });
    };
    expect(await serious(page)).toEqual([]);
    await page.keyboard.press('t');
    expect(await serious(page)).toEqual([]);
    await page.close();
    const phone = await trained('ppo', 4, 390, 844);
    await phone.getByRole('button', { name: 'Critic', exact: true }).click();
    await critic(phone).waitFor();
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await serious(phone)).toEqual([]);
    await phone.close();
  });
});

test('V stands under every token at its height, can be switched off, and follows the chosen token into the inspector', async () => {
  const page = await trained('ppo', 2);
  const { batch } = await ratioscope.snapshot(page);
  const [row] = (batch as { completions: { values: number[]; advantages: number[] }[] }).completions;
  const line = page.getByRole('gridcell', { name: /^V before each token/ });
  expect(await line.count()).toBe(8);
  expect(await line.first().getAttribute('aria-label')).toBe(valueLineWords(row!.values));
  const cell = page.locator('[data-row="0"][data-token="5"]');
  expect(await cell.getAttribute('aria-label')).toContain(`V ${fraction(row!.values[5])}`);
  await cell.click();
  const dot = line.first().locator('i');
  const [at, under, box] = [await dot.boundingBox(), await cell.boundingBox(), await line.first().boundingBox()];
  expect(Math.abs(at!.x + at!.width / 2 - (under!.x + under!.width / 2))).toBeLessThan(1.5);
  expect(Math.abs(box!.y + box!.height - (at!.y + at!.height / 2) - box!.height * row!.values[5]!)).toBeLessThan(1.5);
  const inspector = page.getByRole('region', { name: 'One token' });
  await expect.poll(() => inspector.innerText()).toContain('TD error');
  const terms = await inspector.locator('dl').nth(1).locator('dd').allInnerTexts();
  expect(terms.slice(0, 2)).toEqual([fraction(row!.values[5]), fraction(row!.values[6])]);
  await page.getByRole('button', { name: 'V line under the text' }).click();
  expect(await line.count()).toBe(0);
  await page.close();
});

test('the lens speaks of the chosen token\u2019s own advantage, not of the answer\u2019s mean', async () => {
  const page = await trained('ppo', 2);
  const { batch } = await ratioscope.snapshot(page);
  const { completions } = batch as { completions: { tokens: string[]; advantages: number[]; advantage: number }[] };
  // The telling answer is one whose tokens differ in sign from its mean.
  const answer = completions.findIndex(({ advantage, advantages }) => advantages.some((a) => a * advantage < 0));
  const token = completions[answer]!.advantages.findIndex((a) => a * completions[answer]!.advantage < 0);
  await page.getByRole('button', { name: /Freeze this batch/ }).click();
  const panel = page.getByRole('region', { name: 'One answer on three rulers' });
  await panel.waitFor();
  await page.getByRole('combobox', { name: 'Order of answers' }).selectOption('batch');
  const stepper = panel.getByRole('group', { name: 'answer' });
  const shown = async () => Number(/(\d+) of/.exec(await stepper.innerText())?.[1]) - 1;
  while ((await shown()) !== answer) await stepper.getByRole('button', { name: (await shown()) > answer ? 'Previous answer' : 'Next answer' }).click();
  // Keys belong to the list until it is left.
  await panel.getByRole('heading').click();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (let t = completions[answer]!.tokens.length; t > 0; t--) await page.keyboard.press('ArrowLeft');
  for (let t = 0; t < token; t++) await page.keyboard.press('ArrowRight');
  const text = await panel.innerText();
  expect(text).toContain('mean advantage');
  expect(text).toContain(`With a ${completions[answer]!.advantage < 0 ? 'positive' : 'negative'} advantage`);
  await page.close();
});

test('the built page shows what the critic of PPO has learnt while it trains', async () => {
  const site = await serveDist({});
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${site.url}#preset=ppo&model=small&seed=1&prompts=16&evalEvery=0`);
  await ratioscope.ready(page);
  await ratioscope.step(page, 3);
  await showCritic(page);
  const { report, batch, critic: curves } = await ratioscope.snapshot(page);
  expect(report?.critic?.level).toBe('token');
  expect(curves.token.loss.map((point) => point.step)).toEqual([1, 2, 3]);
  await expect.poll(() => critic(page).innerText()).toContain('48 answers, last 3 iterations');
  const [row] = (batch as { completions: { tokens: string[]; values: number[]; advantages: number[] }[] }).completions;
  expect([row!.values.length, row!.advantages.length]).toEqual([row!.tokens.length, row!.tokens.length]);
  // The rollouts repaint by their own clock.
  await expect.poll(() => page.getByRole('gridcell', { name: /^V before each token/ }).first().getAttribute('aria-label')).toBe(valueLineWords(row!.values));
  expect(await critic(page).getByRole('img', { name: /^V along the answer/ }).getAttribute('aria-label')).toMatch(/mean V [\u2212.\d]+ before the first token/);
  await page.close();
  site.close();
});
