import { afterAll, beforeAll, describe, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { matmulActivation, matmulBackwardInput, matmulBackwardInputActivation, matmulBackwardWeight, matmulForward, matmulResidual } from '../../src/kernels/matmul/matmul';
import { activationBackwardCpu, activationCpu, matmulBackwardInputCpu, matmulBackwardWeightCpu, matmulForwardCpu } from '../../src/kernels/matmul/matmul.cpu';
import { expectClose, expectGradient, normals, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

// f32 sums of K terms of size 1: rounding grows like sqrt(K) * 6e-8, far below this.
const TOLERANCE = 2e-5;
const SHAPES: [number, number, number][] = [
  [1, 8, 8],
  [7, 16, 24],
  [33, 32, 96],
  [130, 48, 144],
  [65, 192, 48],
];

describe('matmul', () => {
  it.each(SHAPES)('forward, with residual and with activation: M=%i, K=%i, O=%i', async (M, K, O) => {
    const [x, w, residual] = [normals(1, M * K), normals(2, K * O, 0.3), normals(3, M * O)];
    const common = { dims: Uint32Array.of(M, 0, 0, 0), shape: Uint32Array.of(K, O, 0, 0), x, w };
    const threads = Math.ceil(M / 8) * (O / 8);
    const want = matmulForwardCpu(x, w, K, O);
    expectClose((await runKernel(gpu, matmulForward, {}, { ...common, y: M * O }, threads)).y, want, TOLERANCE, 'y');
    const plus = await runKernel(gpu, matmulResidual, {}, { ...common, residual, y: M * O }, threads);
    expectClose(plus.y, want.map((v, i) => v + residual[i]), TOLERANCE, 'y + residual');
    const act = await runKernel(gpu, matmulActivation, {}, { ...common, h: M * O, y: M * O }, threads);
    expectClose(act.h, want, TOLERANCE, 'h');
    expectClose(act.y, activationCpu(want), TOLERANCE, 'activation');
  });

  it.each(SHAPES)('backward to the input, plain and through the activation: M=%i, K=%i, O=%i', async (M, K, O) => {
    const [dy, w, h] = [normals(4, M * O), normals(5, K * O, 0.3), normals(6, M * K, 2)];
    const common = { dims: Uint32Array.of(M, 0, 0, 0), shape: Uint32Array.of(K, O, 0, 0), dy, w };
    const threads = Math.ceil(M / 8) * (K / 8);
    const want = matmulBackwardInputCpu(dy, w, K, O);
    expectClose((await runKernel(gpu, matmulBackwardInput, {}, { ...common, dx: M * K }, threads)).dx, want, TOLERANCE, 'dx');
    const through = await runKernel(gpu, matmulBackwardInputActivation, {}, { ...common, h, dh: M * K }, threads);
    expectClose(through.dh, activationBackwardCpu(h, want), TOLERANCE, 'dh');
  });

  it.each([1, 4, 16])('backward to the weight in %i splits', async (splits) => {
    const [M, K, O] = [77, 48, 24];
    const [x, dy] = [normals(7, M * K), normals(8, M * O)];
    const flat = K * O + 64;
    const out = await runKernel(
      gpu,
      matmulBackwardWeight,
      {},
      { dims: Uint32Array.of(M, 0, 0, 0), shape: Uint32Array.of(K, O, 0, 0), split: Uint32Array.of(splits, flat / 4, 0, 0), x, dy, grads: splits * flat },
      (splits * K * O) / 64,
    );
    const sum = new Float64Array(K * O);
    for (let s = 0; s < splits; s++) for (let i = 0; i < K * O; i++) sum[i] += out.grads[s * flat + i];
    expectClose(sum, matmulBackwardWeightCpu(x, dy, K, O), TOLERANCE, 'dW');
  });

  it('has twins that finite differences confirm', () => {
    const [M, K, O] = [3, 8, 8];
    const [x, w, dy] = [Float64Array.from(normals(9, M * K)), Float64Array.from(normals(10, K * O)), normals(11, M * O)];
    const through = (y: Float64Array) => activationCpu(y).reduce((a, v, i) => a + v * dy[i], 0);
    const dh = activationBackwardCpu(matmulForwardCpu(x, w, K, O), dy);
    expectGradient((v) => through(matmulForwardCpu(v, w, K, O)), x, matmulBackwardInputCpu(dh, w, K, O), { tolerance: 1e-6 });
    expectGradient((v) => through(matmulForwardCpu(x, v, K, O)), w, matmulBackwardWeightCpu(x, dh, K, O), { tolerance: 1e-6 });
  });

  it('stays finite for activations far from 0', async () => {
    const x = Float32Array.from({ length: 64 }, (_, i) => (i % 2 ? 1 : -1) * 10 ** (i % 5));
    const w = new Float32Array(64);
    for (let i = 0; i < 8; i++) w[i * 8 + i] = 1;
    const out = await runKernel(gpu, matmulActivation, {}, { dims: Uint32Array.of(8, 0, 0, 0), shape: Uint32Array.of(8, 8, 0, 0), x, w, h: 64, y: 64 }, 1);
    expectClose(out.y, activationCpu(Float64Array.from(x)), TOLERANCE, 'activation');
  });
});
