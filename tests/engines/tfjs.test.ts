import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import type { LossInputs, PackedBatch, RolloutRequest } from '../../src/engines/engine';
import { openTfjs } from '../../src/engines/tfjsBackend';
import { createTfjsEngine, type TfjsEngine } from '../../src/engines/tfjsEngine';
import { adamwCpu } from '../../src/kernels/adamw/adamw.cpu';
import { sampleTokenCpu } from '../../src/kernels/decode/decode.cpu';
import { policyLossCpu } from '../../src/kernels/policyLoss/policyLoss.cpu';
import { roundMantissaCpu } from '../../src/kernels/roundMantissa/roundMantissa.cpu';
import { paramLayout, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { transformerCpu } from '../../src/model/transformer.cpu';
import { compileTokenLoss, getObjective, OBJECTIVES, resolveHyperparameters } from '../../src/objectives';
import { packLossInputs, packRows } from '../../src/trainer/batch';
import { expectClose } from '../helpers/kernelRun';

// The fallback engine against the f64 twins, on tfjs's CPU backend; WASM is tested in the browser (tests/e2e/tfjsOracle.e2e.ts).
const TINY: ModelConfig = { id: 'tiny', C: 16, L: 2, H: 2, V: 8, T: 16, ropeBase: 100, normEps: 1e-5 };
const PROMPT = 3;
const OPTIONS = { learningRate: 1e-2, beta1: 0.9, beta2: 0.99, adamEps: 1e-8, weightDecay: 0.1, maxGradNorm: 0.1, temperature: 0.8 };

let engine: TfjsEngine;
beforeAll(async () => {
  expect(await openTfjs(['cpu'])).toBe('cpu');
  engine = createTfjsEngine(TINY, { rolloutRows: 8, updatePositions: 256, maxLag: 2 });
});

function randomBatch(seed: number, count: number): PackedBatch {
  const rng = new Rng(seed);
  const tokens = Uint32Array.from({ length: count * TINY.T }, () => rng.int(0, TINY.V - 1));
  const lengths = Uint32Array.from({ length: count }, (_, r) => 1 + ((r * 7) % (TINY.T - PROMPT)));
  return packRows({ tokens, lengths, promptLength: PROMPT, maxNewTokens: TINY.T - PROMPT }, [...Array(count).keys()]);
}

const cpuOf = (flat: ArrayLike<number>, b: PackedBatch, temperature: number) =>
  transformerCpu(TINY, Float64Array.from(flat), { tok: b.inputs, pos: b.pos, targets: b.targets, temperature });

/** Old log-probs scattered around the present ones, so that some tokens are clipped on either side. */
function lossInputs(batch: PackedBatch, logp: ArrayLike<number>, seed: number): LossInputs {
  const rng = new Rng(seed);
  const rows = Array.from({ length: batch.rows }, (_, r) => {
    const length = batch.rowStart[r + 1]! - batch.rowStart[r]! - PROMPT + 1;
    const first = batch.rowStart[r]! + PROMPT - 1;
    const noisy = (sd: number) => Float32Array.from({ length }, (_, t) => logp[first + t]! + sd * rng.normal());
    return { oldLogp: noisy(0.3), refLogp: noisy(0.1), advantages: Float64Array.from({ length }, () => rng.normal()), segments: Uint32Array.from({ length }, (_, t) => Math.floor(t / 3)), entropy: Float32Array.from({ length }, () => rng.uniform()) };
  });
  return packLossInputs(batch, PROMPT, rows, Float64Array.from(rows, () => 0.01), 0.5);
}

describe('the tfjs engine', () => {
  it('scores like the f64 twin', async () => {
    const flat = initialParams(TINY, 1);
    engine.loadParams(flat);
    const batch = randomBatch(2, 6);
    for (const temperature of [1, 0.7]) {
      const cpu = cpuOf(flat, batch, temperature);
      const scored = await engine.score(batch, temperature);
      expectClose(scored.logp, cpu.logp, 5e-6, 'logp');
      expectClose(scored.entropy, cpu.entropy, 5e-6, 'entropy');
    }
  });

  it.each(OBJECTIVES.map((o) => o.id))('updates by %s as the twins of the shaders do', async (id) => {
    const objective = getObjective(id);
    const loss = compileTokenLoss(objective);
    const flat = initialParams(TINY, 3);
    engine.loadParams(flat);
    const batch = randomBatch(4, 6);
    const cpu = cpuOf(flat, batch, OPTIONS.temperature);
    const inputs = lossInputs(batch, cpu.logp, 5);
    const hyper = resolveHyperparameters(objective, objective.hyperparameters.some((h) => h.name === 'beta') ? { beta: 0.04 } : {});
    await engine.setTokenLoss(loss);
    engine.update(batch, inputs, { ...OPTIONS, hyper });
    const [record] = await engine.collect();
    expect(await engine.collect()).toEqual([]);

    const results = policyLossCpu(loss.reference, { newLogp: cpu.logp, targets: batch.targets, rowStart: batch.rowStart, ...inputs }, hyper);
    const coefficient = Float64Array.from({ length: batch.positions }, (_, n) => results[4 * n]!);
    expectClose(record!.newLogp, cpu.logp, 5e-6, 'logp');
    expectClose(record!.coefficient, coefficient, 1e-6, 'coefficient');
    const gradient = cpu.backward(coefficient);
    const norm = Math.sqrt(gradient.reduce((a, g) => a + g * g, 0));
    expect(norm).toBeGreaterThan(0);
    expectClose(await engine.readGradient(), gradient, 1e-5 * Math.max(1, norm), 'gradient');
    expect(Math.abs(record!.gradNorm / norm - 1)).toBeLessThan(1e-4);

    const decays = new Uint8Array(flat.length);
    for (const spec of paramLayout(TINY).specs) if (spec.initSd !== 'gain') decays.fill(1, spec.offset, spec.offset + spec.size);
    const expected = Float64Array.from(flat);
    adamwCpu(expected, new Float64Array(flat.length), new Float64Array(flat.length), gradient, decays, norm, {
      lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, decay: 0.1, maxNorm: 0.1, step: 1,
    });
    const got = await engine.readParams();
    let [difference, moved] = [0, 0];
    got.forEach((value, i) => {
      difference += (value - expected[i]!) ** 2;
      moved += (expected[i]! - flat[i]!) ** 2;
    });
    expect(Math.sqrt(difference / moved)).toBeLessThan(1e-3);
  });

  const request = (over: Partial<RolloutRequest> = {}): RolloutRequest => ({
    prompts: Uint32Array.from({ length: 8 * PROMPT }, (_, i) => (i * 5) % TINY.V),
    rows: 8, promptLength: PROMPT, maxNewTokens: TINY.T - PROMPT, eos: 1, temperature: 0.9, greedy: false, seed: 11, iteration: 3, precision: 'f32', lag: 0, ...over,
  });

  it.each(['f32', 'e5m2'] as const)('samples in %s by the twin of the shader, row by row', async (precision) => {
    const flat = initialParams(TINY, 6);
    engine.loadParams(flat);
    const weights = precision === 'f32' ? flat : roundMantissaCpu(flat, 2);
    for (const greedy of [false, true]) {
      const result = await engine.rollout(request({ precision, greedy }));
      const S = TINY.T;
      const batch = packRows({ tokens: result.tokens, lengths: result.lengths, promptLength: PROMPT, maxNewTokens: S - PROMPT }, [...result.lengths.keys()]);
      const { logits } = cpuOf(weights, batch, 1);
      let compared = 0;
      for (let r = 0; r < 8; r++) {
        for (let t = 0; t < result.lengths[r]!; t++) {
          const at = batch.rowStart[r]! + PROMPT - 1 + t;
          const row = logits.subarray(at * TINY.V, (at + 1) * TINY.V);
          const drawn = sampleTokenCpu(row, 0.9, { seed: 11, iteration: 3, row: r, position: PROMPT + t }, greedy);
          const token = result.tokens[r * S + PROMPT + t]!;
          expect(drawn.margin < 1e-5 || token === drawn.token).toBe(true);
          if (token !== drawn.token) continue;
          compared++;
          expect(Math.abs(result.logp[r * (S - PROMPT) + t]! - drawn.logp)).toBeLessThan(1e-5);
          expect(Math.abs(result.entropy[r * (S - PROMPT) + t]! - drawn.entropy)).toBeLessThan(1e-5);
        }
        const end = PROMPT + result.lengths[r]!;
        expect(result.lengths[r] === S - PROMPT || result.tokens[r * S + end - 1] === 1).toBe(true);
        expect([...result.tokens.subarray(r * S + end, (r + 1) * S)].every((v) => v === 0)).toBe(true);
      }
      expect(compared).toBeGreaterThan(20);
      // Rows that end early were dropped from the cache along the way.
      if (!greedy) expect(new Set(result.lengths).size).toBeGreaterThan(2);
    }
  });

  it('samples from parameters of some iterations ago, and keeps no tensor', async () => {
    engine.loadParams(initialParams(TINY, 7));
    await engine.setTokenLoss(compileTokenLoss(getObjective('reinforce')));
    const batch = randomBatch(8, 6);
    const inputs = lossInputs(batch, new Float32Array(batch.positions).fill(-2), 9);
    const tensors = tf.memory().numTensors;
    const fresh: Uint32Array[] = [];
    for (let iteration = 0; iteration < 4; iteration++) {
      fresh.push((await engine.rollout(request())).tokens);
      expect([...(await engine.rollout(request({ lag: 2 }))).tokens]).toEqual([...fresh[Math.max(0, iteration - 2)]!]);
      for (let k = 0; k < 2; k++) engine.update(batch, inputs, { ...OPTIONS, learningRate: 0.05, maxGradNorm: 1, hyper: resolveHyperparameters(getObjective('reinforce'), {}) });
      engine.endIteration();
      expect(await engine.collect()).toHaveLength(2);
    }
    expect([...fresh[3]!]).not.toEqual([...fresh[1]!]);
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('leaves the parameters alone when the gradient is not finite, and says so', async () => {
    const flat = initialParams(TINY, 10);
    flat[paramLayout(TINY).byName.get('unembed')!.offset] = NaN;
    engine.loadParams(flat);
    await engine.setTokenLoss(compileTokenLoss(getObjective('grpo')));
    const batch = randomBatch(11, 4);
    engine.update(batch, lossInputs(batch, new Float32Array(batch.positions).fill(-2), 12), { ...OPTIONS, hyper: resolveHyperparameters(getObjective('grpo'), {}) });
    const [record] = await engine.collect();
    expect(Number.isFinite(record!.gradNorm)).toBe(false);
    expect([...(await engine.readParams())]).toEqual([...flat]);
  });
});
