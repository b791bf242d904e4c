import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { tokenLogpBackward, tokenLogpForward } from '../../src/kernels/tokenLogp/tokenLogp';
import { tokenLogpBackwardCpu, tokenLogpForwardCpu } from '../../src/kernels/tokenLogp/tokenLogp.cpu';
import { f32Bits } from '../../src/model/parameters';
import { expectClose, expectGradient, normals, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

const NONE = 0xffffffff;

describe('tokenLogp', () => {
  it.each([
    [1, 8, 1, 1],
    [33, 32, 1, 0.7],
    [100, 32, 20, 1],
    [40, 32, 80, 1.5],
  ])('forward and backward: N=%i, V=%i, spread %d, temperature %d', async (N, V, spread, temperature) => {
    const logits = normals(1, N * V, spread);
    const rng = new Rng(2);
    const targets = Uint32Array.from({ length: N }, (_, n) => (n % 5 === 3 ? NONE : rng.int(0, V - 1)));
    const want = tokenLogpForwardCpu(logits, targets, V, temperature);
    const shape = Uint32Array.of(V, f32Bits(1 / temperature), 0, 0);
    const dims = Uint32Array.of(N, 0, 0, 0);
    const got = await runKernel(gpu, tokenLogpForward, {}, { dims, shape, logits, targets, logp: N, entropy: N, lse: N }, N);
    // z - log(total) is a difference of numbers as large as the logits: relative to those, f32 keeps 1e-7 or so.
    const tolerance = 2e-6 * Math.max(1, spread / 4);
    expectClose(got.logp, want.logp, tolerance, 'logp');
    expectClose(got.entropy, want.entropy, tolerance, 'entropy');
    const c = normals(3, N);
    const coefficients = new Float32Array(N * 4).fill(Number.NaN);
    c.forEach((v, n) => (coefficients[4 * n] = targets[n] === NONE ? Number.NaN : v));
    const back = await runKernel(gpu, tokenLogpBackward, {}, { dims, shape, targets, lse: Float32Array.from(want.lse), coefficients, logits }, (N * V) / 4);
    expectClose(back.logits, tokenLogpBackwardCpu(logits, targets, want.lse, c, V, temperature), 1e-5 * Math.max(1, spread / 4), 'dlogits');
    // Rows without a target are exactly 0 although their coefficient is NaN.
    targets.forEach((t, n) => {
      if (t === NONE) expect([...back.logits.subarray(n * V, (n + 1) * V)].every((v) => v === 0)).toBe(true);
    });
  });

  it('has a twin that finite differences confirm', () => {
    const [N, V, temperature] = [3, 8, 0.8];
    const logits = Float64Array.from(normals(4, N * V));
    const targets = Uint32Array.of(2, NONE, 7);
    const c = normals(5, N);
    const { lse } = tokenLogpForwardCpu(logits, targets, V, temperature);
    const gradient = tokenLogpBackwardCpu(logits, targets, lse, c, V, temperature);
    const f = (z: Float64Array) => tokenLogpForwardCpu(z, targets, V, temperature).logp.reduce((s, v, n) => s + v * c[n], 0);
    expectGradient(f, logits, gradient, { tolerance: 1e-6 });
  });
});
