import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectivePatch, presetConfig } from '../../src/config/presets';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { initialParams } from '../../src/model/parameters';
import { evaluateObjective, getObjective } from '../../src/objectives';
import { columnAddition } from '../../src/tasks/defs/columnAddition';
import type { Task } from '../../src/tasks/task';
import { Trainer } from '../../src/trainer/trainer';
import type { ModelConfig } from '../../src/model/config';

// The trainer on the real engine, on a model small enough for a software adapter.
const TINY: ModelConfig = { id: 'tiny', C: 16, L: 1, H: 2, V: 32, T: 64, ropeBase: 100, normEps: 1e-5 };

/** Rewards a leading digit below 5: an untrained policy earns it now and then, and can learn it in a few steps. */
const easy: Task = { ...columnAddition, maxNewTokens: 12, verify: (_prompt, response) => (/^[0-4]/.test(response) ? 1 : 0), wellFormed: () => true };
const noReference = { loadReference: () => Promise.reject(new Error('not expected')) };

let engine: WebGpuEngine;
beforeAll(async () => {
  engine = await createWebGpuEngine(await requestNodeGpu(), TINY, { rolloutRows: 64, updatePositions: 1024 });
});
afterAll(() => engine.destroy());

const settings = { ...presetConfig('grpo', 'small'), prompts: 4, groupSize: 8, minibatches: 2, learningRate: 0.01, evalPrompts: 16 };

describe('the trainer on WebGPU', () => {
  it('samples and scores alike before the first update, and learns', async () => {
    engine.loadParams(initialParams(TINY, 1));
    const trainer = new Trainer(engine, easy, settings, noReference);
    const rewards: number[] = [];
    for (let i = 0; i < 20; i++) {
      const { report } = await trainer.runStep();
      expect(report.selfCheck.ok, `iteration ${report.step}: ${report.selfCheck.maxAbsLogRatio}`).toBe(true);
      rewards.push(report.reward);
    }
    expect(rewards[0]).toBeLessThan(0.5);
    expect(rewards.slice(-3).reduce((a, b) => a + b, 0) / 3).toBeGreaterThan(0.8);
  });

  it.each(['grpo', 'gspo', 'sspo', 'sppo', 'lpo'])('%s: the coefficients of the GPU are those of the f64 reference, at every update', async (objective) => {
    engine.loadParams(initialParams(TINY, 2));
    const config = { ...settings, epochs: 2, ...objectivePatch(settings, objective), clipLowSegment: 0.1, clipHighSegment: 0.1, clipLowSequence: 0.03, clipHighSequence: 0.03, learningRate: 0.004, warmupUpdates: 1 };
    const seen: { coefficient: Float32Array }[] = [];
    const collect = engine.collect.bind(engine);
    engine.collect = async () => {
      const records = await collect();
      seen.push(...records);
      return records;
    };
    const { report, batch } = await new Trainer(engine, easy, config, noReference).runStep();
    engine.collect = collect;
    expect(seen).toHaveLength(4);
    // The last update, put together again from what the batch record holds.
    const rows = batch.completions.filter((c) => c.minibatch === 4);
    const level = { token: 'Token', segment: 'Segment', sequence: 'Sequence' }[getObjective(objective).importanceSamplingLevel] as 'Token';
    const result = evaluateObjective(
      getObjective(objective),
      {
        oldLogp: rows.map((c) => c.oldLogp), newLogp: rows.map((c) => c.newLogp), mask: rows.map((c) => c.oldLogp.map(() => 1)),
        segments: rows.map((c) => c.segments), entropy: rows.map((c) => c.entropy), advantages: rows.map((c) => c.oldLogp.map(() => c.advantage)), meanEntropy: batch.meanEntropy,
      },
      { clipLow: config[`clipLow${level}`], clipHigh: config[`clipHigh${level}`], dualClip: config.dualClip },
      'seq-mean-token-mean',
    );
    // Rows of a minibatch are shuffled, so the two are compared as sorted lists.
    const sorted = (x: Iterable<number>): number[] => [...x].filter((v) => v !== 0).sort((a, b) => a - b);
    const [ours, theirs] = [sorted(seen[3].coefficient), sorted(result.coefficients.flatMap((row) => [...row]))];
    expect(ours.length).toBe(theirs.length);
    expect(ours.length).toBeGreaterThan(10);
    ours.forEach((c, i) => expect(Math.abs(c - theirs[i]) <= 1e-6 + 1e-4 * Math.abs(theirs[i]), `${c} against ${theirs[i]}`).toBe(true));
    expect(report.updates[3].metrics.maxAbsLogRatio).toBeGreaterThan(0.01);
  });

  it('shows a rounded sampler in the ratios, hides it when the trainer recomputes, and lags behind', async () => {
    engine.loadParams(initialParams(TINY, 3));
    const trainer = new Trainer(engine, easy, { ...settings, samplerPrecision: 'e5m2' }, noReference);
    const rounded = await trainer.runStep();
    trainer.configure({ oldLogpSource: 'trainer' });
    const recomputed = await trainer.runStep();
    trainer.configure({ oldLogpSource: 'sampler', samplerPrecision: 'f32', samplerLag: 1 });
    const lagged = await trainer.runStep();
    expect(rounded.report.selfCheck.maxAbsLogRatio).toBeGreaterThan(1e-3);
    expect(recomputed.report.selfCheck.ok).toBe(true);
    expect(lagged.report.selfCheck.maxAbsLogRatio).toBeGreaterThan(1e-3);
    expect([rounded.report.selfCheck.ok, lagged.report.selfCheck.ok]).toEqual([null, null]);
  });

  it('stops when the policy is destroyed', async () => {
    engine.loadParams(initialParams(TINY, 4).fill(NaN));
    await expect(new Trainer(engine, easy, settings, noReference).runStep()).rejects.toThrow(/not a finite number at iteration 1/);
  });

  it('gives the same run twice', async () => {
    const trace = async (): Promise<number[]> => {
      engine.loadParams(initialParams(TINY, 5));
      const trainer = new Trainer(engine, easy, settings, noReference);
      const steps = [await trainer.runStep(), await trainer.runStep(), await trainer.runStep()];
      return steps.flatMap(({ report }) => [report.reward, ...report.updates.map((u) => u.gradNorm)]);
    };
    expect(await trace()).toEqual(await trace());
  });
});
