import { GPU_USAGE, type GpuContext, type Pipeline } from '../gpu/device';
import { encode, type Dispatch } from '../gpu/program';
import type { ModelConfig } from './config';
import { STEP_STRIDE, type DecoderBuffers, type EncodeSpan } from './decoding';
import { f32Bits, type GpuParams } from './parameters';

/** Most bytes of workgroup memory that every WebGPU adapter has. */
const WORKGROUP_BYTES = 16384;
const WIDEST = 128;

/**
 * Whether decodeWhole suits: a GPU, a model whose rows fit in a workgroup's memory, and narrow enough that each row may
 * read all weights for itself.
 */
export function decodesWhole(facts: { software: boolean }, limits: { maxStorageBuffersPerShaderStage: number }, config: ModelConfig): boolean {
  const { C, H, V, T } = config;
  return !facts.software && C <= WIDEST && (8 * C + H * T + V + 1) * 4 <= WORKGROUP_BYTES && limits.maxStorageBuffersPerShaderStage >= 7;
}

/** Decoding with one dispatch for all positions of a submit: a workgroup for each row. */
export function encodeWhole(ctx: GpuContext, pipeline: Pipeline, config: ModelConfig, params: GpuParams, ropeTable: GPUBuffer, capacity: number, shared: DecoderBuffers): EncodeSpan {
  const { C, L, T } = config;
  const at = (name: string) => params.layout.byName.get(name)?.offset ?? 0;
  const places = ctx.buffer('decode.places', 48, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  ctx.device.queue.writeBuffer(
    places,
    0,
    Uint32Array.of(
      ...['tokenEmbedding', 'positionEmbedding', 'finalNorm', 'unembed', 'l0.norm1', 'l0.qkv', 'l0.attnOut', 'l0.norm2', 'l0.fc1', 'l0.fc2'].map(at),
      L > 1 ? at('l1.norm1') - at('l0.norm1') : 0,
      f32Bits(config.normEps),
    ),
  );
  const cache = (label: string) => ctx.buffer(`decode.${label}`, L * capacity * T * C * 4);
  const { step, ...others } = shared;
  const bindGroup = ctx.bind(pipeline, { ...others, span: step, places, params: params.buffer, table: ropeTable, keys: cache('keys'), values: cache('values') });
  const list: Dispatch[] = [{ pipeline, bindGroup, threads: (rows) => rows * pipeline.shader.workgroupSize }];
  return (pass, { rows }, first) => encode(pass, list, rows, [first * STEP_STRIDE]);
}
