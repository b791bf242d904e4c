import { UserError } from '../core/errors';
import { requestGpu, type GpuContext } from './device';

// Dawn's instance must outlive every device: were it collected, the process would die.
let instance: GPU | undefined;

/** A device without a browser, through Dawn (npm package `webgpu`, a development dependency). Never part of the page. */
export async function requestNodeGpu(): Promise<GpuContext> {
  if (!instance) {
    let dawn: { create(flags: string[]): GPU };
    try {
      dawn = (await import('webgpu')) as unknown as typeof dawn;
    } catch {
      throw new UserError('The headless WebGPU package is not installed.', 'Run `npm install` once, or `npm test`.');
    }
    instance = dawn.create([]);
  }
  return requestGpu(instance);
}
