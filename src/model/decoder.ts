import { GPU_USAGE, type GpuContext } from '../gpu/device';
import type { ModelConfig } from './config';
import { STEP_STRIDE, type DecodeRequest, type DecoderBuffers } from './decoding';
import { f32Bits, uniform4, type GpuParams } from './parameters';
import { encodeParts } from './decodeParts';
import { encodeWhole } from './decodeWhole';
import type { ModelPipelines } from './pipelines';

/** Decoding with a key/value cache for up to `capacity` rows of T positions; everything stays on the GPU until `tokens` is read. */
export interface Decoder {
  /** [R, S]; prompts are written here first. S = promptLength + maxNewTokens of the current rollout. */
  tokens: GPUBuffer;
  /** (log-prob, entropy) pairs; [R, maxNewTokens, 2]. */
  logpEntropy: GPUBuffer;
  /** Encodes and submits one rollout. */
  run(request: DecodeRequest): void;
}

/** Steps per submit: enough to keep a GPU busy, few enough that the compositor is never starved. */
const STEPS_PER_SUBMIT = 8;

export function buildDecoder(ctx: GpuContext, p: ModelPipelines, config: ModelConfig, params: GpuParams, ropeTable: GPUBuffer, capacity: number): Decoder {
  const { T } = config;
  const { device } = ctx;
  const floats = (label: string, perRow: number) => ctx.buffer(`decode.${label}`, capacity * perRow * 4);
  const shape = (label: string, ...values: number[]) => uniform4(ctx, `decode.${label}`, values);

  const tokens = floats('tokens', T);
  const logpEntropy = floats('logpEntropy', 2 * T);
  const alive = floats('alive', 1);
  const step = ctx.buffer('decode.step', T * STEP_STRIDE, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  const steps = new Uint32Array((T * STEP_STRIDE) / 4);
  for (let t = 0; t < T; t++) steps.set([t, t + STEPS_PER_SUBMIT], (t * STEP_STRIDE) / 4);
  device.queue.writeBuffer(step, 0, steps);
  const limits = shape('limits');
  const key = shape('key');
  const shared: DecoderBuffers = { tokens, logpEntropy, alive, step, limits, key };
  const encodeSpan = p.decodeWhole ? encodeWhole(ctx, p.decodeWhole, config, params, ropeTable, capacity, shared) : encodeParts(ctx, p, config, params, ropeTable, capacity, shared);

  const ones = new Uint32Array(capacity).fill(1);
  return {
    tokens,
    logpEntropy,
    run: (request) => {
      const { rows, promptLength } = request;
      const S = promptLength + request.maxNewTokens;
      device.queue.writeBuffer(alive, 0, ones, 0, rows);
      device.queue.writeBuffer(limits, 0, Uint32Array.of(rows, S, promptLength, request.eos));
      device.queue.writeBuffer(key, 0, Uint32Array.of(request.seed, request.iteration, request.greedy ? 1 : 0, f32Bits(1 / request.temperature)));
      for (let first = 0; first < S - 1; first += STEPS_PER_SUBMIT) {
        const encoder = device.createCommandEncoder({ label: 'decode' });
        if (first === 0) encoder.clearBuffer(logpEntropy, 0, rows * request.maxNewTokens * 8);
        const pass = encoder.beginComputePass({ label: 'decode' });
        encodeSpan(pass, request, first, Math.min(S - 1, first + STEPS_PER_SUBMIT));
        pass.end();
        device.queue.submit([encoder.finish()]);
      }
    },
  };
}
