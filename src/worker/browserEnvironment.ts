import { UserError } from '../core/errors';
import { createWebGpuEngine } from '../engines/webgpu';
import { browserGpu, requestGpu } from '../gpu/device';
import type { GpuContext } from '../gpu/device';
import { runPolicyLoss } from '../kernels/policyLoss/runPolicyLoss';
import { MODEL_CONFIGS } from '../model/config';
import { loadPolicy } from '../model/manifest';
import { getTask } from '../tasks';
import type { Environment, GpuHandle } from './environment';

interface BrowserGpu extends GpuHandle {
  /** Null where tfjs trains. */
  readonly context: GpuContext | null;
}

function handleOf(context: GpuContext): BrowserGpu {
  const handle: BrowserGpu = {
    context,
    adapter: { ...context.facts },
    onFailure: () => {},
    lose: () => context.device.destroy(),
    destroy: () => context.destroy(),
  };
  context.onFailure = (kind, message) => handle.onFailure(kind, message);
  return handle;
}

/** tfjs in WebGPU's place, loaded only now. Throws UserError when it does not start either. */
async function openFallback(reason: string): Promise<BrowserGpu> {
  const { openTfjs, TFJS_TITLE } = await import('../engines/tfjsBackend');
  const backend = await openTfjs();
  const handle: BrowserGpu = {
    context: null,
    adapter: {
      vendor: '', architecture: '', device: '', description: TFJS_TITLE[backend], software: true, f16: false, subgroups: false, timestamps: false,
      fallback: { title: TFJS_TITLE[backend], reason },
    },
    onFailure: () => {},
    lose: () => handle.onFailure('deviceLost', 'on purpose'),
    destroy: () => {},
  };
  return handle;
}

/** A message to oneself arrives behind those that already wait, and without the 4 ms that nested timers cost. */
function yieldToMessages(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** What the worker runs in: the browser's GPU (or tfjs without one), our engine, models from our own origin. */
export const browserEnvironment: Environment<BrowserGpu> = {
  async openGpu(wish) {
    if (wish === 'tfjs') return openFallback('The address asks for it (engine=tfjs).');
    try {
      return handleOf(await requestGpu(browserGpu()));
    } catch (error) {
      const [message, hint] = error instanceof UserError ? [error.message, error.hint] : [`WebGPU did not start: ${String(error)}.`, 'Reload the page, or restart the browser.'];
      try {
        return await openFallback(message);
      } catch (second) {
        throw new UserError(`${message} ${second instanceof Error ? second.message : String(second)}`, hint);
      }
    }
  },
  async loadPolicy(modelsUrl, model, task, onProgress) {
    const { entry, bytes, params } = await loadPolicy(modelsUrl, model, task, { onProgress: (loaded, total) => onProgress(loaded / total) });
    return { passRate: entry.measured.passRate, greedy: entry.measured.greedy, parameters: entry.parameters, bytes, params };
  },
  async createEngine(gpu, model, onProgress) {
    if (gpu.context) return createWebGpuEngine(gpu.context, MODEL_CONFIGS[model], { onProgress: (done, total) => onProgress(done / total) });
    const { createTfjsEngine } = await import('../engines/tfjsEngine');
    return createTfjsEngine(MODEL_CONFIGS[model]);
  },
  async loadReference(gpu, model, policy) {
    // The runtime is large; it is fetched only when KL is wanted.
    const { createOrtReference, providerFor } = await import('../engines/ortReference');
    return createOrtReference({ modelBytes: policy.bytes, config: MODEL_CONFIGS[model], provider: providerFor(gpu.adapter), ...(gpu.context && { gpu: gpu.context }) });
  },
  tokenLossRunner({ context }) {
    return context && ((loss, inputs, hyper) => runPolicyLoss(context, loss, inputs, hyper));
  },
  getTask,
  now: () => performance.now(),
  sleep: (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : yieldToMessages()),
};
