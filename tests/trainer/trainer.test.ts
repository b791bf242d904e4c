import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import type { ReferencePolicy } from '../../src/engines/engine';
import { NotFiniteError, ReferencePolicyError } from '../../src/trainer/errors';
import { evaluateHeldOut, heldOutPrompts } from '../../src/trainer/evaluate';
import { OBJECTIVES } from '../../src/objectives';
import { Trainer } from '../../src/trainer/trainer';
import type { TrainerDeps } from '../../src/trainer/trainer';
import type { StepResult } from '../../src/trainer/step';
import { fakeTask, habit } from '../helpers/fakeTask';
import { FakeEngine } from '../helpers/fakeEngine';

const noReference: TrainerDeps = { loadReference: () => Promise.reject(new Error('not expected')) };

function setUp(patch: Partial<RunConfig> = {}, preset = 'grpo', deps: TrainerDeps = noReference): { engine: FakeEngine; trainer: Trainer; config: RunConfig } {
  const config = { ...presetConfig(preset, 'small'), prompts: 8, groupSize: preset === 'sppo' ? 1 : 8, learningRate: 0.05, ...patch };
  const engine = new FakeEngine({ initial: habit });
  return { engine, trainer: new Trainer(engine, fakeTask, config, deps), config };
}

async function run(trainer: Trainer, steps: number): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (let i = 0; i < steps; i++) results.push(await trainer.runStep());
  return results;
}

const meanReward = (results: StepResult[]): number => results.reduce((s, r) => s + r.report.reward, 0) / results.length;

