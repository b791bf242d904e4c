import { GPU_USAGE, type GpuContext } from '../gpu/device';
import type { Dispatch } from '../gpu/program';
import { matmulWeightThreads } from '../kernels/matmul/matmul';
import type { ModelConfig } from './config';
import { f32Bits, uniform4, type GpuParams } from './parameters';
import type { ModelPipelines } from './pipelines';
import { productMaker } from './products';
import { transposedParams } from './transposed';

/**
 * The policy over packed positions, as prebuilt dispatch lists: forward to log-probs, and backward from dLoss/dlogp to
 * the flat gradient. Rows of different lengths lie end to end, so no padding is ever computed.
 * N = positions in use, at most `capacity`.
 */
export interface Transformer {
  forward: Dispatch[];
  backward: Dispatch[];
  inputs: { tok: GPUBuffer; pos: GPUBuffer; rowEnd: GPUBuffer; targets: GPUBuffer };
  outputs: { logits: GPUBuffer; logp: GPUBuffer; entropy: GPUBuffer };
  /** dLoss/dlogp first in each vec4; [N, 4]. */
  coefficients: GPUBuffer;
  /** Gradient, [splits, flat]; the caller reduces it. */
  grads: GPUBuffer;
  /** dims.rows = N, to be written before each run. */
  dims: GPUBuffer;
  /** (V, bits of 1/temperature, -, -), to be rewritten when the temperature changes. */
  logpShape: GPUBuffer;
  split: GPUBuffer;
}

/** What a head is built from: it reads the logits, and leaves dLoss/dlogits in their place. */
export interface HeadInputs {
  /** [N, V]. */
  logits: GPUBuffer;
  targets: GPUBuffer;
  dims: GPUBuffer;
}

/** The last stage of forward and the first of backward. */
export interface Head {
  forward: Dispatch;
  backward: Dispatch;
}

export interface TransformerOptions {
  /** In place of the policy's head, which turns logits into log-probs. */
  head?: (inputs: HeadInputs) => Head;
  capacity: number;
  /** Into how many parts the sums over positions are split (more parallel work for a GPU). */
  splits: number;
  /** Threads of the gradient reduction. */
  reduceThreads: number;
}

