import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import { NO_TARGET, type PackedBatch, type RolloutRequest } from '../../src/engines/engine';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { roundMantissaCpu } from '../../src/kernels/roundMantissa/roundMantissa.cpu';
import { sampleTokenCpu } from '../../src/kernels/decode/decode.cpu';
import { MODEL_CONFIGS, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { transformerCpu } from '../../src/model/transformer.cpu';
import { packRows } from '../../src/trainer/batch';
import { expectClose } from '../helpers/kernelRun';

const TINY: ModelConfig = { id: 'tiny', C: 16, L: 2, H: 2, V: 8, T: 16, ropeBase: 100, normEps: 1e-5 };
const OPTIMISER = { learningRate: 1e-2, beta1: 0.9, beta2: 0.99, adamEps: 1e-8, weightDecay: 0, maxGradNorm: 1, temperature: 1 };

function randomBatch(config: ModelConfig, seed: number, count: number, promptLength: number): PackedBatch {
  const rng = new Rng(seed);
  const maxNewTokens = config.T - promptLength;
  const S = config.T;
  const tokens = Uint32Array.from({ length: count * S }, () => rng.int(0, config.V - 1));
  const lengths = Uint32Array.from({ length: count }, (_, r) => 1 + ((r * 7) % maxNewTokens));
  return packRows({ tokens, lengths, promptLength, maxNewTokens }, [...Array(count).keys()]);
}

const cpuOf = (config: ModelConfig, flat: Float32Array, b: PackedBatch, temperature = 1) =>
  transformerCpu(config, Float64Array.from(flat), { tok: b.inputs, pos: b.pos, targets: b.targets, temperature });

function relativeError(got: ArrayLike<number>, want: ArrayLike<number>): number {
  let [difference, size] = [0, 0];
  for (let i = 0; i < want.length; i++) {
    difference += (got[i] - want[i]) ** 2;
    size += want[i] ** 2;
  }
  return Math.sqrt(difference / size);
}

let engine: WebGpuEngine;
let tiny: WebGpuEngine;
beforeAll(async () => {
  engine = await createWebGpuEngine(await requestNodeGpu(), MODEL_CONFIGS.small, { rolloutRows: 64, updatePositions: 2048, maxLag: 2 });
  tiny = await createWebGpuEngine(await requestNodeGpu(), TINY, { rolloutRows: 8, updatePositions: 256, maxLag: 2 });
});
afterAll(() => {
  engine.destroy();
  tiny.destroy();
});

describe('the WebGPU engine', () => {
  it('computes log-probs, entropies and the whole gradient like its f64 twin', async () => {
    const flat = initialParams(engine.config, 1);
    engine.loadParams(flat);
    const batch = randomBatch(engine.config, 2, 20, 8);
    for (const temperature of [1, 0.7]) {
      const cpu = cpuOf(engine.config, flat, batch, temperature);
      const scored = await engine.score(batch, temperature);
      expectClose(scored.logp, cpu.logp, 5e-6, 'logp');
      expectClose(scored.entropy, cpu.entropy, 5e-6, 'entropy');
      engine.supervisedUpdate(batch, { ...OPTIMISER, learningRate: 0, temperature, coefficient: -0.01 });
      const [record] = await engine.collect();
      expectClose(record.newLogp, cpu.logp, 5e-6, 'logp of the update');
      const want = cpu.backward(new Float64Array(batch.positions).fill(-0.01));
      const got = await engine.readGradient();
      expect(relativeError(got, want)).toBeLessThan(1e-5);
      expectClose([record.gradNorm], [Math.sqrt(want.reduce((a, v) => a + v * v, 0))], 1e-5, 'norm');
    }
  });

  it('has a gradient that finite differences of its own f32 loss confirm to 1e-3', async () => {
    const flat = initialParams(TINY, 3);
    const batch = randomBatch(TINY, 4, 6, 3);
    const loss = async (params: Float32Array) => {
      tiny.loadParams(params);
      // Summed in f64: the log-probs are f32, the sum adds no rounding of its own.
      return (await tiny.score(batch, 1)).logp.reduce((a, v) => a - 0.1 * v, 0);
    };
    tiny.loadParams(flat);
    tiny.supervisedUpdate(batch, { ...OPTIMISER, learningRate: 0, coefficient: -0.1 });
    await tiny.collect();
    const gradient = await tiny.readGradient();
    // Along random directions and along the gradient itself: one difference tests every weight at once.
    const rng = new Rng(5);
    for (let trial = 0; trial < 6; trial++) {
      const direction = Float32Array.from(gradient, (g) => (trial === 0 ? g : g + Math.abs(g) * rng.normal()));
      const size = Math.sqrt(direction.reduce((a, v) => a + v * v, 0));
      const h = 2e-2 / size;
      const at = (sign: number) => loss(Float32Array.from(flat, (v, i) => v + sign * h * direction[i]));
      const numeric = (await at(1) - (await at(-1))) / (2 * h);
      const analytic = gradient.reduce((a, g, i) => a + g * direction[i], 0);
      expect(Math.abs(numeric - analytic) / Math.abs(analytic)).toBeLessThan(1e-3);
    }
  });

  it('follows its f64 twin over ten optimiser steps', async () => {
    const flat = initialParams(TINY, 6);
    tiny.loadParams(flat);
    const batch = randomBatch(TINY, 7, 6, 3);
    const losses: number[] = [];
    for (let step = 0; step < 10; step++) tiny.supervisedUpdate(batch, { ...OPTIMISER, coefficient: -1 / 40 });
    for (const record of await tiny.collect()) losses.push(-record.newLogp.reduce((a, v) => a + v, 0));
    expect(losses.length).toBe(10);
    expect(losses[9]).toBeLessThan(losses[0] * 0.8);
    const after = await tiny.readParams();
    expectClose((await tiny.score(batch, 1)).logp, cpuOf(TINY, after, batch).logp, 1e-5, 'logp after training');
  });

  const request = (over: Partial<RolloutRequest> = {}): RolloutRequest => ({
    prompts: Uint32Array.from({ length: 24 * 8 }, (_, i) => (i * 5) % 26),
    rows: 24, promptLength: 8, maxNewTokens: 44, eos: 14, temperature: 1, greedy: false, seed: 11, iteration: 3, precision: 'f32', lag: 0, ...over,
  });
  const packRollout = (r: { tokens: Uint32Array; lengths: Uint32Array }) => packRows({ tokens: r.tokens, lengths: r.lengths, promptLength: 8, maxNewTokens: 44 }, [...r.lengths.keys()]);

  it.each([1, 0.6])('samples by its twin, with log-probs that the training pass repeats, at temperature %d', async (temperature) => {
    const flat = initialParams(engine.config, 8);
    engine.loadParams(flat);
    const result = await engine.rollout(request({ temperature }));
    const batch = packRollout(result);
    const scored = await engine.score(batch, temperature);
    const cpu = cpuOf(engine.config, flat, batch, temperature);
    let compared = 0;
    for (let r = 0; r < 24; r++) {
      for (let t = 0; t < result.lengths[r]; t++) {
        const at = batch.rowStart[r] + 7 + t;
        expect(Math.abs(result.logp[r * 44 + t] - scored.logp[at])).toBeLessThan(2e-5);
        expect(Math.abs(result.entropy[r * 44 + t] - scored.entropy[at])).toBeLessThan(2e-5);
        const drawn = sampleTokenCpu(cpu.logits.subarray(at * 32, (at + 1) * 32), temperature, { seed: 11, iteration: 3, row: r, position: 8 + t }, false);
        if (drawn.margin < 1e-4) continue;
        compared++;
        expect(result.tokens[r * 52 + 8 + t]).toBe(drawn.token);
      }
      const end = 8 + result.lengths[r];
      expect(result.lengths[r] === 44 || result.tokens[r * 52 + end - 1] === 14).toBe(true);
      expect([...result.tokens.subarray(r * 52 + end, (r + 1) * 52)].every((v) => v === 0)).toBe(true);
    }
    expect(compared).toBeGreaterThan(200);
  });

  it('repeats a rollout from its key, and draws anew for another iteration or seed', async () => {
    const first = await engine.rollout(request());
    expect([...(await engine.rollout(request())).tokens]).toEqual([...first.tokens]);
    expect([...(await engine.rollout(request({ iteration: 4 }))).tokens]).not.toEqual([...first.tokens]);
    expect([...(await engine.rollout(request({ seed: 12 }))).tokens]).not.toEqual([...first.tokens]);
  });

  it('decodes greedily', async () => {
    const flat = initialParams(engine.config, 9);
    engine.loadParams(flat);
    const result = await engine.rollout(request({ greedy: true }));
    const batch = packRollout(result);
    const logits = await engine.logits(batch);
    for (let n = 0; n < batch.positions; n++) {
      if (batch.targets[n] === NO_TARGET) continue;
      const row = logits.subarray(n * 32, (n + 1) * 32);
      expect(row[batch.targets[n]]).toBeGreaterThan(Math.max(...row) - 1e-4);
    }
  });

  it.each([['e4m3', 3], ['e5m2', 2]] as const)('samples with weights rounded to %s', async (precision, bits) => {
    const flat = initialParams(engine.config, 10);
    engine.loadParams(flat);
    const result = await engine.rollout(request({ precision }));
    const batch = packRollout(result);
    const rounded = cpuOf(engine.config, Float32Array.from(roundMantissaCpu(flat, bits)), batch);
    const exact = cpuOf(engine.config, flat, batch);
    let apart = 0;
    for (let r = 0; r < 24; r++) {
      for (let t = 0; t < result.lengths[r]; t++) {
        const at = batch.rowStart[r] + 7 + t;
        expect(Math.abs(result.logp[r * 44 + t] - rounded.logp[at])).toBeLessThan(2e-5);
        apart = Math.max(apart, Math.abs(exact.logp[at] - rounded.logp[at]));
      }
    }
    expect(apart).toBeGreaterThan(1e-2);
  });

  it('samples from parameters of some iterations ago', async () => {
    engine.loadParams(initialParams(engine.config, 11));
    const batch = randomBatch(engine.config, 12, 20, 8);
    const fresh: Uint32Array[] = [];
    for (let iteration = 0; iteration < 4; iteration++) {
      fresh.push((await engine.rollout(request())).tokens);
      const lagged = await engine.rollout(request({ lag: 2 }));
      expect([...lagged.tokens]).toEqual([...fresh[Math.max(0, iteration - 2)]]);
      for (let k = 0; k < 3; k++) engine.supervisedUpdate(batch, { ...OPTIMISER, learningRate: 3e-2, coefficient: -1 / 300 });
      await engine.collect();
      engine.endIteration();
    }
    expect([...fresh[3]]).not.toEqual([...fresh[1]]);
  });

  it('makes no GPU object in a step, beyond command encoders', async () => {
    engine.loadParams(initialParams(engine.config, 13));
    const batch = randomBatch(engine.config, 14, 20, 8);
    const before = { objects: engine.ctx.objectsCreated, bytes: engine.ctx.bufferBytes };
    for (let iteration = 0; iteration < 3; iteration++) {
      await engine.rollout(request({ iteration }));
      engine.supervisedUpdate(batch, { ...OPTIMISER, coefficient: -1 / 300 });
      engine.supervisedUpdate(batch, { ...OPTIMISER, coefficient: -1 / 300 });
      expect((await engine.collect()).length).toBe(2);
      engine.endIteration();
    }
    expect({ objects: engine.ctx.objectsCreated, bytes: engine.ctx.bufferBytes }).toEqual(before);
  });

  it('keeps its memory flat over 2,000 updates', async () => {
    tiny.loadParams(initialParams(TINY, 15));
    const batch = randomBatch(TINY, 16, 4, 3);
    const iterate = async (updates: number) => {
      for (let done = 0; done < updates; done += 8) {
        for (let k = 0; k < 8; k++) tiny.supervisedUpdate(batch, { ...OPTIMISER, learningRate: 1e-4, coefficient: -1 / 40 });
        expect((await tiny.collect()).length).toBe(8);
        tiny.endIteration();
      }
    };
    await iterate(400);
    const before = { objects: tiny.ctx.objectsCreated, rss: process.memoryUsage().rss };
    await iterate(1600);
    expect(tiny.ctx.objectsCreated).toBe(before.objects);
    // Room for the garbage collector; one leaked staging buffer per iteration would be 200 times 8 MB.
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(96e6);
  });
});
