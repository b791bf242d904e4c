import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import { UserError } from '../core/errors';
import { reason } from './ortSession';

/** tfjs's backends in the order in which they are tried: the first that starts is used. */
export const TFJS_BACKENDS = ['wasm', 'webgl', 'cpu'] as const;
export type TfjsBackend = (typeof TFJS_BACKENDS)[number];

export const TFJS_TITLE: Record<TfjsBackend, string> = { wasm: 'tfjs WASM', webgl: 'tfjs WebGL', cpu: 'tfjs CPU' };

const LOADERS: Record<TfjsBackend, () => Promise<unknown>> = {
  async wasm() {
    const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
    const [plain, simd] = await Promise.all([
      import('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url'),
      import('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url'),
    ]);
    // Threads need cross-origin isolation, which a plain static host does not give, and a worker from a blob.
    tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
    // An address for each is demanded; the threaded one is never loaded.
    setWasmPaths({ 'tfjs-backend-wasm.wasm': plain.default, 'tfjs-backend-wasm-simd.wasm': simd.default, 'tfjs-backend-wasm-threaded-simd.wasm': simd.default });
  },
  webgl: () => import('@tensorflow/tfjs-backend-webgl'),
  cpu: () => import('@tensorflow/tfjs-backend-cpu'),
};

/**
 * Loads and starts the first of the backends that works here; each is a chunk of its own.
 * @throws UserError that says why none of them started.
 */
export async function openTfjs(backends: readonly TfjsBackend[] = TFJS_BACKENDS): Promise<TfjsBackend> {
  const failures: string[] = [];
  for (const backend of backends) {
    try {
      await LOADERS[backend]();
      if (!(await tf.setBackend(backend))) throw new Error('it did not start');
      await tf.ready();
      requireArithmetic();
      return backend;
    } catch (error) {
      failures.push(`${TFJS_TITLE[backend]}: ${reason(error)}`);
      console.warn(`${TFJS_TITLE[backend]} did not start`, error);
    }
  }
  throw new UserError(`TensorFlow.js did not start either (${failures.join('; ')}).`, 'Reload the page, or use one of the browsers below.');
}

/** A backend may start and still be unable to compute, e.g. WebGL without float textures. */
function requireArithmetic(): void {
  const product = tf.tidy(() => tf.matMul(tf.tensor2d([1, 2], [1, 2]), tf.tensor2d([3, 4], [2, 1])).dataSync()[0]);
  if (!(Math.abs((product ?? NaN) - 11) < 1e-3)) throw new Error('its arithmetic is wrong');
}
