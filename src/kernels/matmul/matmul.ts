import { defineKernel, type KernelSpec } from '../kernelSpec';
import { withPieces } from './pieces';
import shell from './matmul.wgsl?raw';
import activation from './activation.wgsl?raw';
import ending from './matmulEnding.wgsl?raw';
import tiledShell from './matmulTiled.wgsl?raw';
import backwardWeight from './matmulBackwardWeight.wgsl?raw';

/** One way to cut a product into pieces of work; see matmul.wgsl. `rows` is a multiple of 4. */
export interface MatmulVariant {
  id: string;
  /** Rows and strips of four columns that four neighbouring lanes compute. */
  rows: number;
  strips: number;
  /** Whether the lanes pass values round by subgroup operations. */
  quads: boolean;
  /** Stages its products in workgroup memory instead (matmulTiled.wgsl); `rows` and `strips` then hold for the weights' gradient alone. */
  tiled?: boolean;
  /** Meant for adapters whose arithmetic a CPU does. */
  forSoftware: boolean;
}

/** What `matmul` does with the product, in its shape.z. */
export const ENDING = { none: 0, residual: 1, activation: 2, slope: 3 } as const;

export const MATMUL_VARIANTS = [
  { id: 'quads 16 x 32', rows: 16, strips: 8, quads: true, forSoftware: true },
  { id: 'direct 8 x 32', rows: 8, strips: 8, quads: false, forSoftware: true },
  // Many small pieces, for GPUs that want tens of thousands of threads.
  { id: 'quads 4 x 16', rows: 4, strips: 4, quads: true, forSoftware: false },
  { id: 'direct 4 x 8', rows: 4, strips: 2, quads: false, forSoftware: false },
  { id: 'tiled 32 x 32', rows: 4, strips: 4, quads: false, tiled: true, forSoftware: false },
] as const satisfies readonly MatmulVariant[];

const ENDING_WGSL: Record<keyof typeof ENDING, string> = {
  none: '',
  residual: 'v += extra[i];',
  activation: 'activated[i] = v * sigmoid(v);',
  slope: 'v *= slope(extra[i]);',
};

/** A product's shader with a loop over its sums for each ending: one branch a thread, where a branch a sum would halve the speed. */
const withEndings = (wgsl: string): string =>
  activation +
  wgsl.replace('/*ENDINGS*/', () =>
    Object.entries(ENDING_WGSL)
      .map(([name, body]) => `if (shape.z == ${ENDING[name as keyof typeof ENDING]}u) {\n${ending.replace('/*ENDING*/', () => body)}}`)
      .join('\n'),
  );
const product = withEndings(shell);

const CONSTANTS = ['ROWS', 'STRIPS', 'PIECES'] as const;

const KERNELS = {
  matmul: { quads: defineKernel('matmul', withPieces(product, true), CONSTANTS), direct: defineKernel('matmul', withPieces(product, false), CONSTANTS) },
  matmulBackwardWeight: {
    quads: defineKernel('matmulBackwardWeight', withPieces(backwardWeight, true), CONSTANTS),
    direct: defineKernel('matmulBackwardWeight', withPieces(backwardWeight, false), CONSTANTS),
  },
};

const TILED = defineKernel('matmul', withEndings(tiledShell));
const TILE = 32;
const TILE_THREADS = 64;

export function matmulSpec(name: keyof typeof KERNELS, variant: MatmulVariant): KernelSpec {
  if (name === 'matmul' && variant.tiled) return TILED;
  return KERNELS[name][variant.quads ? 'quads' : 'direct'];
}

/** The constants of the kernels for a variant. */
export function matmulConstants(variant: MatmulVariant): Record<(typeof CONSTANTS)[number], number> {
  return { ROWS: variant.rows, STRIPS: variant.strips, PIECES: variant.rows / 4 };
}

const pieces = ({ rows, strips }: MatmulVariant, M: number, O: number): number => Math.ceil(M / rows) * Math.ceil(O / (4 * strips)) * 4;

/** Threads for the y = x W of M rows and O columns. */
export function matmulThreads(variant: MatmulVariant, M: number, O: number): number {
  return variant.tiled ? Math.ceil(M / TILE) * Math.ceil(O / TILE) * TILE_THREADS : pieces(variant, M, O);
}

/** Threads for the dW [K, O] of a product in `splits` parts. */
export function matmulWeightThreads(variant: MatmulVariant, K: number, O: number, splits: number): number {
  return splits * pieces(variant, K, O);
}
