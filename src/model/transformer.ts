import { GPU_USAGE, type GpuContext } from '../gpu/device';
import type { Dispatch } from '../gpu/program';
import type { ModelConfig } from './config';
import { f32Bits, uniform4, type GpuParams } from './parameters';
import type { ModelPipelines } from './pipelines';

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

  const shapeC = shape('shapeC', C, f32Bits(config.normEps));
  const shapeEmbed = shape('shapeEmbed', C, V, (params.layout.byName.get('positionEmbedding')?.offset ?? 0) / 4, T);
  const shapeAttention = shape('shapeAttention', C, H);
  const shapeRope = shape('shapeRope', C, H, C / H / 4, 0);
  const shapeRopeBack = shape('shapeRopeBack', C, H, C / H / 4, 1);
  const shapeNormAdd = shape('shapeNormAdd', C, 1);
  const shapeNormSet = shape('shapeNormSet', C, 0);
  const matmulShapes = { qkv: [C, 3 * C], attnOut: [C, C], fc1: [C, 4 * C], fc2: [4 * C, C], unembed: [C, V] } as const;
  type Matrix = keyof typeof matmulShapes;
  const matmulUniforms = Object.fromEntries(Object.entries(matmulShapes).map(([k, s]) => [k, shape(`shape_${k}`, ...s)])) as Record<Matrix, GPUBuffer>;

  const forward: Dispatch[] = [];
  const backward: Dispatch[] = [];
  const add = (list: Dispatch[], pipeline: Dispatch['pipeline'], buffers: Parameters<GpuContext['bind']>[1], threads: Dispatch['threads']) =>
    list.push({ pipeline, bindGroup: ctx.bind(pipeline, buffers), threads });
  const tileThreads = (m: Matrix) => (n: number) => Math.ceil(n / 8) * (matmulShapes[m][1] / 8);
  const inputThreads = (m: Matrix) => (n: number) => Math.ceil(n / 8) * (matmulShapes[m][0] / 8);
  const gradSlice = (name: string) => {
    const spec = params.layout.byName.get(name);
    if (!spec) throw new Error(`no parameter is called ${name}`);
    return { buffer: grads, offset: spec.offset * 4, size: (splits - 1) * flat4 * 16 + spec.size * 4 };
  };
  const weightGrad = (m: Matrix, name: string, x: GPUBuffer, dy: GPUBuffer) =>
    add(backward, p.matmulBackwardWeight, { dims, shape: matmulUniforms[m], split, x, dy, grads: gradSlice(name) }, () => (splits * matmulShapes[m][0] * matmulShapes[m][1]) / 64);

  // Forward.
  let x = floats('x0', C);
  add(forward, p.embedForward, { dims, shape: shapeEmbed, tok: inputs.tok, pos: inputs.pos, tokenEmbedding: params.slice('tokenEmbedding'), positionEmbedding: params.slice('positionEmbedding'), x }, (n) => (n * C) / 4);
  const layers = Array.from({ length: L }, (_, l) => {
    const t = (name: string, width: number) => floats(`l${l}.${name}`, width);
    const layer = { xIn: x, n1: t('n1', C), r1: t('r1', 1), qkv: t('qkv', 3 * C), att: t('att', C), lse: t('lse', H), xMid: t('xMid', C), n2: t('n2', C), r2: t('r2', 1), h: t('h', 4 * C), a: t('a', 4 * C), xOut: t('xOut', C) };
    const w = (name: string) => params.slice(`l${l}.${name}`);
    add(forward, p.rmsnormForward, { dims, shape: shapeC, x: layer.xIn, g: w('norm1'), y: layer.n1, rstd: layer.r1 }, (n) => n);
    add(forward, p.matmulForward, { dims, shape: matmulUniforms.qkv, x: layer.n1, w: w('qkv'), y: layer.qkv }, tileThreads('qkv'));
    add(forward, p.rope, { dims, shape: shapeRope, pos: inputs.pos, table: ropeTable, qkv: layer.qkv }, (n) => (n * C) / 4);
    add(forward, p.attentionForward, { dims, shape: shapeAttention, pos: inputs.pos, qkv: layer.qkv, attended: layer.att, lse: layer.lse }, (n) => n * H);
    add(forward, p.matmulResidual, { dims, shape: matmulUniforms.attnOut, x: layer.att, w: w('attnOut'), residual: layer.xIn, y: layer.xMid }, tileThreads('attnOut'));
    add(forward, p.rmsnormForward, { dims, shape: shapeC, x: layer.xMid, g: w('norm2'), y: layer.n2, rstd: layer.r2 }, (n) => n);
    add(forward, p.matmulActivation, { dims, shape: matmulUniforms.fc1, x: layer.n2, w: w('fc1'), h: layer.h, y: layer.a }, tileThreads('fc1'));
    add(forward, p.matmulResidual, { dims, shape: matmulUniforms.fc2, x: layer.a, w: w('fc2'), residual: layer.xMid, y: layer.xOut }, tileThreads('fc2'));
    x = layer.xOut;
    return layer;
  });
  const xFinal = x;
  const nf = floats('nf', C);
  const rf = floats('rf', 1);
  add(forward, p.rmsnormForward, { dims, shape: shapeC, x: xFinal, g: params.slice('finalNorm'), y: nf, rstd: rf }, (n) => n);
  add(forward, p.matmulForward, { dims, shape: matmulUniforms.unembed, x: nf, w: params.slice('unembed'), y: outputs.logits }, tileThreads('unembed'));
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
  const normBack = (name: string, xn: GPUBuffer, rstd: GPUBuffer, accumulate: boolean) => {
    add(backward, p.rmsnormBackwardGain, { dims, shape: shapeC, split, x: xn, rstd, dy: dn, grads: gradSlice(name) }, () => (splits * C) / 4);
    add(backward, p.rmsnormBackward, { dims, shape: accumulate ? shapeNormAdd : shapeNormSet, x: xn, g: params.slice(name), rstd, dy: dn, dx }, (n) => n);
  };
  if (head) backward.push(head.backward);
  else add(backward, p.tokenLogpBackward, { dims, shape: logpShape, targets: inputs.targets, lse, coefficients, logits: outputs.logits }, (n) => (n * V) / 4);
  weightGrad('unembed', 'unembed', nf, outputs.logits);
  add(backward, p.matmulBackwardInput, { dims, shape: matmulUniforms.unembed, dy: outputs.logits, w: params.slice('unembed'), dx: dn }, inputThreads('unembed'));
  normBack('finalNorm', xFinal, rf, false);
  for (let l = L - 1; l >= 0; l--) {
    const layer = layers[l];
    const w = (name: string) => params.slice(`l${l}.${name}`);
    weightGrad('fc2', `l${l}.fc2`, layer.a, dx);
    add(backward, p.matmulBackwardInputActivation, { dims, shape: matmulUniforms.fc2, dy: dx, w: w('fc2'), h: layer.h, dh }, inputThreads('fc2'));
    weightGrad('fc1', `l${l}.fc1`, layer.n2, dh);
    add(backward, p.matmulBackwardInput, { dims, shape: matmulUniforms.fc1, dy: dh, w: w('fc1'), dx: dn }, inputThreads('fc1'));
    normBack(`l${l}.norm2`, layer.xMid, layer.r2, true);
    weightGrad('attnOut', `l${l}.attnOut`, layer.att, dx);
    add(backward, p.matmulBackwardInput, { dims, shape: matmulUniforms.attnOut, dy: dx, w: w('attnOut'), dx: dAtt }, inputThreads('attnOut'));
    add(backward, p.attentionBackwardQuery, { dims, shape: shapeAttention, pos: inputs.pos, qkv: layer.qkv, attended: layer.att, lse: layer.lse, dAttended: dAtt, delta, dqkv }, (n) => n * H);
    add(backward, p.attentionBackwardKeyValue, { dims, shape: shapeAttention, rowEnd: inputs.rowEnd, qkv: layer.qkv, lse: layer.lse, delta, dAttended: dAtt, dqkv }, (n) => n * H);
    add(backward, p.rope, { dims, shape: shapeRopeBack, pos: inputs.pos, table: ropeTable, qkv: dqkv }, (n) => (n * C) / 4);
    weightGrad('qkv', `l${l}.qkv`, layer.n1, dqkv);
    add(backward, p.matmulBackwardInput, { dims, shape: matmulUniforms.qkv, dy: dqkv, w: w('qkv'), dx: dn }, inputThreads('qkv'));
    normBack(`l${l}.norm1`, layer.xIn, layer.r1, true);
  }
  add(backward, p.embedBackward, { dims, shape: shapeEmbed, split, tok: inputs.tok, pos: inputs.pos, dx, grads }, () => (splits * C) / 4);

  return { forward, backward, inputs, outputs, coefficients, grads, dims, logpShape, split };
}
