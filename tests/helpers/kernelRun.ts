import { expect } from 'vitest';
import { Rng } from '../../src/core/rng';
import { GPU_USAGE, type GpuContext } from '../../src/gpu/device';
import { encode } from '../../src/gpu/program';
import { shaderOf, type KernelSpec } from '../../src/kernels/kernelSpec';

type Data = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Floats past the end of every output that must keep this value: a kernel that does not guard its tail is caught. */
const TAIL = 8;
const SENTINEL = 777;

/**
 * Runs one kernel once on a real device. `buffers` gives data for each binding by name; a number asks for an output of
 * that many floats. Returns every read-write binding as floats, after checking that nothing was written past its end.
 */
export async function runKernel(gpu: GpuContext, spec: KernelSpec, constants: Record<string, number>, buffers: Record<string, Data | number>, threads: number): Promise<Record<string, Float32Array>> {
  const pipeline = await gpu.pipeline(shaderOf(spec, constants));
  const bound: Record<string, GPUBuffer> = {};
  const outputs: { name: string; length: number }[] = [];
  for (const binding of pipeline.shader.bindings) {
    const given = buffers[binding.name];
    if (given === undefined) throw new Error(`${spec.name}: no data for ${binding.name}`);
    const uniform = binding.kind === 'uniform';
    const writable = binding.kind === 'readWrite';
    const length = typeof given === 'number' ? given : given.length;
    const data = new Uint32Array(length + (writable ? TAIL : 0));
    const asFloats = new Float32Array(data.buffer);
    if (writable) asFloats.fill(SENTINEL);
    if (typeof given !== 'number') data.set(new Uint32Array(given.buffer, given.byteOffset, given.length));
    const buffer = gpu.buffer(binding.name, Math.max(data.byteLength, binding.dynamic ? 256 : 16), uniform ? GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST : GPU_USAGE.STORAGE);
    gpu.device.queue.writeBuffer(buffer, 0, data);
    bound[binding.name] = buffer;
    if (writable) outputs.push({ name: binding.name, length });
  }
  const bindGroup = gpu.bind(pipeline, bound);
  const encoder = gpu.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  encode(pass, [{ pipeline, bindGroup, threads: () => threads }], 1, [0]);
  pass.end();
  const staging = outputs.map(({ name, length }) => {
    const bytes = (length + TAIL) * 4;
    const buffer = gpu.buffer(`${name}.read`, bytes, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
    encoder.copyBufferToBuffer(bound[name] as GPUBuffer, 0, buffer, 0, bytes);
    return { name, length, buffer, bytes };
  });
  gpu.device.queue.submit([encoder.finish()]);
  const result: Record<string, Float32Array> = {};
  for (const { name, length, buffer, bytes } of staging) {
    await buffer.mapAsync(1, 0, bytes);
    const all = new Float32Array(buffer.getMappedRange(0, bytes).slice(0));
    buffer.unmap();
    expect([...all.subarray(length)], `${spec.name} wrote past the end of ${name}`).toEqual(Array(TAIL).fill(SENTINEL));
    result[name] = all.subarray(0, length);
  }
  return result;
}

/** Fails unless |got - want| <= tolerance * (1 + |want|) everywhere; NaN fails. */
export function expectClose(got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number, what = ''): void {
  expect(got.length, `${what}: lengths`).toBe(want.length);
  for (let i = 0; i < want.length; i++) {
    if (!(Math.abs(got[i] - want[i]) <= tolerance * (1 + Math.abs(want[i])))) throw new Error(`${what} [${i}]: got ${got[i]}, want ${want[i]}`);
  }
}

/** Normal numbers, f32, from a fixed seed. */
export function normals(seed: number, length: number, sd = 1): Float32Array<ArrayBuffer> {
  const rng = new Rng(seed, 0x7e57);
  return Float32Array.from({ length }, () => sd * rng.normal());
}

/**
 * Central differences of a scalar function at some entries of x (f64), against an analytic gradient.
 * Fails when the relative error |a - b| / (|a| + |b| + floor) is over the tolerance.
 */
export function expectGradient(f: (x: Float64Array) => number, x: Float64Array, gradient: ArrayLike<number>, options: { h?: number; tolerance: number; entries?: number; floor?: number }): void {
  const { h = 1e-5, tolerance, entries = x.length, floor = 1e-7 } = options;
  const stride = Math.max(1, Math.floor(x.length / entries));
  for (let i = 0; i < x.length; i += stride) {
    const keep = x[i];
    x[i] = keep + h;
    const up = f(x);
    x[i] = keep - h;
    const down = f(x);
    x[i] = keep;
    const numeric = (up - down) / (2 * h);
    const error = Math.abs(numeric - gradient[i]) / (Math.abs(numeric) + Math.abs(gradient[i]) + floor);
    if (!(error <= tolerance)) throw new Error(`gradient [${i}]: differences give ${numeric}, got ${gradient[i]}, relative error ${error}`);
  }
}

/** Packed rows of the given lengths: position in row, row ends. */
export function packedLayout(lengths: readonly number[]): { pos: Uint32Array<ArrayBuffer>; rowEnd: Uint32Array<ArrayBuffer>; N: number } {
  const pos: number[] = [];
  const rowEnd: number[] = [];
  for (const length of lengths) {
    const end = pos.length + length;
    for (let p = 0; p < length; p++) {
      pos.push(p);
      rowEnd.push(end);
    }
  }
  return { pos: Uint32Array.from(pos), rowEnd: Uint32Array.from(rowEnd), N: pos.length };
}
