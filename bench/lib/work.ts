import { Rng, uniformAt } from '../../src/core/rng';
import { MODEL_CONFIGS, type ModelConfig } from '../../src/model/config';
import type { BenchModel, CellSpec } from './types';

/** The work itself: the same numbers go into every library. */

/** 4 layers, 64 channels, 4 heads, 64 positions, 64 symbols: 209 thousand parameters. */
export const GPT: ModelConfig = { id: 'gpt', C: 64, L: 4, H: 4, V: 64, T: 64, ropeBase: 100, normEps: 1e-5 };

export const modelOf = (id: BenchModel): ModelConfig => (id === 'gpt' ? GPT : MODEL_CONFIGS[id]);

export const PARAMS_SEED = 1;
export const ADAM = { lr: 1e-3, beta1: 0.9, beta2: 0.99, eps: 1e-8, decay: 0.01, maxNorm: 1 } as const;

/** Noise key of the decoding cell. */
export const DECODE_KEY = { seed: 5, iteration: 1 } as const;

/** Products that one timing holds, so that small ones are not drowned in the wait at the end. */
export function repeatsOf(n: number): number {
  return Math.max(1, Math.min(20, Math.round((640 / n) ** 2)));
}

/** Two n x n matrices of numbers in [-1, 1). */
export function matrices(n: number): [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>] {
  const make = (key: number): Float32Array<ArrayBuffer> => Float32Array.from({ length: n * n }, (_, i) => 2 * uniformAt(key, i) - 1);
  return [make(11), make(12)];
}

/** Largest error of sampled entries of y = a b against f64, relative to sqrt(n). NaN anywhere gives NaN. */
export function matmulError(n: number, a: Float32Array, b: Float32Array, y: ArrayLike<number>): number {
  if (y.length !== n * n) return NaN;
  const rng = new Rng(13, n);
  let worst = 0;
  for (let s = 0; s < 64; s++) {
    const [row, column] = [rng.int(0, n - 1), rng.int(0, n - 1)];
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    const error = Math.abs(y[row * n + column] - sum) / Math.sqrt(n);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/** Token ids of `rows` rows of T + 1 positions: inputs are the first T, targets the last T; [rows][T] each. */
export function trainTokens(config: ModelConfig, rows: number): { inputs: Int32Array<ArrayBuffer>; targets: Int32Array<ArrayBuffer> } {
  const { T, V } = config;
  const inputs = new Int32Array(rows * T);
  const targets = new Int32Array(rows * T);
  for (let r = 0; r < rows; r++) {
    const rng = new Rng(21, r);
    const row = Array.from({ length: T + 1 }, () => rng.int(0, V - 1));
    for (let t = 0; t < T; t++) {
      inputs[r * T + t] = row[t];
      targets[r * T + t] = row[t + 1];
    }
  }
  return { inputs, targets };
}

/** First token of each row in the decoding cell. */
export function firstTokens(config: ModelConfig, rows: number): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: rows }, (_, r) => r % config.V);
}

/** The uniform number behind every sampled token, the same that our kernel draws for itself; [tokens][rows]. */
export function decodeNoise(rows: number, tokens: number): Float32Array<ArrayBuffer>[] {
  return Array.from({ length: tokens }, (_, t) => Float32Array.from({ length: rows }, (__, r) => uniformAt(DECODE_KEY.seed, DECODE_KEY.iteration, r, t + 1)));
}

export function cellId(spec: CellSpec): string {
  if (spec.kind === 'matmul') return `matmul ${spec.n}`;
  if (spec.kind === 'train') return `train ${spec.model} ${spec.rows} rows`;
  if (spec.kind === 'decode') return `decode ${spec.model} ${spec.rows} x ${spec.tokens}`;
  return `iteration ${spec.model}`;
}

/** Everything, or what fits in a minute. */
export function cellsOf(quick: boolean): CellSpec[] {
  if (quick) {
    return [
      { kind: 'matmul', n: 128 },
      { kind: 'matmul', n: 256 },
      { kind: 'train', model: 'gpt', rows: 2 },
      { kind: 'decode', model: 'main', rows: 16, tokens: 8 },
      { kind: 'iteration', model: 'small' },
    ];
  }
  return [
    ...[128, 256, 512, 1024].map((n) => ({ kind: 'matmul', n }) as const),
    { kind: 'train', model: 'gpt', rows: 16 },
    { kind: 'train', model: 'main', rows: 16 },
    { kind: 'train', model: 'small', rows: 16 },
    { kind: 'decode', model: 'main', rows: 128, tokens: 39 },
    { kind: 'decode', model: 'gpt', rows: 128, tokens: 39 },
    { kind: 'iteration', model: 'small' },
  ];
}

/** Whether a library is asked for a cell. The peers are compared on one model each of training and decoding; the rest is ours, for the record. */
export function isCompared(spec: CellSpec): boolean {
  return spec.kind === 'matmul' || (spec.kind === 'train' && spec.model === 'gpt') || (spec.kind === 'decode' && spec.model === 'main');
}
