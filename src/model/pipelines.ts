import type { GpuContext, Pipeline } from '../gpu/device';
import { adamw } from '../kernels/adamw/adamw';
import { attentionBackwardKeyValue, attentionBackwardQuery, attentionForward } from '../kernels/attention/attention';
import { decodeAttention, decodeGather, decodeSample } from '../kernels/decode/decode';
import { embedBackward, embedForward } from '../kernels/embed/embed';
import { gradientNorm, gradientReduce } from '../kernels/gradient/gradient';
import { shaderOf } from '../kernels/kernelSpec';
import {
  matmulActivation,
  matmulBackwardInput,
  matmulBackwardInputActivation,
  matmulBackwardWeight,
  matmulForward,
  matmulResidual,
} from '../kernels/matmul/matmul';
import { rmsnormBackward, rmsnormBackwardGain, rmsnormForward } from '../kernels/rmsnorm/rmsnorm';
import { rope } from '../kernels/rope/rope';
import { roundMantissa } from '../kernels/roundMantissa/roundMantissa';
import { tokenLogpBackward, tokenLogpForward } from '../kernels/tokenLogp/tokenLogp';
import type { ModelConfig } from './config';

const MODEL_KERNELS = {
  embedForward,
  embedBackward,
  rmsnormForward,
  rmsnormBackward,
  rmsnormBackwardGain,
  matmulForward,
  matmulResidual,
  matmulActivation,
  matmulBackwardInput,
  matmulBackwardInputActivation,
  matmulBackwardWeight,
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
  decodeGather,
  decodeAttention,
  decodeSample,
};

/** Every pipeline that a policy of one size needs. */
export type ModelPipelines = Record<keyof typeof MODEL_KERNELS, Pipeline>;

/** Compiles them all, several at a time; `onProgress` hears how many of how many are done. Throws when one does not compile. */
export async function compileModel(ctx: GpuContext, config: ModelConfig, onProgress: (done: number, total: number) => void = () => {}): Promise<ModelPipelines> {
  const constants = { HD4: config.C / config.H / 4, HALF: config.C / config.H / 8, VOCAB: config.V };
  const names = Object.keys(MODEL_KERNELS) as (keyof typeof MODEL_KERNELS)[];
  let done = 0;
  const compiled = await Promise.all(
    names.map(async (name) => {
      const pipeline = await ctx.pipeline(shaderOf(MODEL_KERNELS[name], constants));
      onProgress(++done, names.length);
      return [name, pipeline] as const;
    }),
  );
  return Object.fromEntries(compiled) as ModelPipelines;
}
