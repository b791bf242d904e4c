import type { LensCommand } from './protocol';
import { LensServer } from './server';

// The lens's worker: recounting a batch takes milliseconds, but they must not be the page's.

/** What this file needs of a dedicated worker's global scope; the DOM typings describe a window instead. */
interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<LensCommand>) => void): void;
}

const scope = self as unknown as WorkerScope;
const server = new LensServer();

scope.addEventListener('message', (event) => {
  const reply = server.handle(event.data);
  if (reply) scope.postMessage(reply);
});
