import { defineKernel, type KernelSpec } from '../kernelSpec';
import { withPieces } from './pieces';
import shell from './matmul.wgsl?raw';
import ending from './matmulEnding.wgsl?raw';
import backwardWeight from './matmulBackwardWeight.wgsl?raw';

/** One way to cut a product into pieces of work; see matmul.wgsl. `rows` is a multiple of 4. */
export interface MatmulVariant {
  id: string;
  /** Rows and strips of four columns that four neighbouring lanes compute. */
  rows: number;
  strips: number;
  /** Whether the lanes pass values round by subgroup operations. */
  quads: boolean;
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
] as const satisfies readonly MatmulVariant[];

const ENDING_WGSL: Record<keyof typeof ENDING, string> = {
  none: '',
  residual: 'v += extra[i];',
  activation: 'activated[i] = v * sigmoid(v);',
  slope: 'v *= slope(extra[i]);',
};

/** The product with a loop over its sums for each ending: one branch a thread, where a branch a sum would halve the speed. */
const product = shell.replace('/*ENDINGS*/', () =>
  Object.entries(ENDING_WGSL)
    .map(([name, wgsl]) => `if (shape.z == ${ENDING[name as keyof typeof ENDING]}u) {\n${ending.replace('/*ENDING*/', () => wgsl)}}`)
    .join('\n'),
);

const CONSTANTS = ['ROWS', 'STRIPS', 'PIECES'] as const;

const KERNELS = {
  matmul: { quads: defineKernel('matmul', withPieces(product, true), CONSTANTS), direct: defineKernel('matmul', withPieces(product, false), CONSTANTS) },
  matmulBackwardWeight: {
    quads: defineKernel('matmulBackwardWeight', withPieces(backwardWeight, true), CONSTANTS),
    direct: defineKernel('matmulBackwardWeight', withPieces(backwardWeight, false), CONSTANTS),
  },
};

export function matmulSpec(name: keyof typeof KERNELS, variant: MatmulVariant): KernelSpec {
  return KERNELS[name][variant.quads ? 'quads' : 'direct'];
}

/** The constants of the kernels for a variant. */
export function matmulConstants(variant: MatmulVariant): Record<(typeof CONSTANTS)[number], number> {
  return { ROWS: variant.rows, STRIPS: variant.strips, PIECES: variant.rows / 4 };
}

/** Threads for the y = x W of M rows and O columns. */
export function matmulThreads(variant: MatmulVariant, M: number, O: number): number {
  return Math.ceil(M / variant.rows) * Math.ceil(O / (4 * variant.strips)) * 4;
}

/** Threads for the dW [K, O] of a product in `splits` parts. */
export function matmulWeightThreads(variant: MatmulVariant, K: number, O: number, splits: number): number {
  return splits * matmulThreads(variant, K, O);
}
