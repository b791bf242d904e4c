// @ts-check
// What the measurements of the built page share: a server, a Chromium, counts of GPU memory, and where results go.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../../scripts/lib/chromium.mjs';
import { DIST, ROOT } from '../../scripts/lib/paths.mjs';
import { createStaticServer, listen } from '../../scripts/serve.mjs';

/** @typedef {import('playwright-core').Page} Page */

/**
 * The built page at a free port, and a Chromium with the software adapter.
 * @param {string | undefined} root folder of the built page; dist when not given
 */
export async function openSite(root) {
  const server = createStaticServer({ root: root ?? DIST });
  const port = await listen(server, 0);
  const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: [...CHROMIUM_ARGS, '--headless=new'] });
  return {
    url: `http://127.0.0.1:${port}/`,
    browser,
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Where a figure was taken: a busy machine is slower, and the result must say so. */
export function machine() {
  return { cores: cpus().length, processor: cpus()[0]?.model ?? 'unknown', load1: Number((loadavg()[0] ?? 0).toFixed(1)), date: new Date().toISOString().slice(0, 16).replace('T', ' ') };
}

/** @param {string} name @param {unknown} result */
export function keepResult(name, result) {
  const folder = join(ROOT, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(result, null, 1)}\n`);
}

/**
 * Lets the training worker count the bytes of the GPU buffers that are alive, whoever made them. Call before `goto`.
 * @param {Page} page
 */
export async function countGpuBytes(page) {
  const prelude = `
    self.gpuBytes = 0;
    if (typeof GPUDevice !== 'undefined') {
      const create = GPUDevice.prototype.createBuffer;
      const alive = new Map();
      const released = new FinalizationRegistry((id) => { self.gpuBytes -= alive.get(id) ?? 0; alive.delete(id); });
      let next = 0;
      GPUDevice.prototype.createBuffer = function (descriptor) {
        const buffer = create.call(this, descriptor);
        const id = next++;
        alive.set(id, buffer.size);
        self.gpuBytes += buffer.size;
        released.register(buffer, id);
        const destroy = buffer.destroy;
        buffer.destroy = function () { self.gpuBytes -= alive.get(id) ?? 0; alive.delete(id); return destroy.call(this); };
        return buffer;
      };
    }
  `;
  await page.route(/assets\/trainer\.worker[^/]*\.js$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: prelude + (await response.text()) });
  });
}

/** The page's training worker. @param {Page} page */
export function trainerOf(page) {
  const worker = page.workers().find((candidate) => /trainer\.worker/.test(candidate.url()));
  if (!worker) throw new Error('the page has no training worker');
  return worker;
}

/** @param {Page} page @returns {Promise<number>} bytes; needs `countGpuBytes` */
export const gpuBytes = (page) => trainerOf(page).evaluate(() => /** @type {{ gpuBytes?: number }} */ (/** @type {unknown} */ (globalThis)).gpuBytes ?? 0);

/**
 * Heap of the page and of its training worker, after a collection each.
 * @param {Page} page
 */
export async function heapMeter(page) {
  const session = await page.context().newCDPSession(page);
  /** @type {Map<string, string>} session id by url */
  const workers = new Map();
  /** @type {Map<number, (answer: { result?: { usedSize: number } }) => void>} */
  const waiting = new Map();
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => void workers.set(targetInfo.url, sessionId));
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const answer = JSON.parse(message);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  let next = 1;
  const ask = (/** @type {string} */ sessionId, /** @type {string} */ method) =>
    new Promise((/** @type {(answer: { result?: { usedSize: number } }) => void} */ resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      void session.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) });
    });
  return async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize: pageHeap } = await session.send('Runtime.getHeapUsage');
    const trainer = [...workers].find(([url]) => /trainer\.worker/.test(url))?.[1];
    if (!trainer) throw new Error('the worker cannot be reached');
    await ask(trainer, 'HeapProfiler.collectGarbage');
    const answer = await ask(trainer, 'Runtime.getHeapUsage');
    return { pageHeap, workerHeap: answer.result?.usedSize ?? NaN };
  };
}

/**
 * Resident bytes of Chromium's GPU process (where a software adapter keeps its buffers); null where it cannot be read.
 * @param {import('playwright-core').Browser} browser
 */
export async function gpuProcessMeter(browser) {
  const session = await browser.newBrowserCDPSession();
  return async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const pid = processInfo.find((info) => info.type === 'GPU')?.id;
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    } catch {
      return null;
    }
  };
}
