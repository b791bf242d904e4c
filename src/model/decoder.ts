import { GPU_USAGE, type GpuContext } from '../gpu/device';
import { encode, type Dispatch } from '../gpu/program';
import type { ModelConfig } from './config';
import { f32Bits, uniform4, type GpuParams } from './parameters';
import type { ModelPipelines } from './pipelines';
import { productMaker } from './products';

/** Decoding with a key/value cache for up to `capacity` rows of T positions; everything stays on the GPU until `tokens` is read. */
export interface Decoder {
  /** [R, S]; prompts are written here first. S = promptLength + maxNewTokens of the current rollout. */
  tokens: GPUBuffer;
  /** (log-prob, entropy) pairs; [R, maxNewTokens, 2]. */
  logpEntropy: GPUBuffer;
  /** Encodes and submits one rollout. */
  run(request: DecodeRequest): void;
}

export interface DecodeRequest {
  rows: number;
  promptLength: number;
  maxNewTokens: number;
  eos: number;
  temperature: number;
  greedy: boolean;
  seed: number;
  iteration: number;
}

/** Steps per submit: enough to keep a GPU busy, few enough that the compositor is never starved. */
const STEPS_PER_SUBMIT = 8;
/** Rows that have ended are left out from the next gathering on: a little work for nothing against a dispatch a step. */
const STEPS_PER_GATHER = 4;
const STEP_STRIDE = 256;

export function buildDecoder(ctx: GpuContext, p: ModelPipelines, config: ModelConfig, params: GpuParams, ropeTable: GPUBuffer, capacity: number): Decoder {
  const { C, L, H, V, T } = config;
  const { device } = ctx;
  const floats = (label: string, perRow: number) => ctx.buffer(`decode.${label}`, capacity * perRow * 4);
  const shape = (label: string, ...values: number[]) => uniform4(ctx, `decode.${label}`, values);

  const tokens = floats('tokens', T);
  const logpEntropy = floats('logpEntropy', 2 * T);
  const alive = floats('alive', 1);
  const liveRows = floats('liveRows', 1);
  // The count of live rows is written by decodeGather and read by every later kernel as its `dims`.
  const live = ctx.buffer('decode.live', 16, GPU_USAGE.STORAGE | GPU_USAGE.UNIFORM);
  const step = ctx.buffer('decode.step', T * STEP_STRIDE, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  const steps = new Uint32Array((T * STEP_STRIDE) / 4);
  for (let t = 0; t < T; t++) steps[(t * STEP_STRIDE) / 4] = t;
  device.queue.writeBuffer(step, 0, steps);
  const limits = shape('limits');
  const key = shape('key');
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
        for (let t = first; t < Math.min(S - 1, first + STEPS_PER_SUBMIT); t++) {
          // No row ends inside the prompt.
          if (t === 0 || (t >= promptLength && t % STEPS_PER_GATHER === 0)) encode(pass, gather, rows);
          encode(pass, body, rows, [t * STEP_STRIDE]);
          // Inside the prompt the next token is known: only its keys and values are wanted.
          if (t >= promptLength - 1) encode(pass, head, rows, [t * STEP_STRIDE]);
        }
        pass.end();
        device.queue.submit([encoder.finish()]);
      }
    },
  };
}
