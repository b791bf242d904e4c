import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { adamw } from '../../src/kernels/adamw/adamw';
import { adamwCpu } from '../../src/kernels/adamw/adamw.cpu';
import { gradientNorm, gradientReduce } from '../../src/kernels/gradient/gradient';
import { gradientReduceCpu } from '../../src/kernels/gradient/gradient.cpu';
import { roundMantissa } from '../../src/kernels/roundMantissa/roundMantissa';
import { roundMantissaCpu } from '../../src/kernels/roundMantissa/roundMantissa.cpu';
import { expectClose, normals, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

describe('gradient', () => {
  it.each([
    [1, 64, 16],
    [4, 1000, 256],
    [16, 132, 8],
  ])('sums %i splits of %i floats with %i threads', async (splits, flat, threads) => {
    const grads = normals(1, splits * flat);
    const split = Uint32Array.of(splits, flat / 4, threads, 0);
    const reduced = await runKernel(gpu, gradientReduce, {}, { split, grads, partials: threads }, threads);
    const want = gradientReduceCpu(grads, splits);
    expectClose(reduced.grads.subarray(0, flat), want.sum, 1e-5, 'sum');
    const { norm } = await runKernel(gpu, gradientNorm, {}, { split, partials: Float32Array.from(reduced.partials), norm: 4 }, 1);
    expectClose([norm[0]], [want.norm], 1e-5, 'norm');
  });
});

describe('adamw', () => {
  const n = 100;
  const hyper = { lr: 3e-3, beta1: 0.9, beta2: 0.98, eps: 1e-8, decay: 0.01, maxNorm: 1 };
  const run = async (norm: number, step: number) => {
    const [params, m, v, grads] = [normals(2, n), normals(3, n, 0.1), normals(4, n, 0.1).map(Math.abs), normals(5, n)];
    const decays = Float32Array.from({ length: n / 4 }, (_, i) => i % 2);
    const got = await runKernel(
      gpu,
      adamw,
      {},
      {
        dims: Uint32Array.of(n / 4, 0, 0, 0),
        hyper: Float32Array.of(hyper.lr, hyper.beta1, hyper.beta2, hyper.eps, hyper.decay, hyper.maxNorm, 1 - hyper.beta1 ** step, 1 - hyper.beta2 ** step),
        norm: new Uint32Array(Float32Array.of(norm, 0, 0, 0).buffer),
        grads,
        decays,
        params,
        m,
        v,
      },
      n / 4,
    );
    const want = { params: Float64Array.from(params), m: Float64Array.from(m), v: Float64Array.from(v) };
    adamwCpu(want.params, want.m, want.v, Float64Array.from(grads), Float64Array.from({ length: n }, (_, i) => decays[Math.floor(i / 4)]), norm, { ...hyper, step });
    return { got, want };
  };

  it.each([
    [0.5, 1],
    [12, 1],
    [12, 40],
  ])('steps like its twin at norm %d, step %i', async (norm, step) => {
    const { got, want } = await run(norm, step);
    expectClose(got.params, want.params, 1e-6, 'params');
    expectClose(got.m, want.m, 1e-6, 'm');
    expectClose(got.v, want.v, 1e-6, 'v');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('leaves everything as it was when the norm is %d', async (norm) => {
    const { got, want } = await run(norm, 3);
    expect([...got.params]).toEqual([...want.params]);
    expect([...got.m]).toEqual([...want.m]);
  });
});

describe('roundMantissa', () => {
  it.each([2, 3, 23])('rounds to %i mantissa bits, ties to even', async (bits) => {
    const source = new Float32Array([0, 1, -1, 1.125, 1.0625, 1.1875, -1.375, 1.75, 1.9375, 3.999, 1e-20, -7e8, ...normals(6, 500, 0.3)]);
    const n = source.length;
    const got = await runKernel(gpu, roundMantissa, {}, { dims: Uint32Array.of(n, 0, 0, 0), shape: Uint32Array.of(bits, 0, 0, 0), source, result: n }, n);
    expect([...got.result]).toEqual([...roundMantissaCpu(source, bits)]);
    const distinct = new Set([...got.result].map((v) => (v === 0 ? 0 : Math.abs(v) / 2 ** Math.floor(Math.log2(Math.abs(v))))));
    if (bits < 23) expect(distinct.size).toBeLessThanOrEqual(2 ** bits + 1);
  });
});
