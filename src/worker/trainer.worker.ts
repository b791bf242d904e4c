import { browserEnvironment } from './browserEnvironment';
import { errorEvent } from './failure';
import type { WorkerEvent } from './protocol';
import { Runner } from './runner';

// The training worker: the whole GPU side of the page, so that nothing here can make the page stutter.

/** What this file needs of a dedicated worker's global scope; the DOM typings describe a window instead. */
interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
  addEventListener(type: 'error', listener: (event: ErrorEvent) => void): void;
  addEventListener(type: 'unhandledrejection', listener: (event: PromiseRejectionEvent) => void): void;
}

const scope = self as unknown as WorkerScope;
const post = (events: WorkerEvent[]): void => scope.postMessage(events);
const runner = new Runner(browserEnvironment, post);

scope.addEventListener('message', (event) => runner.handle(event.data));
scope.addEventListener('error', (event) => {
  event.preventDefault();
  post([errorEvent(event.error ?? event.message, 'crashed')]);
});
scope.addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  post([errorEvent(event.reason, 'crashed')]);
});
