import { isEventList } from './guards';
import type { BatchRecord, ErrorKind, StepReport, WorkerCommand, WorkerEvent } from './protocol';

/** What the client needs of a Worker; tests give their own. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
}

type EventOf<K extends WorkerEvent['type']> = Extract<WorkerEvent, { type: K }>;

/** Starts the training worker as its own module. */
function createTrainerWorker(): WorkerLike {
  return new Worker(new URL('./trainer.worker.ts', import.meta.url), { type: 'module', name: 'ratioscope trainer' });
}

/**
 * The page's end of the worker: typed commands out, checked events in. When the worker crashes the page gets a fatal
 * error event, and the next `probe`, `init` or `reset` starts a fresh one.
 */
export class TrainerClient {
  private worker: WorkerLike | null = null;
  private readonly listeners = new Set<(event: WorkerEvent) => void>();
  private readonly create: () => WorkerLike;
  private modelsUrl = '';
  /** Whether the present worker was given a run; a `reset` on a fresh one must become an `init`. */
  private initialised = false;
  private nextRequest = 1;
  private readonly greeting: readonly WorkerCommand[];

  /** @param greeting what every new worker is told before anything else */
  constructor(create: () => WorkerLike = createTrainerWorker, greeting: readonly WorkerCommand[] = []) {
    this.create = create;
    this.greeting = greeting;
  }

  /** Sends a command. Commands to a crashed worker that cannot revive it are answered by an error event. */
  send(command: WorkerCommand): void {
    if (command.type === 'init') this.modelsUrl = command.modelsUrl;
    const revives = command.type === 'probe' || command.type === 'init' || command.type === 'reset';
    if (!this.worker && !revives) {
      this.fail('The trainer is not running.', 'Press Reset to start it again.');
      return;
    }
    const worker = this.worker ?? this.start();
    const message: WorkerCommand = command.type === 'reset' && !this.initialised ? { type: 'init', config: command.config, modelsUrl: this.modelsUrl } : command;
    if (message.type === 'init') this.initialised = true;
    worker.postMessage(message);
  }

  /** Calls `fn` for every event of one type. Returns a function that stops it. */
  on<K extends WorkerEvent['type']>(type: K, fn: (event: EventOf<K>) => void): () => void {
    const matches = (event: WorkerEvent): event is EventOf<K> => event.type === type;
    return this.onAny((event) => {
      if (matches(event)) fn(event);
    });
  }

  /** Calls `fn` for every event. Returns a function that stops it. */
  onAny(fn: (event: WorkerEvent) => void): () => void {
    this.listeners.add(fn);
    return () => {
      this.listeners.delete(fn);
    };
  }

  /** The latest step and its batch as the worker holds them; nulls before the first step. Rejects when the worker stops first. */
  snapshot(): Promise<{ report: StepReport | null; batch: BatchRecord | null }> {
    const requestId = this.nextRequest++;
    return new Promise((resolve, reject) => {
      const stop = this.onAny((event) => {
        if (event.type === 'snapshot' && event.requestId === requestId) {
          stop();
          resolve({ report: event.report, batch: event.batch });
        } else if (event.type === 'error' && event.fatal) {
          stop();
          reject(new Error(event.message));
        }
      });
      this.send({ type: 'snapshot', requestId });
    });
  }

  /** Ends the worker; listeners stay. */
  dispose(): void {
    this.drop();
  }

  private start(): WorkerLike {
    const worker = this.create();
    worker.onmessage = (event) => {
      if (this.worker !== worker) return;
      const data: unknown = event.data;
      if (!isEventList(data)) {
        this.fail('The trainer sent something that the page does not understand.', 'Reload the page; if an old version is cached, clear it.');
        return;
      }
      for (const e of data) {
        // Nobody knows what such a worker would do next.
        if (e.type === 'error' && e.kind === 'crashed') this.drop();
        this.emit(e);
      }
    };
    worker.onerror = (event) => {
      if (this.worker !== worker) return;
      this.drop();
      this.fail(`The trainer crashed: ${event.message || 'its script could not be loaded'}.`, 'Press Reset to start it again; the history is kept.', 'crashed');
    };
    worker.onmessageerror = () => {
      if (this.worker !== worker) return;
      this.drop();
      this.fail('A message of the trainer could not be read.', 'Press Reset to start it again; the history is kept.', 'crashed');
    };
    this.worker = worker;
    this.initialised = false;
    for (const command of this.greeting) worker.postMessage(command);
    return worker;
  }

  private drop(): void {
    this.worker?.terminate();
    this.worker = null;
    this.initialised = false;
  }

  private fail(message: string, hint: string, kind: ErrorKind = 'internal'): void {
    this.emit({ type: 'error', kind, message, hint, fatal: true });
  }

  private emit(event: WorkerEvent): void {
    // A copy, so that a listener may remove itself.
    for (const fn of [...this.listeners]) fn(event);
  }
}
