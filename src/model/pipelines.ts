import type { GpuContext, Pipeline } from '../gpu/device';
import { adamw } from '../kernels/adamw/adamw';
import { attentionBackwardKeyValue, attentionBackwardQuery, attentionForward } from '../kernels/attention/attention';
import { decodeAttention, decodeEmbed, decodeGather, decodeSample, decodeWhole, decodeWholeConstants } from '../kernels/decode/decode';
import { embedBackward, embedForward } from '../kernels/embed/embed';
import { gradientNorm, gradientReduce } from '../kernels/gradient/gradient';
import { shaderOf } from '../kernels/kernelSpec';
import { matmulConstants, matmulSpec, type MatmulVariant } from '../kernels/matmul/matmul';
import { permute } from '../kernels/permute/permute';
import { rmsnormBackward, rmsnormBackwardGain } from '../kernels/rmsnorm/rmsnorm';
import { rope } from '../kernels/rope/rope';
import { roundMantissa } from '../kernels/roundMantissa/roundMantissa';
import { tokenLogpBackward, tokenLogpForward } from '../kernels/tokenLogp/tokenLogp';
import type { ModelConfig } from './config';
import { decodesWhole } from './decodeWhole';
import { chooseMatmul } from './matmulChoice';

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

/** Every pipeline that a policy of one size needs, and how its products are cut up. */
export type ModelPipelines = Record<keyof typeof MODEL_KERNELS | 'matmul' | 'matmulBackwardWeight', Pipeline> & {
  variant: MatmulVariant;
  /** Present where rows are decoded whole. */
  decodeWhole?: Pipeline;
};

export interface CompileOptions {
  /** Hears how many of how many are done. */
  onProgress?: (done: number, total: number) => void;
  /** Decode rows whole or in parts; by default what suits the adapter. */
  decode?: 'whole' | 'parts';
}

/** Compiles them all, several at a time. Throws when one does not compile. */
export async function compileModel(ctx: GpuContext, config: ModelConfig, options: CompileOptions = {}): Promise<ModelPipelines> {
  const { onProgress = () => {}, decode = decodesWhole(ctx.facts, ctx.device.limits, config) ? 'whole' : 'parts' } = options;
  const constants = { HD4: config.C / config.H / 4, HALF: config.C / config.H / 8, VOCAB: config.V };
  const names = Object.keys(MODEL_KERNELS) as (keyof typeof MODEL_KERNELS)[];
  const total = names.length + (decode === 'whole' ? 3 : 2);
  let done = 0;
  const counted = async <N extends string>(name: N, pipeline: Promise<Pipeline>): Promise<readonly [N, Pipeline]> => {
    const compiled = await pipeline;
    onProgress(++done, total);
    return [name, compiled];
  };
  const products = async () => {
    const { variant, pipeline } = await chooseMatmul(ctx);
    const compile = (name: 'matmul' | 'matmulBackwardWeight') => ctx.pipeline(shaderOf(matmulSpec(name, variant), matmulConstants(variant)));
    const both = [counted('matmul', pipeline ? Promise.resolve(pipeline) : compile('matmul')), counted('matmulBackwardWeight', compile('matmulBackwardWeight'))];
    return { variant, ...Object.fromEntries(await Promise.all(both)) };
  };
  const whole = decode === 'whole' ? counted('decodeWhole', ctx.pipeline(shaderOf(decodeWhole, decodeWholeConstants(config)))).then(([name, pipeline]) => ({ [name]: pipeline })) : undefined;
  // The products first: they take the longest.
  const [matmuls, ...others] = await Promise.all([products(), ...names.map((name) => counted(name, ctx.pipeline(shaderOf(MODEL_KERNELS[name], constants))))]);
  return { ...Object.fromEntries(others), ...matmuls, ...(await whole) } as ModelPipelines;
}
