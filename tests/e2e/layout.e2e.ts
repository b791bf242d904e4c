import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium, ratioscope, serveDist, waitForStep, watch } from '../helpers/chromium';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const HASH = '#preset=grpo&model=small&seed=1';

let browser: Browser;
let site: { url: string; close: () => void };

beforeAll(async () => {
  // Under a folder, as on a static host's project page.
  site = await serveDist({ basePath: '/some/deep/path/' });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary: string }[];
}

/** axe's serious and critical findings, in words. */
async function seriousFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the page's policy need not allow it.
  await page.evaluate((await import('node:fs')).readFileSync(AXE, 'utf8'));
  const { violations, passed } = await page.evaluate(async () => {
    const { violations: found, passes } = await (window as unknown as { axe: { run(): Promise<{ violations: Violation[]; passes: unknown[] }> } }).axe.run();
    return { violations: found, passed: passes.length };
  });
  // A run that looked at nothing finds nothing.
  expect(passed).toBeGreaterThan(15);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} (${node.failureSummary.split('\n').slice(1, 2).join('').trim()})`).join(' | ')}`);
}

describe('the built page', () => {
  test.each(['dark', 'light'] as const)('has nothing serious for axe, works from a sub-path and logs no error (%s)', async (colorScheme) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
    const page = await context.newPage();
    const problems = watch(page, site.url);
    await page.goto(site.url + HASH);
    await ratioscope.ready(page);
    await ratioscope.step(page, 2);
    expect(await seriousFindings(page)).toEqual([]);
    expect(problems).toEqual({ errors: [], foreign: [] });
    await context.close();
  });

  test('fits 1440 by 900 without scrolling sideways, and a phone too', async () => {
    for (const [width, height] of [[1440, 900], [1100, 800], [768, 1024], [390, 844], [360, 740]] as const) {
      const page = await browser.newPage({ viewport: { width, height } });
      await page.goto(site.url + HASH);
      await ratioscope.ready(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(overflow, `${width} wide`).toBeLessThanOrEqual(0);
      expect(await page.getByRole('button', { name: /^Play/ }).isVisible(), `Play is on screen at ${width}`).toBe(true);
      await page.close();
    }
  });

  test('a phone runs it: Play at the thumb, large enough to touch', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await page.goto(site.url + HASH);
    await ratioscope.ready(page);
    const button = page.getByRole('button', { name: /^Play/ });
    const box = await button.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
    await button.tap();
    await waitForStep(page, 1);
    expect(await seriousFindings(page)).toEqual([]);
    await context.close();
  });

  test('runs by keyboard alone', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(site.url + HASH);
    await ratioscope.ready(page);
    const tabTo = async (matches: (name: string, role: string) => boolean) => {
      for (let i = 0; i < 80; i++) {
        await page.keyboard.press('Tab');
        const [name, role] = await page.evaluate(() => {
          const element = document.activeElement;
          return [element?.getAttribute('aria-label') ?? element?.textContent ?? '', element?.getAttribute('role') ?? element?.tagName.toLowerCase() ?? ''] as const;
        });
        if (matches(name, role)) return;
      }
      throw new Error('not reached in 80 presses of Tab');
    };
    await tabTo((name, role) => role === 'radio' && /GRPO/.test(name));
    await page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await ratioscope.snapshot(page)).config.objective).toBe('sspo');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await tabTo((name, role) => role === 'button' && /^Play/.test(name));
    const outline = await page.evaluate(() => {
      const style = getComputedStyle(document.activeElement as Element);
      return style.outlineStyle !== 'none' || style.boxShadow !== 'none';
    });
    expect(outline, 'focus is visible').toBe(true);
    await page.keyboard.press('Enter');
    const snapshot = await waitForStep(page, 1);
    expect(snapshot.report?.objective).toBe('sspo');
    await page.close();
  });
});
