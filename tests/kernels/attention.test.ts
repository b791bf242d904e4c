import { afterAll, beforeAll, describe, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { attentionBackwardKeyValue, attentionBackwardQuery, attentionForward } from '../../src/kernels/attention/attention';
import { attentionBackwardCpu, attentionForwardCpu } from '../../src/kernels/attention/attention.cpu';
import { ropeTable } from '../../src/kernels/rope/rope';
import { ropeCpu } from '../../src/kernels/rope/rope.cpu';
import { expectClose, expectGradient, normals, packedLayout, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

describe('attention', () => {
  it.each([
    [16, 2, 1],
    [48, 3, 1],
    [32, 2, 6],
    [24, 1, 1],
  ])('forward and backward: C=%i, H=%i, spread %d', async (C, H, spread) => {
    const { pos, rowEnd, N } = packedLayout([1, 33, 7, 64]);
    const [qkv, dAttended] = [normals(1, N * 3 * C, spread), normals(2, N * C)];
    const shape = Uint32Array.of(C, H, 0, 0);
    const dims = Uint32Array.of(N, 0, 0, 0);
    const HD4 = { HD4: C / H / 4, HALF: C / H / 8 };
    const table = ropeTable(64, C / H, 100);
    const want = attentionForwardCpu(qkv, pos, C, H);
    const got = await runKernel(gpu, attentionForward, HD4, { dims, shape, pos, qkv, attended: N * C, lse: N * H }, N * H);
    expectClose(got.attended, want.out, 2e-5, 'attended');
    expectClose(got.lse, want.lse, 2e-5, 'lse');
    const wantBack = attentionBackwardCpu(qkv, pos, want.out, want.lse, dAttended, C, H);
    // The kernels rotate dq and dk back on their way out.
    ropeCpu(wantBack, pos, C, H, 100, true);
    const [attended, lse] = [Float32Array.from(want.out), Float32Array.from(want.lse)];
    const query = await runKernel(gpu, attentionBackwardQuery, HD4, { dims, shape, pos, qkv, attended, lse, dAttended, delta: N * H, dqkv: N * 3 * C, table }, N * H);
    const both = await runKernel(
      gpu,
      attentionBackwardKeyValue,
      HD4,
      { dims, shape, rowEnd, qkv, lse, delta: Float32Array.from(query.delta), dAttended, dqkv: Float32Array.from(query.dqkv), pos, table },
      N * H,
    );
    // Scores of spread 6 reach several hundred: their f32 rounding (about 3e-5) goes into the probabilities.
    expectClose(both.dqkv, wantBack, spread > 1 ? 1e-3 : 5e-5, 'dqkv');
  });

  it('has a twin that finite differences confirm', () => {
    const [C, H] = [16, 2];
    const { pos, N } = packedLayout([1, 5]);
    const qkv = Float64Array.from(normals(3, N * 3 * C));
    const dOut = normals(4, N * C);
    const { out, lse } = attentionForwardCpu(qkv, pos, C, H);
    const gradient = attentionBackwardCpu(qkv, pos, out, lse, dOut, C, H);
    expectGradient((v) => attentionForwardCpu(v, pos, C, H).out.reduce((s, o, i) => s + o * dOut[i], 0), qkv, gradient, { tolerance: 1e-5 });
  });
});