describe('one iteration', () => {
  it('rolls out once, updates minibatches times epochs times, then ends the iteration and reads back once', async () => {
    const { engine, trainer } = setUp({ minibatches: 4, epochs: 3 });
    const { report } = await trainer.runStep();
    expect(engine.calls).toEqual(['setTokenLoss grpo', 'rollout', ...Array<string>(12).fill('update'), 'endIteration', 'collect']);
    expect(report.updates.map((u) => [u.update, u.step, u.epoch, u.minibatch])).toEqual(
      [1, 2, 3].flatMap((epoch) => [1, 2, 3, 4].map((minibatch) => [(epoch - 1) * 4 + minibatch - 1, 1, epoch, minibatch])),
    );
    await trainer.runStep();
    expect(engine.calls.slice(16)).toEqual(['rollout', ...Array<string>(12).fill('update'), 'endIteration', 'collect']);
    expect(engine.updates).toHaveLength(24);
  });

  it('trains on every row once per epoch, in a new order each time', async () => {
    const { engine, trainer } = setUp({ minibatches: 4, epochs: 2 });
    const { batch } = await trainer.runStep();
    const rowsOf = (from: number): string[] => engine.updates.slice(from, from + 4).flatMap(({ batch: b, inputs }) =>
      Array.from({ length: b.rows }, (_, r) => `${[...b.inputs.slice(b.rowStart[r], b.rowStart[r + 1])].join()} ${inputs.advantage[b.rowStart[r] + 1]}`));
    expect([...rowsOf(0)].sort()).toEqual([...rowsOf(4)].sort());
    expect(rowsOf(0)).not.toEqual(rowsOf(4));
    expect(rowsOf(0)).toHaveLength(batch.completions.length);
  });

  it('has ratios of exactly 1 at the first update and not after it', async () => {
    const { trainer } = setUp();
    for (const { report } of await run(trainer, 3)) {
      expect(report.updates[0].metrics.maxAbsLogRatio).toBe(0);
      expect(report.selfCheck).toEqual({ maxAbsLogRatio: 0, ok: true });
      expect(report.updates[3].metrics.maxAbsLogRatio).toBeGreaterThan(1e-4);
    }
  });

  it('warms the learning rate up over updates, across iterations', async () => {
    const { engine, trainer } = setUp({ learningRate: 0.1, warmupUpdates: 6, minibatches: 4 });
    await run(trainer, 2);
    expect(engine.updates.map((u) => u.options.learningRate)).toEqual([1, 2, 3, 4, 5, 6, 6, 6].map((k) => expect.closeTo((0.1 * k) / 6, 12)));
    expect(engine.updates[0].options).toMatchObject({ beta1: 0.9, beta2: 0.99, adamEps: 1e-8, weightDecay: 0, maxGradNorm: 1, temperature: 1 });
    expect(engine.updates[0].options.hyper).toEqual({ clipLow: 0.2, clipHigh: 0.2, dualClip: 0, beta: 0 });
  });

  it('hands each objective the clip widths of its own level', async () => {
    for (const [objective, level] of [['gspo', 'Sequence'], ['sspo', 'Segment'], ['lpo', 'Segment'], ['grpo', 'Token']] as const) {
      const { engine, trainer } = setUp({ objective, ...({ [`clipLow${level}`]: 0.123, [`clipHigh${level}`]: 0.456 } as Partial<RunConfig>) });
      const { report } = await trainer.runStep();
      expect(engine.updates[0].options.hyper, objective).toMatchObject({ clipLow: 0.123, clipHigh: 0.456 });
      expect(report.updates[0].metrics.levels[level === 'Sequence' ? 'sequence' : level === 'Segment' ? 'segment' : 'token'].widths).toEqual({ low: 0.123, high: 0.456 });
    }
  });

  it('records every completion with the log-probs of the last update that trained on it', async () => {
    const { engine, trainer, config } = setUp({ epochs: 2 });
    const { batch, report } = await trainer.runStep();
    expect(batch.prompts).toHaveLength(8);
    expect(batch.config).toEqual(config);
    expect(batch.completions.map((c) => c.group)).toEqual(Array.from({ length: 64 }, (_, r) => Math.floor(r / 8)));
    for (const c of batch.completions) {
      expect(c.minibatch).toBeGreaterThan(4);
      expect(c.minibatch).toBeLessThanOrEqual(8);
      expect([c.oldLogp.length, c.newLogp.length, c.entropy.length, c.segments.length]).toEqual(Array<number>(4).fill(c.tokens.length));
      expect(c.reward).toBe(c.tokens.join('') === '1,;' ? 1 : 0);
      // A subsentence ends after a comma; the end token joins the last one.
      if (c.reward === 1) expect([...c.segments]).toEqual([0, 0, 0]);
      if (c.tokens.join('').startsWith('1,,')) expect([...c.segments.slice(0, 3)]).toEqual([0, 0, 1]);
    }
    // Posting a batch clones the buffers under its views: they must hold nothing else.
    const tokenCount = batch.completions.reduce((n, c) => n + c.tokens.length, 0);
    for (const field of ['oldLogp', 'newLogp', 'entropy'] as const) {
      const buffers = new Set(batch.completions.map((c) => c[field].buffer));
      expect([buffers.size, [...buffers][0].byteLength], field).toEqual([1, 4 * tokenCount]);
    }
    // The tokens that the last update saw are among those of its completions, with the same log-probs.
    const last = batch.completions.filter((c) => c.minibatch === 8);
    expect(last).toHaveLength(16);
    const tokens = last.reduce((n, c) => n + c.tokens.length, 0);
    expect(tokens).toBe(report.updates[7].metrics.tokens);
    const k1 = last.reduce((s, c) => s - c.newLogp.reduce((t, x, i) => t + x - c.oldLogp[i], 0), 0) / tokens;
    expect(report.updates[7].metrics.k1).toBeCloseTo(k1, 9);
    expect(engine.updates[7].batch.rows).toBe(16);
  });

  it('gives a group advantage of (R - mean) / (population sd + 1e-4), and exactly 0 to a group without spread', async () => {
    const { trainer } = setUp({ prompts: 32 });
    const { batch, report } = await trainer.runStep();
    let dead = 0;
    for (let g = 0; g < 32; g++) {
      const group = batch.completions.slice(g * 8, g * 8 + 8);
      const mean = group.reduce((s, c) => s + c.reward, 0) / 8;
      const sd = Math.sqrt(group.reduce((s, c) => s + (c.reward - mean) ** 2, 0) / 8);
      if (sd === 0) dead++;
      for (const c of group) {
        if (sd === 0) expect(c.advantage).toBe(0);
        else expect(c.advantage).toBeCloseTo((c.reward - mean) / (sd + 1e-4), 9);
      }
    }
    expect(dead).toBeGreaterThan(0);
    expect(report.deadGroups).toBe(dead / 32);
  });

  it('counts what it sampled', async () => {
    const { trainer } = setUp({}, 'grpo', { ...noReference, now: (() => { let t = 0; return () => (t += 10); })() });
    const { report, batch } = await trainer.runStep();
    const lengths = batch.completions.map((c) => c.tokens.length);
    expect(report.meanLength).toBeCloseTo(lengths.reduce((a, b) => a + b, 0) / 64, 12);
    expect(report.formatRate).toBe(batch.completions.filter((c) => c.tokens.at(-1) === ';').length / 64);
    expect(report.truncatedFraction).toBe(1 - report.formatRate);
    expect(report.tokensPerSecond).toBeCloseTo((1000 * report.meanLength * 64) / report.ms.rollout, 6);
    expect(report.ms.total).toBeGreaterThanOrEqual(report.ms.rollout + report.ms.verify + report.ms.update);
  });
});

