import { createWebGpuEngine } from '../engines/webgpu';
import { browserGpu, requestGpu } from '../gpu/device';
import type { GpuContext } from '../gpu/device';
import { MODEL_CONFIGS } from '../model/config';
import { loadPolicy } from '../model/manifest';
import { getTask } from '../tasks';
import type { Environment, GpuHandle } from './environment';

interface BrowserGpu extends GpuHandle {
  readonly context: GpuContext;
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

/** What the worker runs in: the browser's GPU, our engine, models from our own origin. */
export const browserEnvironment: Environment<BrowserGpu> = {
  openGpu: async () => handleOf(await requestGpu(browserGpu())),
  async loadPolicy(modelsUrl, model, task, onProgress) {
    const { entry, bytes, params } = await loadPolicy(modelsUrl, model, task, { onProgress: (loaded, total) => onProgress(loaded / total) });
    return { passRate: entry.measured.passRate, greedy: entry.measured.greedy, parameters: entry.parameters, bytes, params };
  },
  createEngine: (gpu, model, onProgress) =>
    createWebGpuEngine(gpu.context, MODEL_CONFIGS[model], { onProgress: (done, total) => onProgress(done / total) }),
  async loadReference(gpu, model, policy) {
    // The runtime is large; it is fetched only when KL is wanted.
    const { createOrtReference, providerFor } = await import('../engines/ortReference');
    return createOrtReference({ modelBytes: policy.bytes, config: MODEL_CONFIGS[model], provider: providerFor(gpu.adapter), gpu: gpu.context });
  },
  getTask,
  now: () => performance.now(),
  sleep: (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : yieldToMessages()),
};
