import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { policyLossSpec } from '../../src/kernels/policyLoss/policyLoss';
import { policyLossCpu } from '../../src/kernels/policyLoss/policyLoss.cpu';
import { runPolicyLoss } from '../../src/kernels/policyLoss/runPolicyLoss';
import { compactBatch, compileTokenLoss, OBJECTIVES, resolveHyperparameters, tokenLossReference, type Objective, type ObjectiveBatch } from '../../src/objectives';
import { GOLDEN_CASES, type GoldenCase } from '../objectives/goldenCases';
import { asF32, hasClip, known, packColumns, randomBatch } from '../helpers/lossBatch';
import { LISTED_AND_MIXED } from '../helpers/mixtures';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

/** Prompt positions before each response: outputs there must be zeros. */
const PROMPT = 3;

async function bothWays(objective: Objective, batch: ObjectiveBatch, given: Record<string, number>, mode = objective.lossAggMode) {
  const hyper = resolveHyperparameters(objective, known(objective, given));
  const inputs = packColumns(compactBatch(batch, mode), PROMPT);
  const gpuOut = await runPolicyLoss(gpu, compileTokenLoss(objective), inputs, hyper);
  // The f64 twin reads the f32 numbers that the kernel read.
  const f32Hyper = Object.fromEntries(Object.entries(hyper).map(([name, x]) => [name, Math.fround(x)]));
  return { inputs, gpuOut, cpuOut: policyLossCpu(tokenLossReference(objective), inputs, f32Hyper) };
}

/**
 * f32 against f64. A log ratio is a difference of numbers up to 8 (half an ulp of either: 5e-7), averaged without growing; WGSL allows
 * exp 3 + 2|x| ulp, 9 ulp for the |x| <= 3 here, so a ratio is off by at most 5e-7 + 9 * 1.2e-7 = 1.6e-6 of itself; the few products
 * and sums after it add less than 1e-6 more. Coefficients are measured against the largest of the batch (KL and policy terms may cancel).
 */
const TOLERANCE = 3e-6;

function compare({ inputs, gpuOut, cpuOut }: Awaited<ReturnType<typeof bothWays>>, what: string): { clipped: number } {
  const N = inputs.targets.length;
  let clipped = 0;
  const scale = [0, 1].map((k) => Math.max(1e-12, ...Array.from({ length: N }, (_, p) => Math.abs(cpuOut[p * 4 + k]))));
  for (let p = 0; p < N; p++) {
    const [c, loss, logRatio, flag] = gpuOut.subarray(p * 4, p * 4 + 4);
    const want = cpuOut.subarray(p * 4, p * 4 + 4);
    if (!(Math.abs(c - want[0]) <= TOLERANCE * scale[0])) throw new Error(`${what}: coefficient at ${p}: ${c} against ${want[0]}`);
    if (!(Math.abs(loss - want[1]) <= TOLERANCE * scale[1])) throw new Error(`${what}: loss at ${p}: ${loss} against ${want[1]}`);
    if (!(Math.abs(logRatio - want[2]) <= 1e-6)) throw new Error(`${what}: log ratio at ${p}: ${logRatio} against ${want[2]}`);
    if (flag !== want[3]) throw new Error(`${what}: flag at ${p}: ${flag} against ${want[3]}`);
    if (inputs.targets[p] === 0xffffffff && !(c === 0 && loss === 0 && logRatio === 0 && flag === 0)) throw new Error(`${what}: position ${p} has no target but ${c}`);
    clipped += flag;
  }
  return { clipped };
}

describe('policyLoss', () => {
  it.each(LISTED_AND_MIXED.map((o) => [o.id, o] as const))('%s on the GPU equals its f64 twin over ratios, signs, lengths and cuts', async (_, objective) => {
    let clipped = 0;
    let seed = 0;
    for (const segments of ['one', 'each', 'random'] as const) {
      for (const spread of [1e-3, 0.4, 3]) {
        for (const hyper of [{}, { clipLow: 0.1, clipHigh: 0.15 }, { clipLow: 0.2, clipHigh: 0.28, dualClip: 3, beta: 0.04, floor: 0.7, cap: 1.3, tauPos: 2, tauNeg: 3 }]) {
          const batch = asF32(randomBatch({ seed: ++seed, lengths: [1, 2, 33, 7], spread, segments, advantages: [1, -1.3, 0, -0.4, 2] }));
          clipped += compare(await bothWays(objective, batch, hyper), `${objective.id} ${segments} ${spread} ${JSON.stringify(hyper)}`).clipped;
        }
      }
    }
    // The grid is no test of clipping if nothing is ever clipped.
    if (hasClip(objective)) expect(clipped).toBeGreaterThan(20);
    else expect(clipped).toBe(0);
  });

  it('stays finite behind the guard when log ratios are far out', async () => {
    for (const objective of OBJECTIVES) {
      const batch = asF32(randomBatch({ seed: 5, lengths: [1, 2, 5], spread: 0.1, segments: 'random', advantages: [1, -1] }));
      batch.oldLogp.forEach((row, i) => ((row as Float64Array)[0] = i % 2 ? -200 : -1e-3));
      batch.newLogp.forEach((row, i) => ((row as Float64Array)[0] = i % 2 ? -1e-3 : -200));
      const { gpuOut } = await bothWays(objective, batch, {});
      expect(gpuOut.every(Number.isFinite), objective.id).toBe(true);
    }
  });

  it.each(GOLDEN_CASES.map((c) => [c.name, c] as const))('golden on the GPU: %s', async (_, golden: GoldenCase) => {
    const { gpuOut, inputs } = await bothWays(golden.objective, golden.batch, golden.hyper, golden.mode);
    const rows = golden.coefficients;
    let loss = 0;
    rows.forEach((row, r) => {
      const first = Number(inputs.rowStart[r]) + PROMPT;
      const length = Array.from(golden.batch.mask[r]).filter(Boolean).length;
      for (let t = 0; t < length; t++) {
        const p = first + t;
        // Printed to six digits, and coefficients below 1: f32 adds less than 1e-6 to half a digit of print.
        if (!(Math.abs(gpuOut[p * 4] - row[t]) <= 1.5e-6)) throw new Error(`row ${r}, token ${t}: ${gpuOut[p * 4]} against ${row[t]}`);
        if (golden.clipped) expect(gpuOut[p * 4 + 3], `row ${r}, token ${t}`).toBe(golden.clipped[r][t]);
        loss += gpuOut[p * 4 + 1];
      }
    });
    if (golden.loss !== undefined && !(Math.abs(loss - golden.loss) <= 1.5e-6)) throw new Error(`loss ${loss} against ${golden.loss}`);
  });

  it('refuses a token loss that lacks a part', () => {
    expect(() => policyLossSpec({ id: 'broken', wgsl: 'fn tokenLoss(t: Token) -> TokenResult {}', slots: {}, reference: () => { throw new Error('never called'); } }, 'rows')).toThrow(/MEAN_COUNT/);
  });
});
