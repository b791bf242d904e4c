import type { Browser, BrowserContext } from 'playwright-core';

const LOOPBACK = /^(https?:\/\/(127\.0\.0\.1|localhost)(:\d+)?\/|data:|blob:|about:)/;

/** What the pages of a browser did that the policy forbids. */
export interface Trespasses {
  /** Requests that would leave this machine. */
  foreign: string[];
  /** What the policy stopped, in the browser's words. */
  blocked: string[];
}

/**
 * Watches every page of a browser from now on, in every context, and lets `close` fail when one of them asked for anything outside
 * this machine or met the content security policy. `expected` reads what was found and forgets it: for the tests of the policy itself.
 */
export function guardOrigin(browser: Browser): { expected: () => Trespasses } {
  let found: Trespasses = { foreign: [], blocked: [] };
  const watchContext = (context: BrowserContext): void => {
    context.on('request', (request) => {
      if (!LOOPBACK.test(request.url())) found.foreign.push(request.url());
    });
    context.on('console', (message) => {
      if (/content security policy/i.test(message.text())) found.blocked.push(message.text());
    });
  };
  const newContext = browser.newContext.bind(browser);
  const newPage = browser.newPage.bind(browser);
  const close = browser.close.bind(browser);
  const seen = new WeakSet<BrowserContext>();
  const once = (context: BrowserContext): void => {
    if (!seen.has(context)) watchContext(context);
    seen.add(context);
  };
  browser.newContext = async (options) => {
    const context = await newContext(options);
    once(context);
    return context;
  };
  browser.newPage = async (options) => {
    const page = await newPage(options);
    once(page.context());
    return page;
  };
  browser.close = async (options) => {
    await close(options);
    const sins = Object.entries(found).flatMap(([kind, list]) => (list as string[]).map((what) => `${kind}: ${what}`));
    if (sins.length > 0) throw new Error(`Pages trespassed against the content security policy:\n${sins.join('\n')}`);
  };
  return {
    expected: () => {
      const before = found;
      found = { foreign: [], blocked: [] };
      return before;
    },
  };
}
