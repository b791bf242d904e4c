import type { InferenceSession } from 'onnxruntime-web';
import { UserError } from '../core/errors';

/**
 * onnxruntime-web behind one lock. Two runs at once hang it, even on two sessions, and a session whose run failed can
 * return wrong numbers afterwards: so every call is queued, and a failed session is dropped and made anew.
 */

export type OrtModule = typeof import('onnxruntime-web');
export type OrtProvider = 'wasm' | 'webgpu';

let tail: Promise<unknown> = Promise.resolve();

/** Runs `work` when everything queued before it has ended, well or badly. Never call it from within `work`. */
export function exclusive<T>(work: () => Promise<T>): Promise<T> {
  const result = tail.then(work);
  tail = result.catch(() => {});
  return result;
}

/**
 * The build of onnxruntime-web for a provider; each is a chunk of its own with its own WebAssembly (14-27 MB), loaded
 * when first needed. The WebGPU provider comes in two builds: JSPI is faster, not every browser has it.
 * @throws UserError when the build cannot be loaded.
 */
export async function loadOrt(provider: OrtProvider): Promise<OrtModule> {
  let ort: OrtModule;
  try {
    if (provider === 'wasm') ort = await import('onnxruntime-web/wasm');
    else if ('Suspending' in WebAssembly) ort = await import('onnxruntime-web/jspi');
    else ort = await import('onnxruntime-web/webgpu');
  } catch (error) {
    throw new UserError(`onnxruntime-web could not be loaded: ${reason(error)}`, 'Check the connection to this site and reload the page.');
  }
  // More threads need cross-origin isolation, which a plain static host does not give.
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return ort;
}

/** One model, its session made when first needed and after every failure. Call the methods inside `exclusive` only. */
export class OrtSession {
  private session: InferenceSession | null = null;
  /** Sessions made so far; more than one means that a run has failed. */
  sessionsMade = 0;

  constructor(
    private readonly ort: OrtModule,
    private readonly model: Uint8Array,
    private readonly options: InferenceSession.SessionOptions,
  ) {}

  /** @throws UserError when the session cannot be made or the run fails; the next run starts afresh. */
  async run(feeds: InferenceSession.FeedsType, fetches?: InferenceSession.FetchesType): Promise<InferenceSession.ReturnType> {
    try {
      if (!this.session) {
        // A copy: the runtime may keep or detach the bytes it is given.
        this.session = await this.ort.InferenceSession.create(this.model.slice(), { logSeverityLevel: 3, ...this.options });
        this.sessionsMade++;
      }
      return fetches ? await this.session.run(feeds, fetches) : await this.session.run(feeds);
    } catch (error) {
      await this.release();
      throw new UserError(`onnxruntime-web failed: ${reason(error)}`, 'It was restarted and the next step tries again. If it fails again, set the KL coefficient to 0.');
    }
  }

  async release(): Promise<void> {
    const session = this.session;
    this.session = null;
    try {
      await session?.release();
    } catch {
      // A session that failed may fail to be released too; it is out of use either way.
    }
  }
}

/** The first line of an error's message. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
