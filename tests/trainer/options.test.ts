import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import type { ReferencePolicy } from '../../src/engines/engine';
import { Trainer } from '../../src/trainer/trainer';
import type { TrainerDeps } from '../../src/trainer/trainer';
import { fakeTask, habit } from '../helpers/fakeTask';
import { FakeEngine } from '../helpers/fakeEngine';

const noReference: TrainerDeps = { loadReference: () => Promise.reject(new Error('not expected')) };

function setUp(patch: Partial<RunConfig> = {}, preset = 'grpo', deps: TrainerDeps = noReference): { engine: FakeEngine; trainer: Trainer } {
  const config = { ...presetConfig(preset, 'small'), prompts: 8, groupSize: 8, learningRate: 0.05, ...patch };
  const engine = new FakeEngine({ initial: habit });
  return { engine, trainer: new Trainer(engine, fakeTask, config, deps) };
}

describe('options of the batch', () => {
  it('leave dead groups out of the updates, and train on all when every group is dead', async () => {
    const { engine, trainer } = setUp({ prompts: 32, dynamicSampling: true });
    const { batch, report } = await trainer.runStep();
    const left = batch.completions.filter((c) => c.minibatch === 0);
    expect(left.length).toBe((report.deadGroups as number) * 256);
    expect(left.length).toBeGreaterThan(0);
    for (const c of left) expect([c.advantage, [...c.newLogp]]).toEqual([0, [...c.oldLogp]]);
    expect(batch.completions.filter((c) => c.minibatch > 0).every((c) => c.advantage !== 0)).toBe(true);
    expect(engine.updates.reduce((n, u) => n + u.batch.rows, 0)).toBe(256 - left.length);
    expect(report.updates.reduce((n, u) => n + u.metrics.sequences, 0)).toBe(256 - left.length);
    const before = engine.params.slice();
    const alike = setUp({ dynamicSampling: true, temperature: 0.1 });
    alike.engine.params.set(before.map((x) => 50 * x));
    const dead = await alike.trainer.runStep();
    expect(dead.report.deadGroups).toBe(1);
    expect(dead.report.updates).toHaveLength(4);
  });

  it('draw other prompts in place of dead groups until there are enough, each by its own noise', async () => {
    const { engine, trainer } = setUp({ prompts: 32, dynamicSampling: true, refillGroups: true });
    const { batch, report } = await trainer.runStep();
    const rollouts = engine.requests.length;
    expect(rollouts).toBeGreaterThan(1);
    expect(rollouts).toBeLessThanOrEqual(4);
    expect(report.groups).toEqual({ drawn: 32 * rollouts, trained: 32, revisited: null });
    expect(new Set(engine.requests.map((r) => r.iteration)).size).toBe(rollouts);
    expect(batch.prompts).toHaveLength(32 * rollouts);
    expect(batch.completions).toHaveLength(256 * rollouts);
    // The first 32 groups with both kinds of answers were trained on, no other; the reward is that of all answers drawn.
    const groups = Array.from({ length: 32 * rollouts }, (_, g) => batch.completions.slice(8 * g, 8 * g + 8));
    const mixed = groups.flatMap((group, g) => (new Set(group.map((c) => c.reward)).size > 1 ? [g] : [])).slice(0, 32);
    groups.forEach((group, g) => expect(group.every((c) => c.minibatch > 0), `group ${g}`).toBe(mixed.includes(g)));
    expect(mixed).toHaveLength(32);
    expect(report.reward).toBeCloseTo(batch.completions.reduce((s, c) => s + c.reward, 0) / batch.completions.length, 12);
    expect(engine.updates.reduce((n, u) => n + u.batch.rows, 0)).toBe(256);
    const again = await setUp({ prompts: 32, dynamicSampling: true, refillGroups: true }).trainer.runStep();
    expect(again.batch.completions.map((c) => c.tokens.join(''))).toEqual(batch.completions.map((c) => c.tokens.join('')));
  });

  it('stop drawing after three more rollouts, and go on with what there is', async () => {
    const said: [string, number | null][] = [];
    const deps: TrainerDeps = { ...noReference, onActivity: (activity, message, done) => activity === 'running' && said.push([message, done]) };
    const { engine, trainer } = setUp({ prompts: 16, dynamicSampling: true, refillGroups: true, temperature: 0.15 }, 'grpo', deps);
    const { report } = await trainer.runStep();
    expect(said.filter(([message]) => /sampling other prompts, \d+ of 16 groups so far/.test(message)).map(([, done]) => done)).toEqual([0.1, 0.2, 0.3]);
    expect(engine.requests).toHaveLength(4);
    expect(report.groups.drawn).toBe(64);
    expect(report.groups.trained).toBeLessThan(16);
    expect(report.updates).toHaveLength(4);
    // The trainer's own log-probs of four rollouts take as many passes as fit an update each.
    const recomputed = setUp({ prompts: 16, dynamicSampling: true, refillGroups: true, temperature: 0.15, oldLogpSource: 'trainer' });
    await recomputed.trainer.runStep();
    expect(recomputed.engine.calls.filter((call) => call === 'score')).toHaveLength(16);
  });

  it('leave answers out that were cut off', async () => {
    const { engine, trainer } = setUp({ prompts: 16, overlongFilter: true });
    const { batch, report } = await trainer.runStep();
    const cut = batch.completions.filter((c) => c.tokens.at(-1) !== ';');
    expect(cut.length).toBe(report.truncatedFraction * 128);
    expect(cut.length).toBeGreaterThan(0);
    expect(cut.every((c) => c.minibatch === 0)).toBe(true);
    expect(engine.updates.reduce((n, u) => n + u.batch.rows, 0)).toBe(128 - cut.length);
  });

  it('give cut-off answers no weight where nothing else was drawn', async () => {
    const config = { ...presetConfig('reinforce', 'small'), advantage: 'reward', prompts: 8, overlongFilter: true, overlongCache: 4 } as const;
    const engine = new FakeEngine({ initial: (_p, previous, next) => (previous === next ? 30 : 0) });
    const trainer = new Trainer(engine, fakeTask, config, noReference);
    const { report, batch } = await trainer.runStep();
    expect([report.truncatedFraction, report.updates.length]).toEqual([1, 4]);
    expect(batch.completions.every((c) => c.advantage < 0)).toBe(true);
    for (const update of report.updates) expect([update.gradNorm, update.metrics.loss, update.metrics.weightKept, update.metrics.deadGradient]).toEqual([0, 0, 0, 1]);
    const without = new Trainer(new FakeEngine({ initial: (_p, previous, next) => (previous === next ? 30 : 0) }), fakeTask, { ...config, overlongFilter: false }, noReference);
    expect((await without.runStep()).report.updates[0].metrics.loss).not.toBe(0);
  });

  it('take the soft length penalty off the reward that trains, not off the one that is shown', async () => {
    const plain = await setUp({ advantage: 'reward', prompts: 16 }).trainer.runStep();
    const { batch, report } = await setUp({ advantage: 'reward', prompts: 16, overlongCache: 4 }).trainer.runStep();
    expect(report.reward).toBe(plain.report.reward);
    const penalty = [0, 0, -0.25, -0.5, -0.75, -1];
    for (const c of batch.completions) expect(c.advantage).toBeCloseTo(c.reward + penalty[c.tokens.length], 12);
    expect(new Set(batch.completions.map((c) => c.tokens.length)).size).toBeGreaterThan(2);
  });

  it('take advantages from another rule than the objective’s own', async () => {
    const { batch } = await setUp({ advantage: 'leaveOneOut' }).trainer.runStep();
    for (let g = 0; g < 8; g++) {
      const group = batch.completions.slice(8 * g, 8 * g + 8);
      const total = group.reduce((s, c) => s + c.reward, 0);
      for (const c of group) expect(c.advantage).toBeCloseTo(c.reward - (total - c.reward) / 7, 12);
    }
  });

  it('weigh tokens for a rounded sampler, and chart what was cut', async () => {
    const rounded = { samplerPrecision: 'e5m2', oldLogpSource: 'trainer' } as const;
    const whole = await setUp(rounded).trainer.runStep();
    expect(whole.report.updates.every((u) => u.metrics.weightKept === 1)).toBe(true);
    const { engine, trainer } = setUp({ ...rounded, mismatchCorrection: 'token-truncate', mismatchCap: 1 });
    const { report } = await trainer.runStep();
    expect(report.updates[0].metrics.weightKept).toBeGreaterThan(0.5);
    expect(report.updates[0].metrics.weightKept).toBeLessThan(1);
    expect(report.selfCheck.ok).toBe(true);
    // 16 answers in a minibatch: no weight is above 1/(16 |y|), and some are below.
    const { batch, inputs } = engine.updates[0];
    const shares = Array.from({ length: 16 }, (_, r) => {
      const [start, end] = [batch.rowStart[r] + 1, batch.rowStart[r + 1]];
      return Array.from(inputs.weight.slice(start, end), (w) => w * 16 * (end - start));
    }).flat();
    expect(Math.max(...shares)).toBeLessThanOrEqual(1 + 1e-6);
    expect(Math.min(...shares)).toBeLessThan(0.999);
  });

  it('put the KL into the reward instead of the loss', async () => {
    const reference: ReferencePolicy = { description: 'fake', logp: (packed) => Promise.resolve(new Float32Array(packed.positions).fill(-1)), destroy: () => Promise.resolve() };
    const { engine, trainer } = setUp({ beta: 0.5, klPlacement: 'reward', advantage: 'reward' }, 'grpo', { loadReference: () => Promise.resolve(reference) });
    const { batch } = await trainer.runStep();
    expect(engine.updates[0].options.hyper.beta).toBe(0);
    for (const c of batch.completions) expect(c.advantage).toBeCloseTo(c.reward - 0.5 * c.oldLogp.reduce((s, x) => s + x + 1, 0), 5);
  });
});
