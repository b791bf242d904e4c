import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { NO_TARGET, type PackedBatch, type PolicyEngine, type ValueInputs, type ValueNetwork } from '../../src/engines/engine';
import { openTfjs } from '../../src/engines/tfjsBackend';
import { createTfjsEngine } from '../../src/engines/tfjsEngine';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import type { ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { packRows } from '../../src/trainer/batch';
import { expectClose } from '../helpers/kernelRun';

const TINY: ModelConfig = { id: 'tiny', C: 16, L: 2, H: 2, V: 8, T: 16, ropeBase: 100, normEps: 1e-5 };
const PROMPT = 4;

let gpu: WebGpuEngine;
let tfjs: PolicyEngine;
let value: ValueNetwork;
let oracle: ValueNetwork;
beforeAll(async () => {
  gpu = await createWebGpuEngine(await requestNodeGpu(), TINY, { rolloutRows: 8, updatePositions: 256, maxLag: 2 });
  expect(await openTfjs(['cpu'])).toBe('cpu');
  tfjs = createTfjsEngine(TINY);
  [value, oracle] = [await gpu.openValueNetwork(), await tfjs.openValueNetwork()];
});
afterAll(() => gpu.destroy());

function randomBatch(seed: number, count: number): PackedBatch {
  const rng = new Rng(seed);
  const maxNewTokens = TINY.T - PROMPT;
  const tokens = Uint32Array.from({ length: count * TINY.T }, () => rng.int(0, TINY.V - 1));
  const lengths = Uint32Array.from({ length: count }, (_, r) => 1 + ((r * 5) % maxNewTokens));
  return packRows({ tokens, lengths, promptLength: PROMPT, maxNewTokens }, [...Array(count).keys()]);
}

/** Olds near the values and returns further off, so that the clip holds some. */
function inputsFor(batch: PackedBatch, values: Float32Array, seed: number): ValueInputs {
  const rng = new Rng(seed);
  const counted = batch.targets.filter((t) => t !== NO_TARGET).length;
  return {
    oldValues: values.map((v) => v + 0.3 * rng.normal()),
    returns: values.map((v) => v + rng.normal()),
    weight: values.map(() => 1 / counted),
  };
}

/** With so large an epsilon Adam's step is the gradient itself. */
const PLAIN = { learningRate: 1e6, adamEps: 1e6, beta1: 0.9, beta2: 0.99, weightDecay: 0, maxGradNorm: 1e9 };

describe('the value network', () => {
  it('takes the first logit of a network of its own, and 0 where nothing is predicted', async () => {
    const [own, policy] = [initialParams(TINY, 1), initialParams(TINY, 2)];
    const batch = randomBatch(3, 6);
    gpu.loadParams(policy);
    value.loadParams(own);
    const got = await value.values(batch);
    gpu.loadParams(own);
    const logits = await gpu.logits(batch);
    gpu.loadParams(policy);
    expectClose(got, batch.targets.reduce<number[]>((out, t, n) => [...out, t === NO_TARGET ? 0 : logits[n * TINY.V]], []), 1e-6, 'values');
    oracle.loadParams(own);
    expectClose(await oracle.values(batch), got, 5e-6, 'tfjs');
  });

  it.each([0, 0.2])('has the gradient that automatic differentiation gives, clip %d', async (valueClip) => {
    const flat = initialParams(TINY, 4);
    const batch = randomBatch(5, 7);
    const moved: Float64Array[] = [];
    const norms: number[] = [];
    for (const network of [value, oracle]) {
      network.loadParams(flat);
      const values = await network.values(batch);
      network.update(batch, inputsFor(batch, values, 6), { ...PLAIN, valueClip });
      const [record] = await network.collect();
      expectClose(record.values, values, 1e-6, 'values of the update');
      norms.push(record.gradNorm);
      const after = await network.readParams();
      moved.push(Float64Array.from(flat, (before, i) => before - after[i]));
    }
    expectClose([norms[0]], [norms[1]], 1e-4, 'norm');
    const size = Math.hypot(...moved[1]);
    expect(size).toBeGreaterThan(1e-3);
    const difference = Math.hypot(...moved[0].map((x, i) => x - moved[1][i]));
    expect(difference / size).toBeLessThan(1e-4);
  });

  it('leaves the policy alone, and learns returns that it can tell from the tokens', async () => {
    const policy = initialParams(TINY, 7);
    gpu.loadParams(policy);
    value.loadParams(initialParams(TINY, 8));
    const batch = randomBatch(9, 8);
    const returns = Float32Array.from(batch.inputs, (token) => (token % 2 === 0 ? 1 : 0));
    const weight = new Float32Array(batch.positions).fill(1 / batch.targets.filter((t) => t !== NO_TARGET).length);
    const loss = (values: Float32Array) => batch.targets.reduce((sum, t, n) => sum + (t === NO_TARGET ? 0 : weight[n] * (values[n] - returns[n]) ** 2), 0);
    const before = loss(await value.values(batch));
    for (let k = 0; k < 60; k++) {
      value.update(batch, { oldValues: returns, returns, weight }, { learningRate: 1e-2, adamEps: 1e-8, beta1: 0.9, beta2: 0.99, weightDecay: 0, maxGradNorm: 1, valueClip: 0 });
    }
    expect(await value.collect()).toHaveLength(60);
    expect(loss(await value.values(batch))).toBeLessThan(before / 50);
    expect(await gpu.readParams()).toEqual(policy);
  });

  it('makes nothing on the device after it was opened', async () => {
    expect(await gpu.openValueNetwork()).toBe(value);
    const batch = randomBatch(10, 4);
    const before = gpu.ctx.objectsCreated;
    const values = await value.values(batch);
    value.update(batch, inputsFor(batch, values, 11), { ...PLAIN, learningRate: 1, valueClip: 0.2 });
    await value.collect();
    expect(gpu.ctx.objectsCreated).toBe(before);
  });
});
