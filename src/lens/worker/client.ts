import { UserError } from '../../core/errors';
import type { WorkerLike } from '../../worker/client';
import type { LensAnswer, LensSettings, LensSource, LensWanted } from '../types';
import { isLensReply, type LensCommand } from './protocol';

function createLensWorker(): WorkerLike {
  return new Worker(new URL('./lens.worker.ts', import.meta.url), { type: 'module', name: 'ratioscope lens' });
}

/** A request that waits or is being computed. */
interface Request {
  settings: LensSettings;
  wanted: LensWanted;
  resolve(answer: LensAnswer | null): void;
  reject(error: Error): void;
}

/**
 * The page's end of the lens's worker. One request at a time is computed; of those that wait the newest wins and takes over what
 * the others wanted; answers about a batch that is no longer under the lens are dropped.
 */
export class LensClient {
  private worker: WorkerLike | null = null;
  private source: LensSource | null = null;
  private sourceId = 0;
  private requestId = 0;
  private running: { id: number; sourceId: number; request: Request } | null = null;
  private waiting: Request | null = null;

  constructor(private readonly create: () => WorkerLike = createLensWorker) {}

  /** Puts a batch under the lens. Requests about the one before resolve to null. */
  setSource(source: LensSource): void {
    this.source = source;
    this.sourceId++;
    this.waiting?.resolve(null);
    this.waiting = null;
    this.running?.request.resolve(null);
    if (this.worker) this.sendSource(this.worker);
  }

  /**
   * Computes what is wanted. Resolves to null when a newer request, or another batch, took its place.
   * Rejects with UserError for settings that the batch cannot answer, or when the worker stopped.
   */
  ask(settings: LensSettings, wanted: LensWanted): Promise<LensAnswer | null> {
    return new Promise((resolve, reject) => {
      const before = this.waiting;
      // What the replaced request wanted is still wanted, under the newer settings.
      this.waiting = { settings, wanted: before ? { ...before.wanted, ...wanted } : wanted, resolve, reject };
      before?.resolve(null);
      this.next();
    });
  }

  /** Ends the worker; open requests resolve to null. */
  dispose(): void {
    this.worker?.terminate();
    this.worker = null;
    this.running?.request.resolve(null);
    this.waiting?.resolve(null);
    this.running = null;
    this.waiting = null;
  }

  private next(): void {
    if (this.running || !this.waiting) return;
    const request = this.waiting;
    this.waiting = null;
    if (!this.source) {
      request.reject(new Error('the lens was asked before it was given a batch'));
      return;
    }
    const worker = this.worker ?? this.start();
    const id = ++this.requestId;
    this.running = { id, sourceId: this.sourceId, request };
    const command: LensCommand = { type: 'ask', requestId: id, sourceId: this.sourceId, settings: request.settings, wanted: request.wanted };
    worker.postMessage(command);
  }

  private start(): WorkerLike {
    const worker = this.create();
    worker.onmessage = (event) => {
      if (this.worker === worker) this.take(event.data);
    };
    worker.onerror = (event) => {
      if (this.worker === worker) this.stopped(event.message || 'its script could not be loaded');
    };
    worker.onmessageerror = () => {
      if (this.worker === worker) this.stopped('a message could not be read');
    };
    this.worker = worker;
    this.sendSource(worker);
    return worker;
  }

  private sendSource(worker: WorkerLike): void {
    if (!this.source) return;
    const command: LensCommand = { type: 'source', sourceId: this.sourceId, source: this.source };
    worker.postMessage(command);
  }

  private take(reply: unknown): void {
    if (!isLensReply(reply) || this.running?.id !== reply.requestId) return;
    const { request, sourceId } = this.running;
    this.running = null;
    // When the batch changed meanwhile the request was already answered with null; settling it again does nothing.
    if (sourceId === this.sourceId) {
      if (reply.type === 'answer') request.resolve(reply.answer);
      else request.reject(new UserError(reply.message, reply.hint));
    }
    this.next();
  }

  private stopped(why: string): void {
    this.worker?.terminate();
    this.worker = null;
    const error = new UserError(`The lens stopped: ${why}.`, 'Change a setting to start it again.');
    const { running, waiting } = this;
    this.running = null;
    this.waiting = null;
    running?.request.reject(error);
    waiting?.reject(error);
  }
}
