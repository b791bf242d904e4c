import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type BrowserServer, type Page } from 'playwright-core';
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

interface Instance {
  server: BrowserServer;
  page: Page;
  /** As the library names it; set once it is loaded. */
  adapter?: string;
}

/**
 * A Chromium for each library, all of the same build on the same adapter: the GPU process of one that hangs is killed
 * with it, and what it left in the queue delays nobody. On a machine with a GPU that Chromium offers, that one; else
 * its software adapter.
 */
export class BenchBrowser {
  private readonly instances = new Map<SubjectId, Instance>();
  private site: { url: string; close: () => void } | undefined;
  private software: boolean;
  /** Console errors and exceptions since the cell was opened, to explain a failure. */
  private problems: string[] = [];
  private version = '';

  constructor(private readonly folder: string, forceSoftware: boolean) {
    this.software = forceSoftware;
  }

  /** Finds the adapter with our own engine. */
  async open(): Promise<{ version: string; adapter: string }> {
    const server = createStaticServer({ root: this.folder });
    const port = await listen(server, 0);
    this.site = {
      url: `http://127.0.0.1:${port}/`,
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
    const attempt = (): Promise<string | Error> => this.load('ours', 120_000).catch((error: unknown) => error as Error);
    let adapter = await attempt();
    if (adapter instanceof Error && !this.software) {
      this.software = true;
      await this.drop('ours');
      adapter = await attempt();
    }
    if (adapter instanceof Error) throw new UserError(`Chromium offers no WebGPU adapter: ${adapter.message}`, 'Try npm test, which says what is missing.');
    return { version: this.version, adapter };
  }

  private async launch(id: SubjectId): Promise<Instance> {
    const executablePath = findChromium();
    if (!executablePath) throw new UserError('No Chromium was found.', 'Run npm test, which installs it or says what to install.');
    const args = this.software ? CHROMIUM_ARGS : [...CHROMIUM_ARGS.filter((arg) => !/swiftshader/.test(arg)), '--enable-features=Vulkan', '--ignore-gpu-blocklist'];
    const server = await chromium.launchServer({ executablePath, headless: true, args: [...args, '--headless=new'] });
    const browser = await chromium.connect(server.wsEndpoint());
    this.version = browser.version();
    // The content security policy of our server is for our own page; another library must not fail by it.
    const page = await (await browser.newContext({ bypassCSP: true })).newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
    page.on('pageerror', (error) => this.problems.push(String(error)));
    const instance = { server, page };
    this.instances.set(id, instance);
    return instance;
  }

  /** Starts a library's browser and page once; returns the adapter in its words. */
  async load(id: SubjectId, limitMs: number): Promise<string> {
    const instance: Instance = this.instances.get(id) ?? (await this.launch(id));
    if (instance.adapter !== undefined) return instance.adapter;
    const { page } = instance;
    instance.adapter = await this.within(page, 'loading', limitMs, async () => {
      await page.goto(`${this.site?.url}index.html`);
      await page.waitForFunction(() => 'bench' in globalThis);
      return page.evaluate((subject) => (globalThis as unknown as Scripted).bench.load(subject), id);
    });
    return instance.adapter;
  }

  /** Kills a library's browser, with all that it left undone. */
  async drop(id: SubjectId): Promise<void> {
    const instance = this.instances.get(id);
    this.instances.delete(id);
    await instance?.server.kill();
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
    for (const id of [...this.instances.keys()]) await this.drop(id);
    this.site?.close();
  }

  private async ask<T>(id: SubjectId, limitMs: number, question: (page: Page) => Promise<T>): Promise<T> {
    const page = this.instances.get(id)?.page;
    if (!page) throw new Error(`${id} is not loaded`);
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
