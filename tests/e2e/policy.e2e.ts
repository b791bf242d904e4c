import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, ratioscope, serveDist } from '../helpers/chromium';
import { guardOrigin, type Trespasses } from '../helpers/originGuard';

/** The content security policy as the browser enforces it on the built page, and the guard that every other e2e test runs under. */
let browser: Browser;
let page: Page;
let site: { url: string; close: () => void };
let guard: { expected: () => Trespasses };

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  // A guard of its own around the helper's: what is done here on purpose must not fail the browser's close. No foreign address exists.
  guard = guardOrigin(browser);
  page = await browser.newPage();
  const document = await page.goto(site.url);
  expect(document?.headers()['content-security-policy']).toContain("connect-src 'self'");
  await ratioscope.ready(page);
  expect(guard.expected()).toEqual({ foreign: [], blocked: [] });
});

afterAll(async () => {
  // The helper's own guard saw all of it too, and must say so.
  await expect(browser?.close()).rejects.toThrow(/trespassed[\s\S]*example\.invalid/);
  site?.close();
});

/** Runs something in the page and returns what the policy stopped. */
async function violation(code: string): Promise<string[]> {
  const stopped = page.evaluate(
    () => new Promise<string[]>((resolve) => {
      const seen: string[] = [];
      document.addEventListener('securitypolicyviolation', (event) => seen.push(`${event.effectiveDirective} ${event.blockedURI}`));
      setTimeout(() => resolve(seen), 1000);
    }),
  );
  await page.evaluate(code);
  return stopped;
}

describe('the content security policy', () => {
  test.each([
    ['a request to another origin', "void fetch('https://example.invalid/x').catch(() => {})", 'connect-src https://example.invalid/x'],
    ['a picture of another origin', "new Image().src = 'https://example.invalid/x.png'", 'img-src https://example.invalid/x.png'],
    ['a script of another origin', "document.head.append(Object.assign(document.createElement('script'), { src: 'https://example.invalid/x.js' }))", 'script-src-elem https://example.invalid/x.js'],
    ['a script inside the page', "document.head.append(Object.assign(document.createElement('script'), { textContent: 'window.inlined = 1' }))", 'script-src-elem inline'],
    ['an event handler as text', "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.inlined = 1\">')", 'script-src-attr inline'],
    ['text evaluated as code', "document.head.append(Object.assign(document.createElement('script'), { src: URL.createObjectURL(new Blob(['window.inlined = 1'], { type: 'text/javascript' })) }))", 'script-src-elem blob'],
    ['a form sent elsewhere', "document.body.append(Object.assign(document.createElement('form'), { action: 'https://example.invalid/', id: 'f' })), document.getElementById('f').submit()", 'form-action'],
  ])('stops %s', async (_, code, stopped) => {
    const seen = await violation(code);
    expect(seen.filter((what) => what.startsWith(stopped)), seen.join('; ')).not.toEqual([]);
    expect(await page.evaluate(() => (window as unknown as { inlined?: number }).inlined)).toBeUndefined();
  });

  test('lets neither eval nor Function run text, in the page and in the worker', async () => {
    // page.evaluate itself is above the policy; a timer's text is not.
    expect(await violation("setTimeout('window.inlined = 1')")).toContain('script-src eval');
    expect(await page.evaluate(() => (window as unknown as { inlined?: number }).inlined)).toBeUndefined();
    const worker = page.workers().find((candidate) => /trainer\.worker/.test(candidate.url()));
    expect(worker).toBeDefined();
    const reached = await worker!.evaluate(`new Promise((resolve) => {
      setTimeout('self.inlined = 1');
      fetch('https://example.invalid/w').then(() => resolve('fetched'), () => setTimeout(() => resolve(self.inlined ?? 'stopped'), 200));
    })`);
    expect(reached).toBe('stopped');
  });

  test('is noticed by the guard that the other tests run under', () => {
    const { blocked } = guard.expected();
    expect(blocked.some((text) => text.includes('example.invalid'))).toBe(true);
  });
});
