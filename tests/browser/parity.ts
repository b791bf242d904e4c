import type { ParityApi } from './parityWorker';

/** A page without an interface: passes one call at a time to the worker. */
const worker = new Worker(new URL('./parityWorker.ts', import.meta.url), { type: 'module' });

function call(name: string, argument = ''): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.onerror = (event) => reject(new Error(event.message));
    worker.onmessage = (event: MessageEvent<{ result: unknown; error?: string }>) => {
      if (event.data.error === undefined) resolve(event.data.result);
      else reject(new Error(event.data.error));
    };
    worker.postMessage({ call: name, argument });
  });
}

export type ParityPage = { parityPage: ParityApi };
(window as unknown as ParityPage).parityPage = {
  parity: (id) => call('parity', id),
  hardship: () => call('hardship'),
  shipped: () => call('shipped'),
} as ParityApi;
