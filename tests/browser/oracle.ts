import type { OracleApi } from './oracleWorker';

/** A page without an interface: passes one call at a time to the worker. */
const worker = new Worker(new URL('./oracleWorker.ts', import.meta.url), { type: 'module' });

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

export type OraclePage = { oraclePage: OracleApi };
(window as unknown as OraclePage).oraclePage = {
  gradient: (id) => call('gradient', id),
  gradientOnOurDevice: (id) => call('gradientOnOurDevice', id),
  updates: (id) => call('updates', id),
  rollout: (kind) => call('rollout', kind),
} as OracleApi;
