import { GPU_USAGE, type GpuContext } from '../gpu/device';
import { encode, type Dispatch } from '../gpu/program';
import type { ModelConfig } from './config';
import { STEP_STRIDE, type DecoderBuffers, type EncodeSpan } from './decoding';
import { uniform4, type GpuParams } from './parameters';
import type { ModelPipelines } from './pipelines';
import { productMaker } from './products';

/** Rows that have ended are left out from the next gathering on: a little work for nothing against a dispatch a step. */
const STEPS_PER_GATHER = 4;

/** Decoding as a list of dispatches for each position, over the rows that still run: for adapters that pay for barriers. */
export function encodeParts(ctx: GpuContext, p: ModelPipelines, config: ModelConfig, params: GpuParams, ropeTable: GPUBuffer, capacity: number, shared: DecoderBuffers): EncodeSpan {
  const { C, L, H, V, T } = config;
  const { tokens, logpEntropy, alive, step, limits, key } = shared;
  const floats = (label: string, perRow: number) => ctx.buffer(`decode.${label}`, capacity * perRow * 4);
  const shape = (label: string, ...values: number[]) => uniform4(ctx, `decode.${label}`, values);
  const liveRows = floats('liveRows', 1);
  // The count of live rows is written by decodeGather and read by every later kernel as its `dims`.
  const live = ctx.buffer('decode.live', 16, GPU_USAGE.STORAGE | GPU_USAGE.UNIFORM);
  const x = [floats('xA', C), floats('xB', C)] as const;
  const rstd = floats('rstd', 1);
  const qkv = floats('qkv', 3 * C);
  const attended = floats('attended', C);
  const h = floats('h', 4 * C);
  const a = floats('a', 4 * C);
  const logits = floats('logits', V);

  const gather: Dispatch[] = [];
  const body: Dispatch[] = [];
  const head: Dispatch[] = [];
  const add = (list: Dispatch[], pipeline: Dispatch['pipeline'], buffers: Parameters<GpuContext['bind']>[1], threads: Dispatch['threads']) =>
    list.push({ pipeline, bindGroup: ctx.bind(pipeline, buffers), threads });
  const shapeC = shape('shapeC', C);
  const shapeAttention = shape('attention', C, H, T);
  const product = productMaker(ctx, p, live, { label: 'decode', widest: 4 * C, normEps: config.normEps });
  const norm = (name: string) => ({ gain: params.slice(name), rstd });

  add(gather, p.decodeGather, { limits, alive, live, liveRows }, () => 1);
  add(body, p.decodeEmbed, { dims: live, step, limits, shape: shapeC, liveRows, tokens, tokenEmbedding: params.slice('tokenEmbedding'), positionEmbedding: params.slice('positionEmbedding'), x: x[0] }, (rows) => (rows * C) / 4);
  for (let l = 0; l < L; l++) {
    const keys = floats(`l${l}.keys`, T * C);
    const values = floats(`l${l}.values`, T * C);
    const w = (name: string) => params.slice(`l${l}.${name}`);
    body.push(product({ label: 'qkv', K: C, O: 3 * C }, { x: x[0], w: w('qkv'), y: qkv, norm: norm(`l${l}.norm1`) }));
    add(body, p.decodeAttention, { dims: live, shape: shapeAttention, liveRows, step, table: ropeTable, qkv, keys, values, attended }, (rows) => rows * H);
    body.push(product({ label: 'attnOut', K: C, O: C }, { x: attended, w: w('attnOut'), y: x[1], residual: x[0] }));
    body.push(product({ label: 'fc1', K: C, O: 4 * C }, { x: x[1], w: w('fc1'), y: h, activated: a, norm: norm(`l${l}.norm2`) }));
    body.push(product({ label: 'fc2', K: 4 * C, O: C }, { x: a, w: w('fc2'), y: x[0], residual: x[1] }));
  }
  head.push(product({ label: 'unembed', K: C, O: V }, { x: x[0], w: params.slice('unembed'), y: logits, norm: norm('finalNorm') }));
  add(head, p.decodeSample, { dims: live, step, limits, key, liveRows, logits, tokens, alive, logpEntropy }, (rows) => rows);

  return (pass, { rows, promptLength }, first, end) => {
    for (let t = first; t < end; t++) {
      // No row ends inside the prompt.
      if (t === 0 || (t >= promptLength && t % STEPS_PER_GATHER === 0)) encode(pass, gather, rows);
      encode(pass, body, rows, [t * STEP_STRIDE]);
      // Inside the prompt the next token is known: only its keys and values are wanted.
      if (t >= promptLength - 1) encode(pass, head, rows, [t * STEP_STRIDE]);
    }
  };
}
