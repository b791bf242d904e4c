import type { BufferSlice, GpuContext } from '../gpu/device';
import type { Dispatch } from '../gpu/program';
import { ENDING, matmulThreads } from '../kernels/matmul/matmul';
import { f32Bits, uniform4 } from './parameters';
import type { ModelPipelines } from './pipelines';

/** A product y = norm(x) W of one model: which buffers it reads and writes, and how it ends (see matmul.wgsl). */
export interface Product {
  x: BufferSlice;
  w: BufferSlice;
  y: GPUBuffer;
  /** Normalises the rows of x on the way, and keeps 1 / rms of each. */
  norm?: { gain: BufferSlice; rstd: GPUBuffer };
  /** Added to the product. */
  residual?: GPUBuffer;
  /** Takes y sigmoid(1.702 y) beside y. */
  activated?: GPUBuffer;
  /** Multiplies by the activation's slope at these values. */
  slopeAt?: GPUBuffer;
}

export interface ProductShape {
  label: string;
  /** Columns of x and of y. */
  K: number;
  O: number;
}

/** Makes the dispatches of products over `dims.rows` rows. One maker serves one list: it holds the stand-ins for what a product leaves unused. */
export function productMaker(ctx: GpuContext, p: ModelPipelines, dims: GPUBuffer, options: { label: string; widest: number; normEps: number }): (shape: ProductShape, product: Product) => Dispatch {
  const standIn = (name: string) => ctx.buffer(`${options.label}.unused.${name}`, 16);
  const [extra, activated, rstd] = [standIn('extra'), standIn('activated'), standIn('rstd')];
  const ones = ctx.buffer(`${options.label}.ones`, options.widest * 4);
  ctx.device.queue.writeBuffer(ones, 0, new Float32Array(options.widest).fill(1));
  const eps = f32Bits(options.normEps);
  return ({ label, K, O }, product) => {
    const ending = product.residual ? ENDING.residual : product.activated ? ENDING.activation : product.slopeAt ? ENDING.slope : ENDING.none;
    const bindGroup = ctx.bind(p.matmul, {
      dims,
      shape: uniform4(ctx, `${options.label}.${label}`, [K, O, ending, product.norm ? eps : 0]),
      x: product.x,
      w: product.w,
      gain: product.norm?.gain ?? ones,
      extra: product.residual ?? product.slopeAt ?? extra,
      y: product.y,
      activated: product.activated ?? activated,
      rstd: product.norm?.rstd ?? rstd,
    });
    return { pipeline: p.matmul, bindGroup, threads: (rows) => matmulThreads(p.variant, rows, O) };
  };
}
