import { invariant } from '../core/errors';
import { GPU_USAGE, type GpuContext } from '../gpu/device';
import { encode } from '../gpu/program';
import { shaderOf } from '../kernels/kernelSpec';
import { valueBackward, valueForward } from '../kernels/value/value';
import type { ModelConfig } from '../model/config';
import { buildOptimiser } from '../model/optimiser';
import { createParams, f32Bits, uniform4 } from '../model/parameters';
import type { ModelPipelines } from '../model/pipelines';
import { buildTransformer, type TransformerOptions } from '../model/transformer';
import { StateStaging } from './stateStaging';
import type { PackedBatch, ValueInputs, ValueNetwork, ValueRecord, ValueUpdateOptions } from './engine';

/** Bytes of all records of one iteration: 4 per position and 4 for the norm. */
const RECORD_BYTES = 2 << 20;

/** A value network on the policy's device: its pipelines, its rope table, but parameters, activations and optimiser of its own. */
export async function createWebGpuValueNetwork(
  ctx: GpuContext,
  pipelines: ModelPipelines,
  config: ModelConfig,
  ropeTable: GPUBuffer,
  options: Omit<TransformerOptions, 'head'>,
): Promise<ValueNetwork> {
  const { device } = ctx;
  const { queue } = device;
  const { capacity: N } = options;
  const [forward, backward] = await Promise.all([ctx.pipeline(shaderOf(valueForward)), ctx.pipeline(shaderOf(valueBackward))]);
  const params = createParams(ctx, config, 'valueParams');
  const { flatSize } = params.layout;
  const values = ctx.buffer('values', N * 4);
  const items = ctx.buffer('valueItems', N * 16);
  const shape = uniform4(ctx, 'valueShape', [config.V, f32Bits(0)]);
  const transformer = buildTransformer(ctx, pipelines, config, params, ropeTable, {
    ...options,
    head: ({ logits, targets, dims }) => ({
      forward: { pipeline: forward, bindGroup: ctx.bind(forward, { dims, shape, logits, targets, values }), threads: (n) => n },
      backward: { pipeline: backward, bindGroup: ctx.bind(backward, { dims, shape, targets, values, items, logits }), threads: (n) => (n * config.V) / 4 },
    }),
  });
  const optimiser = buildOptimiser(ctx, pipelines, params, transformer.grads, transformer.split, options.reduceThreads);
  const staging = ctx.buffer('valueRecords', Math.max(RECORD_BYTES, flatSize * 4), GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  const state = new StateStaging(ctx, [params.buffer, optimiser.moments.m, optimiser.moments.v], flatSize);
  const rowEnd = new Uint32Array(N);
  const packed = new Float32Array(N * 4);
  let entries: { offset: number; n: number }[] = [];
  let used = 0;
  let steps = 0;

  const startForward = (batch: PackedBatch): GPUCommandEncoder => {
    const n = batch.positions;
    invariant(n <= N, `a batch of ${n} positions is over the value network's ${N}`);
    for (let r = 0; r < batch.rows; r++) rowEnd.fill(batch.rowStart[r + 1], batch.rowStart[r], batch.rowStart[r + 1]);
    queue.writeBuffer(transformer.dims, 0, Uint32Array.of(n, batch.rows, 0, 0));
    queue.writeBuffer(transformer.inputs.tok, 0, batch.inputs, 0, n);
    queue.writeBuffer(transformer.inputs.pos, 0, batch.pos, 0, n);
    queue.writeBuffer(transformer.inputs.targets, 0, batch.targets, 0, n);
    queue.writeBuffer(transformer.inputs.rowEnd, 0, rowEnd, 0, n);
    const encoder = device.createCommandEncoder({ label: 'valueForward' });
    const pass = encoder.beginComputePass({ label: 'valueForward' });
    encode(pass, transformer.forward, n);
    pass.end();
    return encoder;
  };

  /** Copies the first `bytes` of a buffer to the host. Only between iterations: the records lie in the same staging buffer. */
  const read = async (encoder: GPUCommandEncoder, source: GPUBuffer, bytes: number): Promise<Float32Array> => {
    invariant(entries.length === 0, 'a read of the value network before its records were collected');
    encoder.copyBufferToBuffer(source, 0, staging, 0, bytes);
    queue.submit([encoder.finish()]);
    // A mapped range is a multiple of 8 bytes.
    const mapped = Math.ceil(bytes / 8) * 8;
    await staging.mapAsync(1, 0, mapped);
    const data = new Float32Array(staging.getMappedRange(0, mapped).slice(0));
    staging.unmap();
    return data;
  };

  return {
    loadParams(flat) {
      invariant(flat.length === flatSize, `${flat.length} parameters for a value network of ${flatSize}`);
      queue.writeBuffer(params.buffer, 0, flat as Float32Array<ArrayBuffer>);
      optimiser.reset();
      steps = 0;
    },
    readParams: () => read(device.createCommandEncoder({ label: 'readValueParams' }), params.buffer, flatSize * 4),
    async saveState() {
      const [saved, m, v] = await state.read();
      return { params: saved, m, v, updates: steps };
    },
    loadState(saved) {
      invariant(saved.params.length === flatSize, `a state of ${saved.params.length} parameters for a value network of ${flatSize}`);
      for (const [buffer, data] of [[params.buffer, saved.params], [optimiser.moments.m, saved.m], [optimiser.moments.v, saved.v]] as const) {
        queue.writeBuffer(buffer, 0, Float32Array.from(data));
      }
      steps = saved.updates;
    },
    values: async (batch) => (await read(startForward(batch), values, batch.positions * 4)).subarray(0, batch.positions),
    update(batch: PackedBatch, inputs: ValueInputs, o: ValueUpdateOptions) {
      const n = batch.positions;
      for (let i = 0; i < n; i++) {
        packed[4 * i] = inputs.oldValues[i];
        packed[4 * i + 1] = inputs.returns[i];
        packed[4 * i + 2] = inputs.weight[i];
      }
      queue.writeBuffer(items, 0, packed, 0, n * 4);
      queue.writeBuffer(shape, 0, Uint32Array.of(config.V, f32Bits(o.valueClip)));
      optimiser.writeHyper({ lr: o.learningRate, beta1: o.beta1, beta2: o.beta2, eps: o.adamEps, decay: o.weightDecay, maxNorm: o.maxGradNorm, step: ++steps });
      const encoder = startForward(batch);
      const pass = encoder.beginComputePass({ label: 'valueBackward' });
      encode(pass, transformer.backward, n);
      encode(pass, optimiser.list, n);
      pass.end();
      invariant(used + (n + 1) * 4 <= RECORD_BYTES, `the value updates of one iteration leave over ${RECORD_BYTES} bytes; collect earlier`);
      encoder.copyBufferToBuffer(values, 0, staging, used, n * 4);
      encoder.copyBufferToBuffer(optimiser.norm, 0, staging, used + n * 4, 4);
      entries.push({ offset: used, n });
      used += (n + 1) * 4;
      queue.submit([encoder.finish()]);
    },
    async collect(): Promise<ValueRecord[]> {
      const collected = entries;
      const bytes = Math.ceil(used / 8) * 8;
      entries = [];
      used = 0;
      if (collected.length === 0) return [];
      await staging.mapAsync(1, 0, bytes);
      const data = staging.getMappedRange(0, bytes).slice(0);
      staging.unmap();
      return collected.map(({ offset, n }) => ({ values: new Float32Array(data, offset, n), gradNorm: new Float32Array(data, offset + n * 4, 1)[0] }));
    },
  };
}
