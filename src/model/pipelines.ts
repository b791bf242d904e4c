import type { GpuContext, Pipeline } from '../gpu/device';
import { adamw } from '../kernels/adamw/adamw';
import { attentionBackwardKeyValue, attentionBackwardQuery, attentionForward } from '../kernels/attention/attention';
import { decodeAttention, decodeEmbed, decodeGather, decodeSample } from '../kernels/decode/decode';
import { embedBackward, embedForward } from '../kernels/embed/embed';
import { gradientNorm, gradientReduce } from '../kernels/gradient/gradient';
import { shaderOf } from '../kernels/kernelSpec';
import { matmulConstants, matmulSpec, matmulVariantFor, type MatmulVariant } from '../kernels/matmul/matmul';
import { permute } from '../kernels/permute/permute';
import { rmsnormBackward, rmsnormBackwardGain } from '../kernels/rmsnorm/rmsnorm';
import { rope } from '../kernels/rope/rope';
import { roundMantissa } from '../kernels/roundMantissa/roundMantissa';
import { tokenLogpBackward, tokenLogpForward } from '../kernels/tokenLogp/tokenLogp';
import type { ModelConfig } from './config';

const MODEL_KERNELS = {
  embedForward,
  embedBackward,
  rmsnormBackward,
  rmsnormBackwardGain,
  rope,
  attentionForward,
  attentionBackwardQuery,
  attentionBackwardKeyValue,
  tokenLogpForward,
  tokenLogpBackward,
  gradientReduce,
  gradientNorm,
  adamw,
  roundMantissa,
  permute,
  decodeGather,
  decodeEmbed,
  decodeAttention,
  decodeSample,
};

const MATMULS = ['matmul', 'matmulBackwardWeight'] as const;

/** Every pipeline that a policy of one size needs, and how its products are cut up. */
export type ModelPipelines = Record<keyof typeof MODEL_KERNELS | (typeof MATMULS)[number], Pipeline> & { variant: MatmulVariant };

/** Compiles them all, several at a time; `onProgress` hears how many of how many are done. Throws when one does not compile. */
export async function compileModel(ctx: GpuContext, config: ModelConfig, onProgress: (done: number, total: number) => void = () => {}): Promise<ModelPipelines> {
  const constants = { HD4: config.C / config.H / 4, HALF: config.C / config.H / 8, VOCAB: config.V };
  const variant = matmulVariantFor(ctx.facts);
  const shaders = [
    // The largest first: they take the longest.
    ...MATMULS.map((name) => [name, shaderOf(matmulSpec(name, variant), matmulConstants(variant))] as const),
    ...(Object.keys(MODEL_KERNELS) as (keyof typeof MODEL_KERNELS)[]).map((name) => [name, shaderOf(MODEL_KERNELS[name], constants)] as const),
  ];
  let done = 0;
  const compiled = await Promise.all(
    shaders.map(async ([name, shader]) => {
      const pipeline = await ctx.pipeline(shader);
      onProgress(++done, shaders.length);
      return [name, pipeline] as const;
    }),
  );
  return { ...(Object.fromEntries(compiled) as Omit<ModelPipelines, 'variant'>), variant } as ModelPipelines;
}
