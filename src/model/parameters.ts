import { Rng } from '../core/rng';
import { GPU_USAGE, type BufferSlice, type GpuContext } from '../gpu/device';
import { paramLayout, type ModelConfig, type ParamLayout } from './config';

/** Fresh parameters (flat, f32) for a seed: normal with each weight's initSd, gains 1, padding 0. */
export function initialParams(config: ModelConfig, seed: number): Float32Array {
  const layout = paramLayout(config);
  const flat = new Float32Array(layout.flatSize);
  layout.specs.forEach((spec, index) => {
    const rng = new Rng(seed, 0x1417, index);
    for (let i = 0; i < spec.size; i++) flat[spec.offset + i] = spec.initSd === 'gain' ? 1 : spec.initSd * rng.normal();
  });
  return flat;
}

/** One flat parameter vector on the GPU, and its weights as slices. */
export interface GpuParams {
  buffer: GPUBuffer;
  layout: ParamLayout;
  /** The weight `name` as a bindable slice. */
  slice(name: string): BufferSlice;
}

export function createParams(ctx: GpuContext, config: ModelConfig, label: string): GpuParams {
  const layout = paramLayout(config);
  const buffer = ctx.buffer(label, layout.flatSize * 4);
  return {
    buffer,
    layout,
    slice: (name) => {
      const spec = layout.byName.get(name);
      if (!spec) throw new Error(`no parameter is called ${name}`);
      return { buffer, offset: spec.offset * 4, size: spec.size * 4 };
    },
  };
}

/** A uniform of four u32 (or f32 given as bits), written once or now and then. */
export function uniform4(ctx: GpuContext, label: string, values: readonly number[]): GPUBuffer {
  const buffer = ctx.buffer(label, 16, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  ctx.device.queue.writeBuffer(buffer, 0, Uint32Array.from([...values, 0, 0, 0, 0].slice(0, 4)));
  return buffer;
}

/** The bit pattern of an f32, to pass it in a u32 uniform. */
export function f32Bits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0];
}
