import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * Under `npm test`, notes every test file that requests a real WebGPU device, and the adapter it got, so that the run can
 * print how many GPU tests ran and fail when there were none. Hooks Dawn itself, so no test can forget to report.
 */
const log = process.env.RATIOSCOPE_GPU_LOG;
const hooked = globalThis as { ratioscopeGpuHook?: true };

if (log && !hooked.ratioscopeGpuHook) {
  hooked.ratioscopeGpuHook = true;
  const { globals } = (await import('webgpu')) as unknown as { globals: { GPUAdapter: { prototype: GPUAdapter } } };
  const prototype = globals.GPUAdapter.prototype;
  const original = prototype.requestDevice;
  prototype.requestDevice = async function (this: GPUAdapter, descriptor?: GPUDeviceDescriptor) {
    const device = await original.call(this, descriptor);
    const adapter = [this.info.vendor, this.info.architecture, this.info.description].filter(Boolean).join(' / ');
    appendFileSync(log, `${JSON.stringify({ file: expect.getState().testPath ?? 'unknown', adapter })}\n`);
    return device;
  };
}