describe('learning', () => {
  it.each(OBJECTIVES.map((o) => o.id))('%s earns more reward, greedy too', async (objective) => {
    const { engine, trainer } = setUp({ objective, ...(['sppo', 'ppo'].includes(objective) && { groupSize: 1, prompts: 64 }), ...(objective === 'sppo' && { dualClip: 3 }) });
    const before = await trainer.evaluate();
    const results = await run(trainer, 25);
    expect(meanReward(results.slice(0, 1))).toBeLessThan(0.5);
    expect(meanReward(results.slice(20))).toBeGreaterThan(0.85);
    expect(before.report).toEqual({ step: 0, prompts: 128, greedy: 0 });
    const after = await trainer.evaluate();
    expect(after.report).toEqual({ step: 25, prompts: 128, greedy: 1 });
    expect(after.answers).toEqual(fakeTask.showcase.map((prompt) => ({ step: 25, prompt, response: '1,;', correct: true, expected: '1' })));
    expect(engine.requests.filter((r) => r.greedy).every((r) => r.precision === 'f32' && r.lag === 0)).toBe(true);
  });

  it('does not learn from shuffled rewards', async () => {
    const honest = meanReward((await run(setUp().trainer, 20)).slice(15));
    const { trainer } = setUp({ shuffleRewards: true });
    const results = await run(trainer, 20);
    expect(honest).toBeGreaterThan(0.8);
    expect(meanReward(results.slice(15))).toBeLessThan(0.5);
  });

  it('gives the same run for the same seed and another for another', async () => {
    const trace = async (seed: number): Promise<number[]> =>
      (await run(setUp({ seed }, 'squeeze').trainer, 3)).flatMap(({ report }) => report.updates.map((u) => u.gradNorm));
    const first = await trace(1);
    expect(await trace(1)).toEqual(first);
    expect(await trace(2)).not.toEqual(first);
  });
});

describe('the off-policy dials', () => {
  it('show a rounded sampler at the first update and leave the self-check open', async () => {
    const { report } = await setUp({ samplerPrecision: 'e5m2' }).trainer.runStep();
    expect(report.updates[0].metrics.maxAbsLogRatio).toBeGreaterThan(1e-3);
    expect(report.selfCheck.ok).toBeNull();
  });

  it('take old log-probs from the trainer, which closes the gap', async () => {
    const { engine, trainer } = setUp({ samplerPrecision: 'e5m2', oldLogpSource: 'trainer' });
    const { report } = await trainer.runStep();
    expect(engine.calls.slice(0, 7)).toEqual(['setTokenLoss grpo', 'rollout', 'score', 'score', 'score', 'score', 'update']);
    expect(report.selfCheck).toEqual({ maxAbsLogRatio: 0, ok: true });
  });

  it('ask the sampler for parameters of earlier iterations', async () => {
    const { engine, trainer } = setUp({ samplerLag: 2 });
    const results = await run(trainer, 3);
    expect(engine.requests.map((r) => r.lag)).toEqual([2, 2, 2]);
    expect(results[0].report.updates[0].metrics.maxAbsLogRatio).toBe(0);
    expect(results[2].report.updates[0].metrics.maxAbsLogRatio).toBeGreaterThan(1e-2);
    expect(results[2].report.selfCheck.ok).toBeNull();
  });

  it('report a broken self-check when sampler and trainer disagree for no stated reason', async () => {
    const { engine, trainer } = setUp();
    const rollout = engine.rollout.bind(engine);
    engine.rollout = async (request) => {
      const result = await rollout(request);
      result.logp.forEach((x, i) => (result.logp[i] = x - 0.001));
      return result;
    };
    const { report } = await trainer.runStep();
    expect(report.selfCheck.ok).toBe(false);
    expect(report.selfCheck.maxAbsLogRatio).toBeCloseTo(0.001, 5);
  });
});

