import { invariant } from '../core/errors';

/**
 * Size of the decoder-only policy. C channels, L layers, H heads, V vocabulary, T positions (the context length).
 * Architecture: experiments.md section 1 (pre-RMSNorm, RoPE on q and k plus learned positions, x*sigmoid(1.702x) MLP, untied head, no biases).
 */
export interface ModelConfig {
  id: string;
  C: number;
  L: number;
  H: number;
  V: number;
  T: number;
  /** RoPE base. */
  ropeBase: number;
  /** RMSNorm epsilon. */
  normEps: number;
}

const common = { V: 32, T: 64, ropeBase: 100, normEps: 1e-5 };

export const MODEL_CONFIGS = {
  /** 61,680 parameters: for GPUs. */
  main: { id: 'main', C: 48, L: 2, H: 3, ...common },
  /** 28,832 parameters: for software adapters. */
  small: { id: 'small', C: 32, L: 2, H: 2, ...common },
} as const satisfies Record<string, ModelConfig>;

export type ModelId = keyof typeof MODEL_CONFIGS;

/** One weight of the flat parameter vector. `shape` is [rows (input channels), columns (output channels)], or [C] for gains. */
export interface ParamSpec {
  name: string;
  shape: readonly number[];
  /** First element in the flat vector; a multiple of 64 floats (256 bytes), so that it can be bound on its own. */
  offset: number;
  size: number;
  /** Standard deviation at initialisation; gains start at 1. */
  initSd: number | 'gain';
}

export interface ParamLayout {
  specs: readonly ParamSpec[];
  byName: ReadonlyMap<string, ParamSpec>;
  /** Length of the flat vector in floats, padding included; padding stays 0. */
  flatSize: number;
  /** True number of parameters. */
  count: number;
}

/**
 * Where each weight lies in the flat vector. Names: tokenEmbedding [V,C], positionEmbedding [T,C], and per layer l
 * `l{l}.norm1` [C], `l{l}.qkv` [C,3C], `l{l}.attnOut` [C,C], `l{l}.norm2` [C], `l{l}.fc1` [C,4C], `l{l}.fc2` [4C,C];
 * then finalNorm [C], unembed [C,V]. A matrix multiplies from the right: y = x W.
 */
export function paramLayout(config: ModelConfig): ParamLayout {
  const { C, L, H, V, T } = config;
  invariant(C % H === 0 && (C / H) % 4 === 0 && C % 4 === 0 && V % 4 === 0, `C=${C}, H=${H}, V=${V}: C, V and C/H must be multiples of 4`);
  const specs: ParamSpec[] = [];
  let offset = 0;
  const add = (name: string, shape: number[], initSd: number | 'gain') => {
    const size = shape.reduce((a, b) => a * b, 1);
    specs.push({ name, shape, offset, size, initSd });
    offset += Math.ceil(size / 64) * 64;
  };
  const residual = 1 / Math.sqrt(2 * L);
  add('tokenEmbedding', [V, C], 0.5);
  add('positionEmbedding', [T, C], 0.1);
  for (let l = 0; l < L; l++) {
    add(`l${l}.norm1`, [C], 'gain');
    add(`l${l}.qkv`, [C, 3 * C], 1 / Math.sqrt(C));
    add(`l${l}.attnOut`, [C, C], residual / Math.sqrt(C));
    add(`l${l}.norm2`, [C], 'gain');
    add(`l${l}.fc1`, [C, 4 * C], 1 / Math.sqrt(C));
    add(`l${l}.fc2`, [4 * C, C], residual / Math.sqrt(4 * C));
  }
  add('finalNorm', [C], 'gain');
  add('unembed', [C, V], 0.5 / Math.sqrt(C));
  return { specs, byName: new Map(specs.map((s) => [s.name, s])), flatSize: offset, count: specs.reduce((n, s) => n + s.size, 0) };
}
