import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { mean, variance } from '../../src/core/statistics';
import { valueLossCpu } from '../../src/kernels/value/value.cpu';
import { gaeAdvantages } from '../../src/objectives';
import { NotFiniteError } from '../../src/trainer/errors';
import { Trainer } from '../../src/trainer/trainer';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';
import { expectClose } from '../helpers/kernelRun';

const noReference = { loadReference: () => Promise.reject(new Error('not expected')) };

function setUp(patch: Partial<RunConfig> = {}, deps: ConstructorParameters<typeof Trainer>[3] = noReference) {
  const config = { ...presetConfig('ppo', 'small'), prompts: 32, learningRate: 0.05, whitenAdvantages: false, ...patch };
  const engine = new FakeEngine({ initial: habit });
  return { engine, trainer: new Trainer(engine, fakeTask, config, deps), config };
}

describe('PPO', () => {
  it('gives every token the advantage that GAE makes of V before it and of the reward at the end', async () => {
    const { trainer, config } = setUp();
    await trainer.runStep();
    const { batch } = await trainer.runStep();
    for (const c of batch.completions) {
      const values = c.values ?? new Float32Array();
      expect([values.length, c.value]).toEqual([c.tokens.length, values[0]]);
      const rewards = c.tokens.map((_, t) => (t === c.tokens.length - 1 ? c.reward : 0));
      const want = gaeAdvantages(rewards, values, 1, config.gaeLambda).advantages;
      expectClose(c.advantages ?? [], want, 1e-6);
      expectClose([c.advantage], [mean(want)], 1e-6);
    }
    // After one iteration the critic no longer says the same of every state.
    expect(new Set(batch.completions.flatMap((c) => [...(c.values ?? [])])).size).toBeGreaterThan(3);
  });

  it('hands the policy those advantages, and the critic its old values, returns and an even weight', async () => {
    const { engine, trainer } = setUp({ minibatches: 2, valueClip: 0.3 });
    await trainer.runStep();
    const critic = engine.valueNetwork;
    expect(critic?.updates).toHaveLength(2);
    await trainer.runStep();
    for (const k of [2, 3]) {
      const { batch, inputs, options } = critic?.updates[k] ?? {};
      const policy = engine.updates[k];
      expect(batch).toBe(policy.batch);
      expect(options).toMatchObject({ learningRate: 1e-3, valueClip: 0.3, maxGradNorm: 1 });
      let tokens = 0;
      batch?.targets.forEach((target, n) => {
        if (target === 0xffffffff) return;
        tokens++;
        expectClose([(inputs?.oldValues[n] ?? NaN) + policy.inputs.advantage[n]], [inputs?.returns[n] ?? NaN], 1e-6);
      });
      expectClose([inputs?.weight.reduce((a, b) => a + b, 0) ?? NaN], [1], 1e-6);
      expect(tokens).toBeGreaterThan(16);
    }
  });

  it('reports what the critic has learnt', async () => {
    const { engine, trainer } = setUp({ valueClip: 0.05 });
    await trainer.runStep();
    const { report, batch } = await trainer.runStep();
    const values = batch.completions.flatMap((c) => [...(c.values ?? [])]);
    const returns = batch.completions.flatMap((c) => [...(c.values ?? [])].map((v, t) => v + (c.advantages?.[t] ?? NaN)));
    expect(report.critic?.level).toBe('token');
    expectClose([report.critic?.explainedVariance ?? NaN], [1 - variance(returns.map((r, i) => r - values[i])) / variance(returns)], 1e-5);
    expectClose([report.critic?.meanValue ?? NaN], [mean(batch.completions.map((c) => c.value ?? NaN))], 1e-9);
    expect(report.critic?.calibration).toMatchObject({ iterations: 2, answers: 64 });
    // The loss and the clip, from what each update of the critic was given and left behind.
    const updates = engine.valueNetwork?.updates.slice(4) ?? [];
    expect(updates).toHaveLength(4);
    expect(report.critic?.clippedValues).toBeGreaterThan(0);
    expect(report.critic?.clippedValues).toBeLessThan(1);
    expect(report.critic?.loss).toBeGreaterThan(0);
    const again = setUp({ valueClip: 0 });
    expect((await again.trainer.runStep()).report.critic?.clippedValues).toBeNull();
    // With every V at 0 before the first update its loss is half the squared return.
    const { report: first, batch: start } = await setUp({ valueClip: 0, minibatches: 1 }).trainer.runStep();
    const items = start.completions.flatMap((c) => [...(c.advantages ?? [])].map((a) => valueLossCpu(0, 0, a, 1, 0).loss));
    expectClose([first.critic?.loss ?? NaN], [mean(items)], 1e-6);
  });

  it('learns, and its critic comes to tell good answers from bad ones', async () => {
    const { trainer } = setUp({ whitenAdvantages: true, learningRate: 0.05 });
    const reports = [];
    for (let i = 0; i < 14; i++) reports.push((await trainer.runStep()).report);
    expect(mean(reports.slice(-3).map((r) => r.reward))).toBeGreaterThan(reports[0].reward + 0.2);
    expect(mean(reports.slice(3).map((r) => r.critic?.explainedVariance ?? NaN))).toBeGreaterThan(0.3);
  });

  it('whitens over the batch when asked', async () => {
    const { batch } = await setUp({ whitenAdvantages: true }).trainer.runStep();
    const all = batch.completions.flatMap((c) => [...(c.advantages ?? [])]);
    expectClose([mean(all), variance(all)], [0, 1], 1e-6);
  });

  it('can start and stop in the middle of a run, and keeps its critic meanwhile', async () => {
    const { engine, trainer } = setUp({ objective: 'grpo', groupSize: 8, prompts: 4 });
    expect((await trainer.runStep()).report.critic).toBeNull();
    expect(engine.calls).not.toContain('openValueNetwork');
    trainer.configure({ objective: 'ppo', groupSize: 1 });
    expect((await trainer.runStep()).report.critic?.level).toBe('token');
    trainer.configure({ objective: 'sppo' });
    expect((await trainer.runStep()).report.critic?.level).toBe('prompt');
    trainer.configure({ objective: 'ppo' });
    const { batch } = await trainer.runStep();
    expect(batch.completions.some((c) => c.value !== 0)).toBe(true);
    expect(engine.calls.filter((call) => call === 'openValueNetwork')).toHaveLength(1);
    expect(engine.valueNetwork?.loaded).toHaveLength(1);
  });

  it('keeps its calibration apart from that of the critic of SPPO', async () => {
    const { trainer } = setUp();
    await trainer.runStep();
    trainer.configure({ objective: 'sppo', advantage: 'own', baseline: 'value' });
    await trainer.runStep();
    const { report } = await trainer.runStep();
    expect(report.critic).toMatchObject({ level: 'prompt', calibration: { iterations: 2, answers: 64 } });
    trainer.configure({ objective: 'ppo' });
    const again = await trainer.runStep();
    expect(again.report.critic).toMatchObject({ level: 'token', calibration: { iterations: 2, answers: 64 } });
  });

  it('serves any objective as the advantage: a ratio per answer with credit per token', async () => {
    const { trainer } = setUp({ objective: 'gspo', advantage: 'gae' });
    const { report, batch } = await trainer.runStep();
    expect([report.critic?.level, batch.completions.every((c) => c.advantages !== null)]).toEqual(['token', true]);
  });

  it('stops with the critic’s name when it diverges', async () => {
    const { engine, trainer } = setUp();
    await trainer.runStep();
    const network = engine.valueNetwork;
    if (!network) throw new Error('no value network');
    const collect = network.collect.bind(network);
    network.collect = async () => (await collect()).map((record) => ({ ...record, gradNorm: NaN }));
    await expect(trainer.runStep()).rejects.toThrow(NotFiniteError);
    await expect(trainer.runStep()).rejects.toThrow(/critic/);
  });
});
