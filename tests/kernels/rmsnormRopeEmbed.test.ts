import { afterAll, beforeAll, describe, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { embedBackward, embedForward } from '../../src/kernels/embed/embed';
import { embedBackwardCpu, embedForwardCpu } from '../../src/kernels/embed/embed.cpu';
import { rmsnormBackward, rmsnormBackwardGain, rmsnormForward } from '../../src/kernels/rmsnorm/rmsnorm';
import { rmsnormBackwardCpu, rmsnormForwardCpu } from '../../src/kernels/rmsnorm/rmsnorm.cpu';
import { rope, ropeTable } from '../../src/kernels/rope/rope';
import { ropeCpu } from '../../src/kernels/rope/rope.cpu';
import { f32Bits } from '../../src/model/parameters';
import { expectClose, expectGradient, normals, packedLayout, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

const EPS = 1e-5;
const dims = (rows: number) => Uint32Array.of(rows, 0, 0, 0);

function sumSplits(grads: Float32Array, splits: number, flat: number): Float64Array {
  const sum = new Float64Array(flat);
  for (let s = 0; s < splits; s++) for (let i = 0; i < flat; i++) sum[i] += grads[s * flat + i];
  return sum;
}

describe('rmsnorm', () => {
  it.each([
    [1, 16],
    [33, 32],
    [100, 48],
  ])('forward and backward: N=%i, C=%i', async (N, C) => {
    const [x, g, dy, before] = [normals(1, N * C, 3), normals(2, C), normals(3, N * C), normals(4, N * C)];
    const want = rmsnormForwardCpu(x, g, C, EPS);
    const got = await runKernel(gpu, rmsnormForward, {}, { dims: dims(N), shape: Uint32Array.of(C, f32Bits(EPS), 0, 0), x, g, y: N * C, rstd: N }, N);
    expectClose(got.y, want.y, 1e-5, 'y');
    expectClose(got.rstd, want.rstd, 1e-5, 'rstd');
    const back = rmsnormBackwardCpu(x, g, want.rstd, dy, C);
    const rstd = Float32Array.from(want.rstd);
    const set = await runKernel(gpu, rmsnormBackward, {}, { dims: dims(N), shape: Uint32Array.of(C, 0, 0, 0), x, g, rstd, dy, dx: N * C }, N);
    expectClose(set.dx, back.dx, 1e-5, 'dx');
    const added = await runKernel(gpu, rmsnormBackward, {}, { dims: dims(N), shape: Uint32Array.of(C, 1, 0, 0), x, g, rstd, dy, dx: before }, N);
    expectClose(added.dx, back.dx.map((v, i) => v + before[i]), 1e-5, 'dx added');
    const gain = await runKernel(gpu, rmsnormBackwardGain, {}, { dims: dims(N), shape: Uint32Array.of(C, 0, 0, 0), split: Uint32Array.of(4, C / 4, 0, 0), x, rstd, dy, grads: 4 * C }, C);
    expectClose(sumSplits(gain.grads, 4, C), back.dg, 1e-5, 'dg');
  });

  it('has a twin that finite differences confirm', () => {
    const [N, C] = [3, 8];
    const [x, g, dy] = [Float64Array.from(normals(5, N * C)), Float64Array.from(normals(6, C)), normals(7, N * C)];
    const { rstd } = rmsnormForwardCpu(x, g, C, EPS);
    const back = rmsnormBackwardCpu(x, g, rstd, dy, C);
    const f = (a: Float64Array, b: Float64Array) => rmsnormForwardCpu(a, b, C, EPS).y.reduce((s, v, i) => s + v * dy[i], 0);
    expectGradient((v) => f(v, g), x, back.dx, { tolerance: 1e-6 });
    expectGradient((v) => f(x, v), g, back.dg, { tolerance: 1e-6 });
  });
});

describe('rope', () => {
  it.each([
    [16, 2],
    [48, 3],
  ])('rotates and rotates back: C=%i, H=%i', async (C, H) => {
    const { pos, N } = packedLayout([5, 64, 1]);
    const qkv = normals(8, N * 3 * C);
    const hd = C / H;
    const table = ropeTable(64, hd, 100);
    const want = Float64Array.from(qkv);
    ropeCpu(want, pos, C, H, 100);
    const buffers = { dims: dims(N), pos, table };
    const there = await runKernel(gpu, rope, {}, { ...buffers, shape: Uint32Array.of(C, H, hd / 4, 0), qkv }, (N * C) / 4);
    expectClose(there.qkv, want, 1e-5, 'rotated');
    const back = await runKernel(gpu, rope, {}, { ...buffers, shape: Uint32Array.of(C, H, hd / 4, 1), qkv: Float32Array.from(there.qkv) }, (N * C) / 4);
    expectClose(back.qkv, qkv, 1e-5, 'rotated back');
  });
});

describe('embed', () => {
  it.each([1, 4])('forward, and backward in %i splits', async (splits) => {
    const [C, V, T] = [24, 12, 16];
    const { pos, N } = packedLayout([3, 16, 9, 1]);
    const rng = new Rng(9);
    const tok = Uint32Array.from({ length: N }, () => rng.int(0, V - 1));
    const [E, P, dx] = [normals(10, V * C), normals(11, T * C), normals(12, N * C)];
    const got = await runKernel(gpu, embedForward, {}, { dims: dims(N), shape: Uint32Array.of(C, V, 0, T), tok, pos, tokenEmbedding: E, positionEmbedding: P, x: N * C }, (N * C) / 4);
    expectClose(got.x, embedForwardCpu(tok, pos, E, P, C), 1e-6, 'x');
    const flat = (V + T) * C;
    const back = await runKernel(
      gpu,
      embedBackward,
      {},
      { dims: dims(N), shape: Uint32Array.of(C, V, (V * C) / 4, T), split: Uint32Array.of(splits, flat / 4, 0, 0), tok, pos, dx, grads: splits * flat },
      (splits * C) / 4,
    );
    const want = [new Float64Array(V * C), new Float64Array(T * C)] as const;
    embedBackwardCpu(tok, pos, dx, C, want[0], want[1]);
    expectClose(sumSplits(back.grads, splits, flat), [...want[0], ...want[1]], 1e-5, 'dE and dP');
  });
});
