import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { UserError } from '../../src/core/errors';
import { CHROMIUM_ARGS, findChromium } from '../../scripts/lib/chromium.mjs';
import { createStaticServer, listen } from '../../scripts/serve.mjs';
import type { BenchPage } from '../page/main';
import type { CellSpec, Proof, Run, SubjectId } from './types';

type Scripted = { bench: BenchPage };

/** The clock ran out in the named stage. */
export class OverLimit extends Error {
  constructor(readonly stage: string, readonly ms: number) {
    super(`stopped in ${stage} after ${Math.round(ms / 1000)} s`);
  }
}

/** Bundles the page with every library into `outDir`; minified, as a visitor would get it. */
export async function buildPage(root: string, outDir: string): Promise<void> {
  const { build } = await import('vite');
  mkdirSync(outDir, { recursive: true });
  await build({
    root: join(root, 'bench', 'page'),
    configFile: false,
    logLevel: 'error',
    base: './',
    publicDir: join(root, 'public'),
    build: { outDir, emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 5000, reportCompressedSize: false },
  });
}

/**
 * One Chromium and a page for each library, so that one that hangs can be closed without the others.
 * On a machine with a GPU that Chromium offers, that one; else its software adapter.
 */
export class BenchBrowser {
  private browser: Browser | undefined;
  private readonly pages = new Map<SubjectId, Page>();
  private readonly adapters = new Map<SubjectId, string>();
  private server: { url: string; close: () => void } | undefined;
  private software: boolean;
  /** Console errors and exceptions of the page in use, to explain a failure. */
  private problems: string[] = [];

  constructor(private readonly folder: string, forceSoftware: boolean) {
    this.software = forceSoftware;
  }

  async open(): Promise<{ version: string; adapter: string }> {
    const server = createStaticServer({ root: this.folder });
    const port = await listen(server, 0);
    this.server = {
      url: `http://127.0.0.1:${port}/`,
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
    await this.launch();
    let adapter = await this.load('ours', 120_000).catch((error: unknown) => error as Error);
    if (adapter instanceof Error && !this.software) {
      this.software = true;
      await this.relaunch();
      adapter = await this.load('ours', 120_000).catch((error: unknown) => error as Error);
    }
    if (adapter instanceof Error) throw new UserError(`Chromium offers no WebGPU adapter: ${adapter.message}`, 'Try npm test, which says what is missing.');
    return { version: this.browser?.version() ?? '', adapter };
  }

  private async launch(): Promise<void> {
    const executablePath = findChromium();
    if (!executablePath) throw new UserError('No Chromium was found.', 'Run npm test, which installs it or says what to install.');
    const args = this.software ? CHROMIUM_ARGS : [...CHROMIUM_ARGS.filter((arg) => !/swiftshader/.test(arg)), '--enable-features=Vulkan', '--ignore-gpu-blocklist'];
    this.browser = await chromium.launch({ executablePath, headless: true, args: [...args, '--headless=new'] });
  }

  /** Starts afresh: whatever a stopped library left in the GPU process is gone. */
  async relaunch(): Promise<void> {
    const old = this.browser;
    this.browser = undefined;
    this.pages.clear();
    await old?.close().catch(() => {});
    await this.launch();
  }

  /** Closes a library's page after it was stopped; false when it does not let go, and the browser must be started afresh. */
  async drop(id: SubjectId): Promise<boolean> {
    const page = this.pages.get(id);
    this.pages.delete(id);
    if (!page) return true;
    const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), 10_000));
    return Promise.race([page.context().close().then(() => true), late]).catch(() => false);
  }

  /** Opens a library's page once; returns the adapter in its words. */
  async load(id: SubjectId, limitMs: number): Promise<string> {
    const known = this.pages.has(id) ? this.adapters.get(id) : undefined;
    if (known !== undefined) return known;
    const browser = this.browser;
    const server = this.server;
    if (!browser || !server) throw new Error('the browser is not open');
    // The content security policy of our server is for our own page; a peer must not fail by it.
    const page = await (await browser.newContext({ bypassCSP: true })).newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
    page.on('pageerror', (error) => this.problems.push(String(error)));
    this.pages.set(id, page);
    const adapter = await this.within(page, 'loading', limitMs, async () => {
      await page.goto(`${server.url}index.html`);
      await page.waitForFunction(() => 'bench' in globalThis);
      return page.evaluate((subject) => (globalThis as unknown as Scripted).bench.load(subject), id);
    });
    this.adapters.set(id, adapter);
    return adapter;
  }

  openCell(id: SubjectId, cell: CellSpec, limitMs: number): Promise<{ firstMs: number; proof: Proof }> {
    this.problems = [];
    return this.ask(id, limitMs, (page) => page.evaluate((spec) => (globalThis as unknown as Scripted).bench.open(spec), cell));
  }

  run(id: SubjectId, limitMs: number): Promise<Run> {
    return this.ask(id, limitMs, (page) => page.evaluate(() => (globalThis as unknown as Scripted).bench.run()));
  }

  closeCell(id: SubjectId): Promise<void> {
    return this.ask(id, 20_000, (page) => page.evaluate(() => (globalThis as unknown as Scripted).bench.close())).catch(() => {});
  }

  /** What the page complained about since the cell was opened. */
  get complaints(): readonly string[] {
    return this.problems;
  }

  async close(): Promise<void> {
    await this.browser?.close().catch(() => {});
    this.server?.close();
  }

  private async ask<T>(id: SubjectId, limitMs: number, question: (page: Page) => Promise<T>): Promise<T> {
    const page = this.pages.get(id);
    if (!page) throw new Error(`${id} is not loaded`);
    // A page in the background has its timers slowed.
    await page.bringToFront();
    return this.within(page, 'compiling and the first run', limitMs, () => question(page));
  }

  /** Runs out after `limitMs`: the stage is asked for if the page still answers. */
  private async within<T>(page: Page, stage: string, limitMs: number, action: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const started = performance.now();
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), limitMs);
    });
    const running = action();
    running.catch(() => {});
    try {
      const result = await Promise.race([running.then((value) => ({ value })), late]);
      if (result !== 'late') return result.value;
      const asked = page.evaluate(() => (globalThis as unknown as Partial<Scripted>).bench?.stage);
      asked.catch(() => {});
      const silent = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 1000));
      throw new OverLimit((await Promise.race([asked, silent]).catch(() => undefined)) ?? stage, performance.now() - started);
    } finally {
      clearTimeout(timer);
    }
  }
}
