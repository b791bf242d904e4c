import { GPU_USAGE, type GpuContext } from '../gpu/device';
import type { Dispatch } from '../gpu/program';
import { uniform4, type GpuParams } from './parameters';
import type { ModelPipelines } from './pipelines';

/** Gradient norm, clipping and AdamW over the flat parameter vector, as a prebuilt list. */
export interface Optimiser {
  list: Dispatch[];
  /** Norm of the gradient before clipping; [1]. */
  norm: GPUBuffer;
  /** Writes the numbers of the coming step; `step` counts from 1. */
  writeHyper(h: { lr: number; beta1: number; beta2: number; eps: number; decay: number; maxNorm: number; step: number }): void;
  /** Both moments, [flat]. */
  moments: { m: GPUBuffer; v: GPUBuffer };
  /** Forgets both moments. */
  reset(): void;
}

export function buildOptimiser(ctx: GpuContext, p: ModelPipelines, params: GpuParams, grads: GPUBuffer, split: GPUBuffer, reduceThreads: number): Optimiser {
  const { flatSize, specs } = params.layout;
  const queue = ctx.device.queue;
  const partials = ctx.buffer('gradPartials', reduceThreads * 4);
  const norm = ctx.buffer('gradNorm', 16);
  const m = ctx.buffer('adamM', flatSize * 4);
  const v = ctx.buffer('adamV', flatSize * 4);
  const decays = ctx.buffer('decays', flatSize);
  const mask = new Float32Array(flatSize / 4);
  for (const spec of specs) if (spec.initSd !== 'gain') mask.fill(1, spec.offset / 4, (spec.offset + spec.size) / 4);
  queue.writeBuffer(decays, 0, mask);
  const dims = uniform4(ctx, 'adamDims', [flatSize / 4]);
  const hyper = ctx.buffer('adamHyper', 32, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  const values = new Float32Array(8);
  const zeros = new Float32Array(flatSize);

  const list: Dispatch[] = [
    { pipeline: p.gradientReduce, bindGroup: ctx.bind(p.gradientReduce, { split, grads, partials }), threads: () => reduceThreads },
    { pipeline: p.gradientNorm, bindGroup: ctx.bind(p.gradientNorm, { split, partials, norm }), threads: () => 1 },
    {
      pipeline: p.adamw,
      bindGroup: ctx.bind(p.adamw, { dims, hyper, norm, grads: { buffer: grads, offset: 0, size: flatSize * 4 }, decays, params: params.buffer, m, v }),
      threads: () => flatSize / 4,
    },
  ];
  return {
    list,
    norm,
    moments: { m, v },
    writeHyper: (h) => {
      values.set([h.lr, h.beta1, h.beta2, h.eps, h.decay, h.maxNorm, 1 - h.beta1 ** h.step, 1 - h.beta2 ** h.step]);
      queue.writeBuffer(hyper, 0, values);
    },
    reset: () => {
      queue.writeBuffer(m, 0, zeros);
      queue.writeBuffer(v, 0, zeros);
    },
  };
}
