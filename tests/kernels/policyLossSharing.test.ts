import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { lossSharingFor } from '../../src/kernels/policyLoss/policyLoss';
import { policyLossCpu } from '../../src/kernels/policyLoss/policyLoss.cpu';
import { runPolicyLoss } from '../../src/kernels/policyLoss/runPolicyLoss';
import { compactBatch, compileTokenLoss, OBJECTIVES, resolveHyperparameters, tokenLossReference } from '../../src/objectives';
import { asF32, packColumns, randomBatch } from '../helpers/lossBatch';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

/** As in policyLoss.test.ts, which derives it. */
const TOLERANCE = 3e-6;

describe('policyLoss, a workgroup for each row', () => {
  it.each(OBJECTIVES.map((o) => [o.id, o] as const))('%s equals its f64 twin, in rows longer than the group and with more units than threads', async (_, objective) => {
    const hyper = Object.fromEntries(Object.entries(resolveHyperparameters(objective)).map(([name, x]) => [name, Math.fround(x)]));
    for (const segments of ['one', 'each', 'random'] as const) {
      const batch = asF32(randomBatch({ seed: 7, lengths: [1, 2, 150, 64, 7], spread: 0.4, segments, advantages: [1, -1.3, 0.6, -0.4, 2] }));
      const inputs = packColumns(compactBatch(batch, objective.lossAggMode), 3);
      const got = await runPolicyLoss(gpu, compileTokenLoss(objective), inputs, hyper, 'groups');
      const want = policyLossCpu(tokenLossReference(objective), inputs, hyper);
      const scale = [0, 1, 2, 3].map((k) => Math.max(k < 2 ? 1e-12 : 1, ...Array.from({ length: inputs.targets.length }, (__, p) => Math.abs(want[p * 4 + k]))));
      want.forEach((value, i) => {
        if (!(Math.abs(got[i] - value) <= TOLERANCE * scale[i % 4])) throw new Error(`${segments}, position ${Math.floor(i / 4)}, value ${i % 4}: ${got[i]} against ${value}`);
      });
    }
  });

  it('is for GPUs', () => {
    expect([lossSharingFor({ software: true }), lossSharingFor({ software: false })]).toEqual(['rows', 'groups']);
  });
});
