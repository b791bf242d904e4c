import { appendFileSync } from 'node:fs';
import type { RunConfig } from '../../src/config/runConfig';
import type { Server } from 'node:http';
import { dirname, join } from 'node:path';
import { chromium, type Browser, type Page, type Worker } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../../scripts/lib/chromium.mjs';
import { createStaticServer, listen } from '../../scripts/serve.mjs';
import type { RatioscopeApi, Snapshot } from '../../src/store/api';
import { guardOrigin } from './originGuard';

/** Without WebGPU at all (an old browser), or with `navigator.gpu` that has no adapter to give (a blocked GPU). */
export type Lack = 'no WebGPU' | 'no adapter';

/** The browser in which the e2e tests run; missing Chromium is a failure, never a skip. Its `close` fails when a page left its origin (originGuard.ts). */
export async function launchChromium({ lack }: { lack?: Lack } = {}): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('No Chromium found: run npm test, which installs it or says what to install.');
  const args = lack ? CHROMIUM_ARGS.filter((arg) => !/webgpu|swiftshader/.test(arg)) : [...CHROMIUM_ARGS];
  if (lack === 'no WebGPU') args.push('--disable-features=WebGPU,WebGPUService');
  // Full Chromium in its own headless mode: Playwright's default would pick the headless shell's flags.
  const browser = await chromium.launch({ executablePath, headless: true, args: [...args, '--headless=new'] });
  if (!lack) await requireAdapter(browser);
  guardOrigin(browser);
  return browser;
}

async function requireAdapter(browser: Browser): Promise<void> {
  const { url, close } = await serveDist();
  const page = await browser.newPage();
  try {
    // A page of the origin without our scripts: navigator.gpu exists in secure contexts only.
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>adapter</title>' }));
    await page.goto(url);
    const adapter = await page.evaluate(async () => {
      const gpu = (navigator as unknown as { gpu?: GPU }).gpu;
      const info = (await gpu?.requestAdapter())?.info;
      return info ? [info.vendor, info.architecture, info.description].filter(Boolean).join(' / ') : null;
    });
    if (adapter === null) throw new Error('Chromium offers no WebGPU adapter: the e2e tests cannot prove anything without one.');
    const log = process.env.RATIOSCOPE_GPU_LOG;
    if (log) appendFileSync(join(dirname(log), 'browser.txt'), `${adapter}\n`);
  } finally {
    await page.close();
    close();
  }
}

/** Serves the built page at a free port of the loopback address. `url` ends in '/'. */
export async function serveDist({ basePath = '/', root }: { basePath?: string; root?: string } = {}): Promise<{ url: string; close: () => void }> {
  const server: Server = createStaticServer(root ? { root, basePath } : { basePath });
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What went wrong in a page without anyone asking. */
export interface PageProblems {
  /** Console errors and uncaught exceptions. */
  errors: string[];
  /** Requests to any other origin. */
  foreign: string[];
}

/** Collects a page's problems from now on; call before `goto`. */
export function watch(page: Page, origin: string): PageProblems {
  const problems: PageProblems = { errors: [], foreign: [] };
  page.on('console', (message) => {
    if (message.type() === 'error') problems.errors.push(message.text());
  });
  page.on('pageerror', (error) => problems.errors.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(new URL(origin).origin) && !/^(data|blob):/.test(url)) problems.foreign.push(url);
  });
  return problems;
}

type Scripted = Window & { ratioscope: RatioscopeApi };

/** `window.ratioscope` from outside, without page-side functions in every test. */
export const ratioscope = {
  ready: (page: Page) => page.evaluate(() => (window as unknown as Scripted).ratioscope.ready),
  snapshot: (page: Page): Promise<Snapshot> => page.evaluate(() => (window as unknown as Scripted).ratioscope.snapshot()),
  step: (page: Page, n: number) => page.evaluate((count) => (window as unknown as Scripted).ratioscope.step(count), n),
  pause: (page: Page) => page.evaluate(() => (window as unknown as Scripted).ratioscope.pause()),
  reset: (page: Page) => page.evaluate(() => (window as unknown as Scripted).ratioscope.reset()),
  config: (page: Page, patch: Record<string, unknown> = {}) => page.evaluate((p) => (window as unknown as Scripted).ratioscope.config(p as Partial<RunConfig>), patch),
};

/** Waits until the run has finished at least `step` iterations. */
export async function waitForStep(page: Page, step: number, timeout = 120_000): Promise<Snapshot> {
  await page.waitForFunction((wanted) => (window as unknown as Scripted).ratioscope.snapshot().step >= wanted, step, { timeout, polling: 250 });
  return ratioscope.snapshot(page);
}

/** What the code that `instrumentWorker` puts before the worker's own keeps. */
interface Instrumented {
  ratioscopeDevices: GPUDevice[];
  ratioscopeCreated: Record<string, number>;
}

/**
 * Puts a few lines before the training worker's own script, so that a test can count the GPU objects made inside it and
 * can take its device away. Call before `goto`.
 */
export async function instrumentWorker(page: Page): Promise<void> {
  const prelude = `
    self.ratioscopeDevices = [];
    self.ratioscopeCreated = {};
    if (typeof GPUDevice !== 'undefined') {
      for (const name of Object.getOwnPropertyNames(GPUDevice.prototype).filter((n) => n.startsWith('create') && n !== 'createCommandEncoder')) {
        const original = GPUDevice.prototype[name];
        GPUDevice.prototype[name] = function (...args) {
          self.ratioscopeCreated[name] = (self.ratioscopeCreated[name] ?? 0) + 1;
          return original.apply(this, args);
        };
      }
      const requestDevice = GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (...args) {
        const device = await requestDevice.apply(this, args);
        self.ratioscopeDevices.push(device);
        return device;
      };
    }
  `;
  await page.route(/assets\/[^/]*worker[^/]*\.js$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: prelude + (await response.text()) });
  });
}

/** The training worker of a page. */
export function trainingWorker(page: Page): Worker {
  const worker = page.workers().find((candidate) => /worker/.test(candidate.url()));
  if (!worker) throw new Error('the page has no training worker');
  return worker;
}

/** GPU objects made in the worker so far, by kind. */
export const gpuObjects = (page: Page): Promise<Record<string, number>> =>
  trainingWorker(page).evaluate(() => ({ ...(globalThis as unknown as Instrumented).ratioscopeCreated }));

/** Destroys the worker's devices behind its back. */
export const loseDevice = (page: Page): Promise<void> =>
  trainingWorker(page).evaluate(() => {
    for (const device of (globalThis as unknown as Instrumented).ratioscopeDevices) device.destroy();
  });
