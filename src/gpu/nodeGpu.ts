import { UserError } from '../core/errors';
import { requestGpu, type GpuContext } from './device';

// Dawn's instance must outlive every device: were it collected, the process would die.
let instance: GPU | undefined;

interface Dawn {
  create(flags: string[]): GPU;
  globals: { GPUBuffer: { prototype: GPUBuffer }; GPUQueue: { prototype: GPUQueue } };
}

/** A device without a browser, through Dawn (npm package `webgpu`, a development dependency). Never part of the page. */
export async function requestNodeGpu(): Promise<GpuContext> {
  if (!instance) {
    let dawn: Dawn;
    try {
      dawn = (await import('webgpu')) as unknown as Dawn;
    } catch {
      throw new UserError('The headless WebGPU package is not installed.', 'Run `npm install` once, or `npm test`.');
    }
    instance = dawn.create([]);
    waitPolitely(dawn);
  }
  return requestGpu(instance);
}

/** How long the event loop rests between two looks at the GPU, ms. */
const REST_MS = 0.5;

/**
 * Dawn's binding spins the event loop while it waits, which takes a whole core; a software adapter needs that core for
 * the arithmetic. While anything is awaited, each turn of the loop therefore sleeps a little.
 */
function waitPolitely({ globals }: Dawn): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let pending = 0;
  // One chain of rests at a time: a wait that begins before the last chain has seen that it may end goes on with that chain.
  let isResting = false;
  const rest = () => {
    isResting = pending > 0;
    if (!isResting) return;
    Atomics.wait(cell, 0, 0, REST_MS);
    setImmediate(rest);
  };
  const begin = () => {
    pending++;
    if (isResting) return;
    isResting = true;
    setImmediate(rest);
  };
  const during = <A extends unknown[]>(prototype: object, name: string) => {
    const methods = prototype as Record<string, (...args: A) => Promise<undefined>>;
    const original = methods[name];
    methods[name] = function (this: unknown, ...args: A) {
      begin();
      return original.apply(this, args).finally(() => {
        pending--;
      });
    };
  };
  during(globals.GPUBuffer.prototype, 'mapAsync');
  during(globals.GPUQueue.prototype, 'onSubmittedWorkDone');
}
