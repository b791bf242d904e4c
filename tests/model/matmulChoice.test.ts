import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { MATMUL_VARIANTS } from '../../src/kernels/matmul/matmul';
import { chooseMatmul, matmulCandidates, tryMatmuls } from '../../src/model/matmulChoice';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

describe('the choice of a product kernel', () => {
  it('offers quads only where there are subgroups, and large pieces first on software', () => {
    for (const software of [true, false]) {
      expect(matmulCandidates({ software, subgroups: false }).some((v) => v.quads)).toBe(false);
      expect(matmulCandidates({ software, subgroups: true })[0].quads).toBe(true);
      expect(matmulCandidates({ software, subgroups: true })[0].forSoftware).toBe(software);
    }
    expect(matmulCandidates({ software: false, subgroups: true }).length).toBe(MATMUL_VARIANTS.length);
  });

  it('never takes a variant that computes wrongly', async () => {
    // Its shader computes one strip of columns, its dispatch counts on two: half the pieces are left out.
    let reads = 0;
    const wrong = {
      id: 'wrong',
      rows: 4,
      get strips() {
        return reads++ === 0 ? 1 : 2;
      },
      quads: false,
      forSoftware: true,
    };
    const right = MATMUL_VARIANTS[3];
    const trials = await tryMatmuls(gpu, [wrong, right], true);
    expect(trials.map((t) => [t.id, Number.isFinite(t.ms)])).toEqual([['wrong', false], [right.id, true]]);
  });

  it('times what it tries, leaves no buffer behind, and chooses the same again', async () => {
    const before = gpu.bufferBytes;
    const trials = await tryMatmuls(gpu, [MATMUL_VARIANTS[2], MATMUL_VARIANTS[3]], false);
    expect(trials[0]).toMatchObject({ id: MATMUL_VARIANTS[2].id });
    expect(trials.every((t) => t.ms > 0 && Number.isFinite(t.ms))).toBe(true);
    expect(gpu.bufferBytes).toBe(before);
    const chosen = await chooseMatmul(gpu);
    expect(matmulCandidates(gpu.facts)).toContain(chosen.variant);
    expect(await chooseMatmul(gpu)).toEqual({ variant: chosen.variant });
  });
});