describe('SPPO', () => {
  it('subtracts V(prompt) as it was before the batch taught it', async () => {
    const { trainer } = setUp({ normalizeAdvantage: false, prompts: 64 }, 'sppo');
    const [first, second] = await run(trainer, 2);
    expect(first.report.deadGroups).toBeNull();
    expect(first.report.critic?.meanValue).toBe(0.5);
    expect(first.report.critic?.correlation).toBeNull();
    expect(first.report.critic?.loss).toBeGreaterThan(0);
    for (const c of first.batch.completions) expect([c.value, c.advantage]).toEqual([0.5, c.reward - 0.5]);
    for (const c of second.batch.completions) expect(c.advantage).toBeCloseTo(c.reward - (c.value ?? NaN), 12);
    expect(new Set(second.batch.completions.map((c) => c.value)).size).toBeGreaterThan(1);
  });

  it('divides by the spread over the batch when told to', async () => {
    const { trainer } = setUp({ prompts: 64 }, 'sppo');
    const { batch } = await trainer.runStep();
    const raw = batch.completions.map((c) => c.reward - 0.5);
    const mean = raw.reduce((a, b) => a + b, 0) / 64;
    const sd = Math.sqrt(raw.reduce((s, a) => s + (a - mean) ** 2, 0) / 64);
    batch.completions.forEach((c, i) => expect(c.advantage).toBeCloseTo(raw[i] / Math.max(sd, 0.1), 12));
  });

  it.each(['batchMean', 'zero'] as const)('needs no critic with baseline %s', async (baseline) => {
    const { trainer } = setUp({ baseline, normalizeAdvantage: false, prompts: 64 }, 'sppo');
    const { batch, report } = await trainer.runStep();
    expect(report.critic).toBeNull();
    const base = baseline === 'zero' ? 0 : report.reward;
    for (const c of batch.completions) expect([c.value, c.advantage]).toEqual([null, expect.closeTo(c.reward - base, 12)]);
  });
});

describe('the reference policy', () => {
  const reference = (logp: number): ReferencePolicy & { calls: number } => ({
    calls: 0,
    description: 'fake',
    logp(batch) {
      this.calls++;
      return Promise.resolve(new Float32Array(batch.positions).fill(logp));
    },
    destroy: () => Promise.resolve(),
  });

  it('is loaded only when beta rises above 0, and then once', async () => {
    const ref = reference(-1);
    let loads = 0;
    const { engine, trainer } = setUp({}, 'grpo', { loadReference: () => { loads++; return Promise.resolve(ref); } });
    const plain = await trainer.runStep();
    expect([loads, plain.report.updates[0].metrics.refK3, plain.batch.completions[0].refLogp]).toEqual([0, null, null]);
    trainer.configure({ beta: 0.04 });
    const [kl] = await run(trainer, 2);
    expect([loads, ref.calls]).toEqual([1, 8]);
    expect(kl.report.updates[0].metrics.refK3).toBeGreaterThan(0);
    expect(kl.batch.completions[0].refLogp?.every((x) => x === -1)).toBe(true);
    expect(engine.updates[4].options.hyper.beta).toBe(0.04);
    expect(engine.updates[4].inputs.refLogp[1]).toBe(-1);
  });

  it('fails with a message that says what to do', async () => {
    const { trainer } = setUp({ beta: 0.1 }, 'grpo', { loadReference: () => Promise.reject(new Error('no wasm')) });
    await expect(trainer.runStep()).rejects.toThrow(ReferencePolicyError);
    await expect(trainer.runStep()).rejects.toThrow(/no wasm/);
    trainer.configure({ beta: 0 });
    expect((await trainer.runStep()).report.step).toBe(1);
  });
});