export function buildTransformer(ctx: GpuContext, p: ModelPipelines, config: ModelConfig, params: GpuParams, ropeTable: GPUBuffer, options: TransformerOptions): Transformer {
  const { C, L, H, V, T } = config;
  const { capacity: N, splits } = options;
  const flat4 = params.layout.flatSize / 4;
  const floats = (label: string, perPosition: number) => ctx.buffer(label, N * perPosition * 4);
  const shape = (label: string, ...values: number[]) => uniform4(ctx, label, values);

  const dims = ctx.buffer('dims', 16, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  const split = shape('split', splits, flat4, options.reduceThreads);
  const inputs = { tok: floats('tok', 1), pos: floats('pos', 1), rowEnd: floats('rowEnd', 1), targets: floats('targets', 1) };
  const outputs = { logits: floats('logits', V), logp: floats('logp', 1), entropy: floats('entropy', 1) };
  const coefficients = floats('coefficients', 4);
  const grads = ctx.buffer('grads', splits * flat4 * 16);
  const lse = floats('vocabLse', 1);
  const logpShape = shape('logpShape', V, f32Bits(1));

  const shapeC = shape('shapeC', C);
  const shapeEmbed = shape('shapeEmbed', C, V, (params.layout.byName.get('positionEmbedding')?.offset ?? 0) / 4, T);
  const shapeAttention = shape('shapeAttention', C, H);
  const shapeRope = shape('shapeRope', C, H, C / H / 4);
  const shapeNormAdd = shape('shapeNormAdd', C, 1);
  const matrices = { qkv: { label: 'qkv', K: C, O: 3 * C }, attnOut: { label: 'attnOut', K: C, O: C }, fc1: { label: 'fc1', K: C, O: 4 * C }, fc2: { label: 'fc2', K: 4 * C, O: C }, unembed: { label: 'unembed', K: C, O: V } } as const;
  type Matrix = keyof typeof matrices;
  const product = productMaker(ctx, p, dims, { label: 'train', widest: Math.max(4 * C, V), normEps: config.normEps });

  const forward: Dispatch[] = [];
  const backward: Dispatch[] = [];
  const add = (list: Dispatch[], pipeline: Dispatch['pipeline'], buffers: Parameters<GpuContext['bind']>[1], threads: Dispatch['threads']) =>
    list.push({ pipeline, bindGroup: ctx.bind(pipeline, buffers), threads });
  const specOf = (name: string) => {
    const spec = params.layout.byName.get(name);
    if (!spec) throw new Error(`no parameter is called ${name}`);
    return spec;
  };
  const gradSlice = (name: string) => ({ buffer: grads, offset: specOf(name).offset * 4, size: (splits - 1) * flat4 * 16 + specOf(name).size * 4 });
  const noRstd = floats('noRstd', 1);
  const weightGrad = (m: Matrix, name: string, x: GPUBuffer, dy: GPUBuffer, rstd?: GPUBuffer) => {
    const { K, O } = matrices[m];
    add(backward, p.matmulBackwardWeight, { dims, shape: shape(`grad_${m}`, K, O, rstd ? 1 : 0), split, x, dy, rstd: rstd ?? noRstd, grads: gradSlice(name) }, () => matmulWeightThreads(p.variant, K, O, splits));
  };
  // dx = dy W^T: W lies transposed at its own place in a copy of the parameters.
  const transposed = transposedParams(ctx, p, params, 'train');
  const inputGrad = (m: Matrix, name: string, dy: GPUBuffer, dx: GPUBuffer, slopeAt?: GPUBuffer) =>
    backward.push(product({ label: `${m}Back`, K: matrices[m].O, O: matrices[m].K }, { x: dy, w: transposed.slice(name), y: dx, ...(slopeAt ? { slopeAt } : {}) }));

  // Forward.
  let x = floats('x0', C);
  add(forward, p.embedForward, { dims, shape: shapeEmbed, tok: inputs.tok, pos: inputs.pos, tokenEmbedding: params.slice('tokenEmbedding'), positionEmbedding: params.slice('positionEmbedding'), x }, (n) => (n * C) / 4);
  const layers = Array.from({ length: L }, (_, l) => {
    const t = (name: string, width: number) => floats(`l${l}.${name}`, width);
    const layer = { xIn: x, r1: t('r1', 1), qkv: t('qkv', 3 * C), att: t('att', C), lse: t('lse', H), xMid: t('xMid', C), r2: t('r2', 1), h: t('h', 4 * C), a: t('a', 4 * C), xOut: t('xOut', C) };
    const w = (name: string) => params.slice(`l${l}.${name}`);
    forward.push(product(matrices.qkv, { x: layer.xIn, w: w('qkv'), y: layer.qkv, norm: { gain: w('norm1'), rstd: layer.r1 } }));
    add(forward, p.rope, { dims, shape: shapeRope, pos: inputs.pos, table: ropeTable, qkv: layer.qkv }, (n) => (n * C) / 4);
    add(forward, p.attentionForward, { dims, shape: shapeAttention, pos: inputs.pos, qkv: layer.qkv, attended: layer.att, lse: layer.lse }, (n) => n * H);
    forward.push(product(matrices.attnOut, { x: layer.att, w: w('attnOut'), y: layer.xMid, residual: layer.xIn }));
    forward.push(product(matrices.fc1, { x: layer.xMid, w: w('fc1'), y: layer.h, activated: layer.a, norm: { gain: w('norm2'), rstd: layer.r2 } }));
    forward.push(product(matrices.fc2, { x: layer.a, w: w('fc2'), y: layer.xOut, residual: layer.xMid }));
    x = layer.xOut;
    return layer;
  });
  const xFinal = x;
  const rf = floats('rf', 1);
  forward.push(product(matrices.unembed, { x: xFinal, w: params.slice('unembed'), y: outputs.logits, norm: { gain: params.slice('finalNorm'), rstd: rf } }));
  const head = options.head?.({ logits: outputs.logits, targets: inputs.targets, dims });
  if (head) forward.push(head.forward);
  else add(forward, p.tokenLogpForward, { dims, shape: logpShape, logits: outputs.logits, targets: inputs.targets, logp: outputs.logp, entropy: outputs.entropy, lse }, (n) => n);

  // Backward. dx is the gradient of the residual stream, carried from the top to the embedding.
  const dx = floats('dx', C);
  const dn = floats('dn', C);
  const dAtt = floats('dAtt', C);
  const dqkv = floats('dqkv', 3 * C);
  const dh = floats('dh', 4 * C);
  const delta = floats('delta', H);
  const normBack = (name: string, xn: GPUBuffer, rstd: GPUBuffer, accumulate: boolean) =>
    add(backward, p.rmsnormBackward, { dims, shape: accumulate ? shapeNormAdd : shapeC, x: xn, g: params.slice(name), rstd, dy: dn, dx }, (n) => n);
  backward.push(transposed.dispatch);
  if (head) backward.push(head.backward);
  else add(backward, p.tokenLogpBackward, { dims, shape: logpShape, targets: inputs.targets, lse, coefficients, logits: outputs.logits }, (n) => (n * V) / 4);
  weightGrad('unembed', 'unembed', xFinal, outputs.logits, rf);
  inputGrad('unembed', 'unembed', outputs.logits, dn);
  normBack('finalNorm', xFinal, rf, false);
  for (let l = L - 1; l >= 0; l--) {
    const layer = layers[l];
    weightGrad('fc2', `l${l}.fc2`, layer.a, dx);
    inputGrad('fc2', `l${l}.fc2`, dx, dh, layer.h);
    weightGrad('fc1', `l${l}.fc1`, layer.xMid, dh, layer.r2);
    inputGrad('fc1', `l${l}.fc1`, dh, dn);
    normBack(`l${l}.norm2`, layer.xMid, layer.r2, true);
    weightGrad('attnOut', `l${l}.attnOut`, layer.att, dx);
    inputGrad('attnOut', `l${l}.attnOut`, dx, dAtt);
    add(backward, p.attentionBackwardQuery, { dims, shape: shapeAttention, pos: inputs.pos, qkv: layer.qkv, attended: layer.att, lse: layer.lse, dAttended: dAtt, delta, dqkv, table: ropeTable }, (n) => n * H);
    add(backward, p.attentionBackwardKeyValue, { dims, shape: shapeAttention, rowEnd: inputs.rowEnd, qkv: layer.qkv, lse: layer.lse, delta, dAttended: dAtt, dqkv, pos: inputs.pos, table: ropeTable }, (n) => n * H);
    weightGrad('qkv', `l${l}.qkv`, layer.xIn, dqkv, layer.r1);
    inputGrad('qkv', `l${l}.qkv`, dqkv, dn);
    normBack(`l${l}.norm1`, layer.xIn, layer.r1, true);
  }
  const pairs = [['unembed', 'finalNorm'], ...layers.flatMap((_, l) => [[`l${l}.qkv`, `l${l}.norm1`], [`l${l}.fc1`, `l${l}.norm2`]])];
  const pairTable = ctx.buffer('normPairs', pairs.length * 16);
  ctx.device.queue.writeBuffer(pairTable, 0, Uint32Array.from(pairs.flatMap(([matrix, gain]) => [specOf(matrix).offset, specOf(gain).offset, specOf(matrix).shape[1], 0])));
  add(backward, p.rmsnormBackwardGain, { shape: shape('shapeGain', C, pairs.length), split, pairs: pairTable, params: params.buffer, grads }, () => splits * pairs.length * C);
  add(backward, p.embedBackward, { dims, shape: shapeEmbed, split, tok: inputs.tok, pos: inputs.pos, dx, grads }, () => (splits * C) / 4);

  return { forward, backward, inputs, outputs, coefficients, grads, dims, logpShape, split };
}
