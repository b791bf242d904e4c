import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { ENDING, MATMUL_VARIANTS, matmulConstants, matmulSpec, matmulThreads, matmulWeightThreads } from '../../src/kernels/matmul/matmul';
import { activationBackwardCpu, activationCpu, matmulBackwardInputCpu, matmulBackwardWeightCpu, matmulForwardCpu } from '../../src/kernels/matmul/matmul.cpu';
import { rmsnormForwardCpu } from '../../src/kernels/rmsnorm/rmsnorm.cpu';
import { f32Bits } from '../../src/model/parameters';
import { expectClose, expectGradient, normals, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

// f32 sums of K terms of size 1: rounding grows like sqrt(K) * 6e-8, far below this.
const TOLERANCE = 2e-5;
const EPS = 1e-5;
const SHAPES: [number, number, number][] = [
  [1, 8, 8],
  [7, 16, 24],
  [33, 32, 96],
  [130, 48, 144],
  [65, 192, 48],
];

describe.each(MATMUL_VARIANTS)('matmul, $id', (variant) => {
  const product = (M: number, K: number, O: number, ending: keyof typeof ENDING, eps: number, buffers: Record<string, Float32Array<ArrayBuffer> | number>) =>
    runKernel(
      gpu,
      matmulSpec('matmul', variant),
      matmulConstants(variant),
      { dims: Uint32Array.of(M, 0, 0, 0), shape: Uint32Array.of(K, O, ENDING[ending], eps === 0 ? 0 : f32Bits(eps)), gain: new Float32Array(K).fill(1), extra: 4, y: M * O, activated: 4, rstd: 4, ...buffers },
      matmulThreads(variant, M, O),
    );

  it.each(SHAPES)('every ending: M=%i, K=%i, O=%i', async (M, K, O) => {
    const [x, w, extra] = [normals(1, M * K), normals(2, K * O, 0.3), normals(3, M * O, 2)];
    const want = matmulForwardCpu(x, w, K, O);
    const plain = await product(M, K, O, 'none', 0, { x, w });
    expectClose(plain.y, want, TOLERANCE, 'y');
    const plus = await product(M, K, O, 'residual', 0, { x, w, extra });
    expectClose(plus.y, want.map((v, i) => v + extra[i]), TOLERANCE, 'y + residual');
    const act = await product(M, K, O, 'activation', 0, { x, w, activated: M * O });
    expectClose(act.y, want, TOLERANCE, 'h');
    expectClose(act.activated, activationCpu(want), TOLERANCE, 'activation');
    const slope = await product(M, K, O, 'slope', 0, { x, w, extra });
    expectClose(slope.y, activationBackwardCpu(extra, want), TOLERANCE, 'slope');
    // Nothing but what the ending says is written: the stand-ins keep their contents.
    expect([...plain.activated, ...plain.rstd, ...plus.activated, ...slope.rstd]).toEqual(Array(16).fill(777));
  });

  it.each(SHAPES)('of normalised rows: M=%i, K=%i, O=%i', async (M, K, O) => {
    const [x, w, gain] = [normals(4, M * K, 3), normals(5, K * O, 0.3), normals(6, K)];
    const norm = rmsnormForwardCpu(x, gain, K, EPS);
    const want = matmulForwardCpu(norm.y, w, K, O);
    const got = await product(M, K, O, 'activation', EPS, { x, w, gain, activated: M * O, rstd: M });
    expectClose(got.rstd, norm.rstd, 1e-5, 'rstd');
    expectClose(got.y, want, TOLERANCE, 'y');
    expectClose(got.activated, activationCpu(want), TOLERANCE, 'activation');
  });

  it.each([1, 4, 16])('backward to the weight in %i splits, plain and of normalised rows', async (splits) => {
    for (const [M, K, O] of [[77, 48, 24], [5, 8, 8], [130, 32, 96]] as const) {
      const [x, dy, rstd] = [normals(7, M * K), normals(8, M * O), normals(9, M)];
      const flat = K * O + 64;
      for (const scaled of [0, 1]) {
        const out = await runKernel(
          gpu,
          matmulSpec('matmulBackwardWeight', variant),
          matmulConstants(variant),
          { dims: Uint32Array.of(M, 0, 0, 0), shape: Uint32Array.of(K, O, scaled, 0), split: Uint32Array.of(splits, flat / 4, 0, 0), x, dy, rstd: scaled ? rstd : new Float32Array(4), grads: splits * flat },
          matmulWeightThreads(variant, K, O, splits),
        );
        const sum = new Float64Array(K * O);
        for (let s = 0; s < splits; s++) for (let i = 0; i < K * O; i++) sum[i] += out.grads[s * flat + i];
        const weighted = Float64Array.from(dy, (v, i) => (scaled ? v * rstd[Math.floor(i / O)] : v));
        expectClose(sum, matmulBackwardWeightCpu(x, weighted, K, O), TOLERANCE, 'dW');
      }
    }
  });

  it('stays finite for activations far from 0', async () => {
    const x = Float32Array.from({ length: 64 }, (_, i) => (i % 2 ? 1 : -1) * 10 ** (i % 5));
    const w = new Float32Array(64);
    for (let i = 0; i < 8; i++) w[i * 8 + i] = 1;
    const out = await product(8, 8, 8, 'activation', 0, { x, w, activated: 64 });
    expectClose(out.activated, activationCpu(Float64Array.from(x)), TOLERANCE, 'activation');
  });
});

it('has twins that finite differences confirm', () => {
  const [M, K, O] = [3, 8, 8];
  const [x, w, dy] = [Float64Array.from(normals(9, M * K)), Float64Array.from(normals(10, K * O)), normals(11, M * O)];
  const through = (y: Float64Array) => activationCpu(y).reduce((a, v, i) => a + v * dy[i], 0);
  const dh = activationBackwardCpu(matmulForwardCpu(x, w, K, O), dy);
  expectGradient((v) => through(matmulForwardCpu(v, w, K, O)), x, matmulBackwardInputCpu(dh, w, K, O), { tolerance: 1e-6 });
  expectGradient((v) => through(matmulForwardCpu(x, v, K, O)), w, matmulBackwardWeightCpu(x, dh, K, O), { tolerance: 1e-6 });
});
