import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { policyLossCpu } from '../../src/kernels/policyLoss/policyLoss.cpu';
import { runPolicyLoss } from '../../src/kernels/policyLoss/runPolicyLoss';
import { compactBatch, compileTokenLoss, getObjective, OBJECTIVES, resolveHyperparameters, tokenLossReference, type Objective } from '../../src/objectives';
import { printObjective, readCustom } from '../../src/objectives/custom';
import { asF32, packColumns, randomBatch } from '../helpers/lossBatch';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
}, 60_000);
afterAll(() => gpu.destroy());

const GRPO = `param clipLow = 0.2 in 0..1;
param clipHigh = 0.2 in 0..1;
-min(ratio * adv, clip(ratio, 1 - clipLow, 1 + clipHigh) * adv)`;

const inputsFor = (objective: Objective) => packColumns(compactBatch(asF32(randomBatch({ seed: 4, lengths: [1, 2, 33, 7], spread: 0.6, segments: 'random', advantages: [1, -1.3, 0, 2] })), objective.lossAggMode), 2);

async function onGpu(objective: Objective) {
  return runPolicyLoss(gpu, compileTokenLoss(objective), inputsFor(objective), resolveHyperparameters(objective));
}

describe('typed objectives on the GPU', () => {
  it('GRPO as typed gives bit for bit what the built-in gives', async () => {
    const [typed, builtIn] = [await onGpu(readCustom(GRPO).objective), await onGpu(getObjective('grpo'))];
    expect(Array.from(typed, (v) => v + 0)).toEqual(Array.from(builtIn, (v) => v + 0));
    expect(typed.filter((v) => v !== 0).length).toBeGreaterThan(40);
  });

  it('every built-in, printed and read again, is the same shader but for names', () => {
    for (const builtIn of OBJECTIVES) {
      const again = readCustom(printObjective(builtIn)).objective;
      const shape = (o: Objective) => compileTokenLoss(o).wgsl.replace(/\b[A-Za-z][A-Za-z0-9]*_\b/g, 'name');
      expect(shape(again), builtIn.id).toBe(shape(builtIn));
    }
  });

  it.each([
    ['a long sum', `-(${Array.from({ length: 150 }, (_, i) => `${i + 1} * ratio`).join(' + ')}) / 1000 * adv`],
    ['deep functions', `-${'sigmoid('.repeat(60)}logRatio${')'.repeat(60)} * adv - ratio * adv`],
    ['conditions as numbers', '-((ratio > 1) + (segRatio < 1 or seqRatio < 1)) * logp * adv - min(ratio > 0.9, ratio) * adv'],
    ['entropy of tokens and subsentences', '-(entropy > 0.8 ? clip(ratio, 0.8, 1.28) : ratio) * adv + 0.01 * entropy * logRatio * meanSegment(entropy) / entropyRatio'],
    ['means of means', '-meanSequence(meanSegment(exp(clamp(delta, 2)) * ratio) * segRatio) * adv'],
    ['names of the shader', 'let var = ratio; let fn = var * var; let select2 = fn > 1 ? fn : var; let main = select2; -main * adv'],
  ])('%s compiles, and agrees with f64', async (_, text) => {
    const { objective } = readCustom(text);
    const out = await onGpu(objective);
    const want = policyLossCpu(tokenLossReference(objective), inputsFor(objective), {});
    for (const k of [0, 1]) {
      const column = (values: ArrayLike<number>) => Array.from({ length: values.length / 4 }, (_v, p) => values[p * 4 + k]);
      const [got, exact] = [column(out), column(want)];
      const scale = Math.max(...exact.map(Math.abs));
      got.forEach((v, p) => {
        // A few hundred roundings of 6e-8 in the longest of these.
        if (!(Math.abs(v - exact[p]) <= 2e-5 * scale)) throw new Error(`column ${k} at ${p}: ${v} against ${exact[p]}`);
      });
    }
  });
});