describe('configure', () => {
  it('takes live changes from the next iteration on and names them', async () => {
    const { engine, trainer } = setUp();
    await trainer.runStep();
    expect(trainer.configure({ epochs: 2, learningRate: 0.01, seed: 1 })).toEqual({
      changes: [{ field: 'epochs', from: '1', to: '2' }, { field: 'learningRate', from: '0.05', to: '0.01' }], problems: [],
    });
    const { report } = await trainer.runStep();
    expect(report.updates).toHaveLength(8);
    expect(engine.updates.at(-1)?.options.learningRate).toBe(0.01);
  });

  it('refuses what needs a reset', () => {
    const { trainer, config } = setUp();
    const { changes, problems } = trainer.configure({ seed: 2, model: 'main', task: 'chainSum' });
    expect([changes, problems.map((p) => p.field).sort()]).toEqual([[], ['model', 'seed', 'task']]);
    expect(trainer.config).toEqual(config);
  });

  it('clamps to what the engine takes', () => {
    const engine = new FakeEngine({ initial: habit, limits: { rolloutRows: 64, updateRows: 16 } });
    const trainer = new Trainer(engine, fakeTask, { ...presetConfig('grpo', 'small'), prompts: 8 }, noReference);
    const { problems } = trainer.configure({ prompts: 16, minibatches: 1 });
    expect(trainer.config).toMatchObject({ prompts: 8, minibatches: 4 });
    expect(problems.map((p) => p.field)).toEqual(['prompts', 'minibatches']);
  });

  it('switches the objective, SPPO and back, keeping the number of answers', async () => {
    const { engine, trainer, config } = setUp();
    await trainer.runStep();
    trainer.configure({ objective: 'sppo' });
    expect(trainer.config).toMatchObject({ prompts: 64, groupSize: 1, dualClip: 3 });
    const { report } = await trainer.runStep();
    expect([report.objective, report.deadGroups]).toEqual(['sppo', null]);
    trainer.configure({ objective: 'gspo' });
    expect(trainer.config).toEqual({ ...config, objective: 'gspo' });
    await trainer.runStep();
    expect(engine.calls.filter((c) => c.startsWith('setTokenLoss'))).toEqual(['setTokenLoss grpo', 'setTokenLoss sppo', 'setTokenLoss gspo']);
  });

  it('switches to a mixture of it and on, with the widths of the level that is clipped', async () => {
    const { engine, trainer, config } = setUp();
    trainer.configure({ objective: 'grpo@token/sequence' });
    const { report, batch } = await trainer.runStep();
    expect([report.objective, batch.objective, trainer.config.objective]).toEqual(Array(3).fill('grpo@token/sequence'));
    expect(engine.updates[0].options.hyper).toMatchObject({ clipLow: config.clipLowSequence, clipHigh: config.clipHighSequence });
    trainer.configure({ objective: 'sppo@segment' });
    expect(trainer.config).toMatchObject({ prompts: 64, groupSize: 1, dualClip: 3 });
    trainer.configure({ objective: 'grpo@segment/segment' });
    expect(trainer.config).toEqual({ ...config, objective: 'grpo@segment' });
    await trainer.runStep();
    expect(engine.calls.filter((c) => c.startsWith('setTokenLoss'))).toEqual(['setTokenLoss grpo@token/sequence', 'setTokenLoss grpo@segment']);
  });

  it('does not reach into an iteration that is running', async () => {
    const { trainer } = setUp();
    const running = trainer.runStep();
    trainer.configure({ epochs: 4 });
    expect((await running).report.updates).toHaveLength(4);
    expect((await trainer.runStep()).report.updates).toHaveLength(16);
  });
});

describe('numbers that are not finite', () => {
  it.each([['newLogp', /log-prob/], ['gradNorm', /gradient norm/]] as const)('stop the run: %s', async (field, message) => {
    const { engine, trainer } = setUp();
    await trainer.runStep();
    engine.poison = { inUpdates: 2, field };
    const failed = trainer.runStep();
    await expect(failed).rejects.toThrow(NotFiniteError);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toThrow(/iteration 2, update 3/);
    await expect(trainer.runStep()).rejects.toThrow(NotFiniteError);
    expect(trainer.step).toBe(1);
  });
});

describe('evaluation', () => {
  it('asks the same held-out prompts whatever the seed, in chunks that the engine takes', async () => {
    const engine = new FakeEngine({ initial: habit, limits: { rolloutRows: 10 } });
    expect(heldOutPrompts(fakeTask, 25)).toEqual(heldOutPrompts(fakeTask, 30).slice(0, 25));
    expect(heldOutPrompts(fakeTask, 25).every((p) => Number(p[0]) % 2 === 1)).toBe(true);
    const seen: number[] = [];
    const result = await evaluateHeldOut(engine, fakeTask, { prompts: 25, greedy: false, seed: 3, onProgress: (d) => seen.push(d) });
    expect(seen).toEqual([0.4, 0.8, 1]);
    expect(engine.requests.map((r) => r.rows)).toEqual([10, 10, 5]);
    expect(new Set(engine.requests.map((r) => r.iteration)).size).toBe(3);
    expect(result.prompts).toBe(25);
    expect(result.accuracy).toBeGreaterThan(0);
    expect(result.accuracy).toBeLessThan(1);
  });
});
