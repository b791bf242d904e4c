import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { decodeEmbed, decodeGather } from '../../src/kernels/decode/decode';
import { gatherCpu } from '../../src/kernels/decode/decode.cpu';
import { embedBackward, embedForward } from '../../src/kernels/embed/embed';
import { embedBackwardCpu, embedForwardCpu } from '../../src/kernels/embed/embed.cpu';
import { rmsnormBackward, rmsnormBackwardGain } from '../../src/kernels/rmsnorm/rmsnorm';
import { rmsnormBackwardCpu, rmsnormForwardCpu } from '../../src/kernels/rmsnorm/rmsnorm.cpu';
import { matmulBackwardInputCpu, matmulBackwardWeightCpu } from '../../src/kernels/matmul/matmul.cpu';
import { permute } from '../../src/kernels/permute/permute';
import { permuteCpu } from '../../src/kernels/permute/permute.cpu';
import { rope, ropeTable } from '../../src/kernels/rope/rope';
import { ropeCpu } from '../../src/kernels/rope/rope.cpu';
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
  ])('backward to the rows: N=%i, C=%i', async (N, C) => {
    const [x, g, dy, before] = [normals(1, N * C, 3), normals(2, C), normals(3, N * C), normals(4, N * C)];
    const want = rmsnormForwardCpu(x, g, C, EPS);
    const back = rmsnormBackwardCpu(x, g, want.rstd, dy, C);
    const rstd = Float32Array.from(want.rstd);
    const set = await runKernel(gpu, rmsnormBackward, {}, { dims: dims(N), shape: Uint32Array.of(C, 0, 0, 0), x, g, rstd, dy, dx: N * C }, N);
    expectClose(set.dx, back.dx, 1e-5, 'dx');
    const added = await runKernel(gpu, rmsnormBackward, {}, { dims: dims(N), shape: Uint32Array.of(C, 1, 0, 0), x, g, rstd, dy, dx: before }, N);
    expectClose(added.dx, back.dx.map((v, i) => v + before[i]), 1e-5, 'dx added');
  });

  it.each([1, 4])('backward to gains and to the matrices behind them, in %i splits', async (splits) => {
    // Two pairs in one flat vector: W1 [C, O1], g1, W2 [C, O2], g2, and a gap that belongs to neither.
    const [N, C, O1, O2] = [37, 24, 8, 32];
    const offsets = { w1: 0, g1: C * O1, w2: C * O1 + C, g2: C * O1 + C + C * O2 };
    const flat = offsets.g2 + C + 8;
    const params = normals(20, flat);
    const grads = new Float32Array(splits * flat).fill(5);
    const want = new Float64Array(flat).fill(5 * splits);
    [[offsets.w1, offsets.g1, O1], [offsets.w2, offsets.g2, O2]].forEach(([at, gainAt, O], k) => {
      const [x, dy] = [normals(21 + k, N * C, 2), normals(23 + k, N * O)];
      const [w, g] = [params.subarray(at, at + C * O), params.subarray(gainAt, gainAt + C)];
      const { y, rstd } = rmsnormForwardCpu(x, g, C, EPS);
      want.set(matmulBackwardWeightCpu(y, dy, C, O), at);
      want.set(rmsnormBackwardCpu(x, g, rstd, matmulBackwardInputCpu(dy, w, C, O), C).dg, gainAt);
      const chunk = Math.ceil(N / splits);
      for (let s = 0; s < splits; s++) {
        // U = xhat^T dy over the rows of the split.
        const rows = dy.subarray(s * chunk * O, Math.min(N, (s + 1) * chunk) * O).map((v, i) => v * rstd[s * chunk + Math.floor(i / O)]);
        grads.set(Float32Array.from(matmulBackwardWeightCpu(x.subarray(s * chunk * C, Math.min(N, (s + 1) * chunk) * C), rows, C, O)), s * flat + at);
      }
    });
    const got = await runKernel(
      gpu,
      rmsnormBackwardGain,
      {},
      { shape: Uint32Array.of(C, 2, 0, 0), split: Uint32Array.of(splits, flat / 4, 0, 0), pairs: Uint32Array.of(offsets.w1, offsets.g1, O1, 0, offsets.w2, offsets.g2, O2, 0), params, grads },
      splits * 2 * C,
    );
    expectClose(sumSplits(got.grads, splits, flat), want, 1e-5, 'dW and dg');
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
  ])('rotates: C=%i, H=%i', async (C, H) => {
    const { pos, N } = packedLayout([5, 64, 1]);
    const qkv = normals(8, N * 3 * C);
    const hd = C / H;
    const table = ropeTable(64, hd, 100);
    const want = Float64Array.from(qkv);
    ropeCpu(want, pos, C, H, 100);
    const buffers = { dims: dims(N), pos, table };
    const there = await runKernel(gpu, rope, {}, { ...buffers, shape: Uint32Array.of(C, H, hd / 4, 0), qkv }, (N * C) / 4);
    expectClose(there.qkv, want, 1e-5, 'rotated');
  });

  it('has a twin whose inverse undoes it', () => {
    const { pos, N } = packedLayout([5, 64, 1]);
    const qkv = normals(8, N * 48);
    const turned = Float64Array.from(qkv);
    ropeCpu(turned, pos, 16, 2, 100);
    ropeCpu(turned, pos, 16, 2, 100, true);
    expectClose(turned, qkv, 1e-12, 'rotated back');
  });
});

describe('permute', () => {
  it('takes every value from where the index says', async () => {
    const source = normals(13, 131);
    const index = Uint32Array.from(source, (_, i) => (i * 57) % 131);
    const got = await runKernel(gpu, permute, {}, { dims: dims(131), index, source, result: 131 }, 131);
    expectClose(got.result, permuteCpu(source, index), 0, 'result');
  });
});

describe('the input of a decoding step', () => {
  it('lists the rows that run, and embeds their tokens', async () => {
    const [C, V, T, R, S, position] = [16, 8, 6, 11, 6, 4];
    const alive = Uint32Array.from({ length: R }, (_, r) => (r % 3 === 1 ? 0 : 1));
    const rows = gatherCpu(alive);
    const limits = Uint32Array.of(R, S, 2, 7);
    const gathered = await runKernel(gpu, decodeGather, {}, { limits, alive, live: new Uint32Array(4), liveRows: R }, 1);
    const words = (floats: Float32Array) => [...new Uint32Array(floats.buffer, floats.byteOffset, floats.length)];
    expect(words(gathered.live)[0]).toBe(rows.length);
    expect(words(gathered.liveRows).slice(0, rows.length)).toEqual(rows);
    const rng = new Rng(31);
    const tokens = Uint32Array.from({ length: R * S }, () => rng.int(0, V - 1));
    const [E, P] = [normals(32, V * C), normals(33, T * C)];
    const got = await runKernel(
      gpu,
      decodeEmbed,
      {},
      { dims: dims(rows.length), step: Uint32Array.of(position, 0, 0, 0), limits, shape: Uint32Array.of(C, 0, 0, 0), liveRows: Uint32Array.from(rows), tokens, tokenEmbedding: E, positionEmbedding: P, x: rows.length * C },
      (R * C) / 4,
    );
    const tok = Uint32Array.from(rows, (r) => tokens[r * S + position]);
    expectClose(got.x, embedForwardCpu(tok, new Uint32Array(rows.length).fill(position), E, P, C), 1e-6, 'x');
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
