import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { GPU_USAGE, type GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { encode } from '../../src/gpu/program';
import { gatherLogp } from '../../src/kernels/gatherLogp/gatherLogp';
import { gatherLogpCpu } from '../../src/kernels/gatherLogp/gatherLogp.cpu';
import { shaderOf } from '../../src/kernels/kernelSpec';
import { logSoftmaxAt } from '../helpers/referenceForward';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

const V = 32;

function batch(N: number, rows: number, spread: number) {
  const rng = new Rng(51, N);
  const logits = Float32Array.from({ length: rows * V }, () => spread * rng.normal());
  const source = Uint32Array.from({ length: N }, () => rng.int(0, rows - 1));
  const targets = Uint32Array.from({ length: N }, (_, n) => (n % 5 === 3 ? 0xffffffff : rng.int(0, V - 1)));
  return { logits, source, targets };
}

async function run({ logits, source, targets }: ReturnType<typeof batch>, temperature: number, fill = 0): Promise<Float32Array> {
  const N = targets.length;
  const upload = (name: string, data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>, usage: number = GPU_USAGE.STORAGE) => {
    const buffer = gpu.buffer(name, data.byteLength, usage);
    gpu.device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  const uniform = GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST;
  const inverse = new Uint32Array(Float32Array.of(1 / temperature).buffer)[0]!;
  // Three floats past the end show a kernel that does not guard its tail.
  const logp = upload('logp', new Float32Array(N + 3).fill(fill));
  const pipeline = await gpu.pipeline(shaderOf(gatherLogp));
  const bindGroup = gpu.bind(pipeline, {
    dims: upload('dims', Uint32Array.of(N, 0, 0, 0), uniform),
    shape: upload('shape', Uint32Array.of(V, inverse, 0, 0), uniform),
    logits: upload('logits', logits),
    source: upload('source', source),
    targets: upload('targets', targets),
    logp,
  });
  const staging = gpu.buffer('staging', 4 * (N + 3), GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  const encoder = gpu.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  encode(pass, [{ pipeline, bindGroup, threads: (n) => n }], N);
  pass.end();
  encoder.copyBufferToBuffer(logp, 0, staging, 0, 4 * (N + 3));
  gpu.device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  const out = new Float32Array(staging.getMappedRange().slice(0, 4 * (N + 3)));
  staging.unmap();
  return out;
}

describe('gatherLogp', () => {
  it('has a twin that agrees with the definition', () => {
    const data = batch(40, 9, 3);
    gatherLogpCpu(data.logits, data.source, data.targets, V, 0.8).forEach((value, n) => {
      const row = Array.from(data.logits.subarray(data.source[n]! * V, (data.source[n]! + 1) * V));
      const want = data.targets[n]! < V ? logSoftmaxAt(row, data.targets[n]!, 0.8) : 0;
      if (!(Math.abs(value - want) <= 1e-12)) throw new Error(`${n}: ${value} against ${want}`);
    });
  });

  it.each([
    [1, 1, 1, 1],
    [33, 10, 1, 1],
    [700, 128, 4, 0.7],
    [64, 64, 30, 1.5],
  ])('matches its f64 twin on the GPU: N=%i, rows=%i, spread %d, temperature %d', async (N, rows, spread, temperature) => {
    const data = batch(N, rows, spread);
    const got = await run(data, temperature, 7);
    gatherLogpCpu(data.logits, data.source, data.targets, V, temperature).forEach((want, n) => {
      if (!(Math.abs(got[n]! - want) <= 2e-6 * Math.max(1, Math.abs(want)))) throw new Error(`position ${n}: ${got[n]} against ${want}`);
    });
    expect([...got.subarray(N)]).toEqual([7, 7, 7]);
  });

  it('never reads a position without a target into a number', async () => {
    const data = batch(10, 4, 2);
    data.targets.fill(0xffffffff);
    expect([...(await run(data, 1, 7)).subarray(0, 10)]).toEqual(Array(10).fill(0));
  });
});
