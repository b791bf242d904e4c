import { describe, expect, it } from 'vitest';
import { parseArgs } from '../../cli/args';
import { countFrom, runConfigFrom, settableNames } from '../../cli/runOptions';
import { drawdown, sampleSd, stepsTo, summarise } from '../../cli/summary';
import { configOf } from '../../cli/table';
import { CONDITIONS } from '../../cli/tableConditions';
import { measuredTable, share } from '../../cli/tableText';
import { run } from '../../cli/train';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { validateConfig } from '../../src/config/validate';
import { registerCustom } from '../../src/objectives/custom';
import { Trainer } from '../../src/trainer/trainer';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';

const config = (line: string): RunConfig =>
  runConfigFrom(parseArgs(line.split(' ').filter(Boolean), { known: ['objective', 'preset', 'model', 'task', 'seed', 'steps', 'set'] }));

describe('the configuration of a run on the command line', () => {
  it('is the preset named like the objective unless told', () => {
    expect(config('')).toEqual(presetConfig('grpo', 'small'));
    expect(config('--objective gspo --model main')).toEqual(presetConfig('gspo', 'main'));
    expect(config('--objective sspo --preset fp8-wide --seed 3 --steps 7')).toEqual({ ...presetConfig('fp8-wide', 'small'), objective: 'sspo', seed: 3, totalSteps: 7 });
    expect(config('--objective sppo --preset squeeze')).toMatchObject({ objective: 'sppo', groupSize: 1, prompts: 128, dualClip: 3, epochs: 4 });
    expect(config('--task chainSum').task).toBe('chainSum');
  });

  it('takes --set by the names of the settings, and clipLow at the objective’s own level', () => {
    expect(config('--objective gspo --set clipLow=0.3 --set clipHigh=0.4 --set epochs=2')).toEqual({
      ...presetConfig('gspo', 'small'), clipLowSequence: 0.3, clipHighSequence: 0.4, epochs: 2,
    });
    expect(config('--set shuffleRewards=true').shuffleRewards).toBe(true);
    expect(settableNames()).toContain('samplerPrecision');
  });

  it('takes the levels of a mixture, and then clipLow at the level that it clips', () => {
    expect(config('--objective sppo --set ratioLevel=sequence --set clipLevel=segment --set clipLow=0.07')).toEqual({
      ...presetConfig('sppo', 'small'), objective: 'sppo@sequence/segment', clipLowSegment: 0.07,
    });
    expect(config('--objective grpo@sequence').objective).toBe('grpo@sequence');
    expect(config('--preset sppo-segment')).toMatchObject({ objective: 'sppo@segment', groupSize: 1 });
    expect(settableNames()).toContain('clipLevel');
  });

  it.each([
    ['--objective cispo --set ratioLevel=token', /levels of CISPO cannot be set/], ['--set clipLevel=word', /“word” is no level/], ['--objective grpo@word', /no objective "grpo@word"/],
    ['--objective ppo9', /no objective "ppo9"/], ['--preset nope', /no preset "nope"/], ['--model huge', /no model "huge"/], ['--task nope', /no task "nope"/],
    ['--set colour=red', /colour: there is no such setting/], ['--set epochs=99', /99.* lies outside 1 to 8/], ['--set epochs=two', /not a number/],
    ['--set minibatches=3', /must divide the 128 answers/], ['--seed -1', /lies outside/], ['--set objective=gspo', /no such setting/],
  ])('refuses %s', (line, message) => {
    expect(() => config(line)).toThrow(message);
  });

  it('takes an objective from a file, its parameters by --set, and says what is wrong with either', () => {
    const typed = registerCustom('title "Mine"\nlevel sequence\naggregation token-mean\nparam clipHigh = 0.03 in 0..1;\nparam tau = 2 in 0.5..4;\n-min(seqRatio * adv, clip(seqRatio, 0, 1 + clipHigh) * adv) * tau');
    const of = (line: string[]) => runConfigFrom(parseArgs(line, { known: ['objective', 'preset', 'set', 'steps'] }), typed);
    const mine = of(['--set', 'tau=3', '--set', 'clipHigh=0.02', '--steps', '7']);
    expect(mine).toMatchObject({ objective: typed.objective.id, customObjective: typed.text, customParameters: 'tau=3', clipHighSequence: 0.02, lossAggMode: 'token-mean', totalSteps: 7, groupSize: 8 });
    expect(of([]).clipHighSequence).toBe(0.03);
    expect(() => of(['--set', 'tau=9'])).toThrow(/tau=9: it must lie between 0.5 and 4/);
    expect(() => of(['--set', 'kappa=1'])).toThrow(/no such setting/);
    expect(() => of(['--objective', 'grpo'])).toThrow(/both given/);
  });

  it('counts only whole numbers', () => {
    expect([countFrom('n', undefined, 5, 1), countFrom('n', '12', 5, 1)]).toEqual([5, 12]);
    for (const bad of ['0', '1.5', 'x', '', '1e9']) expect(() => countFrom('n', bad, 5, 1)).toThrow(/--n/);
  });

  it('explains itself without a GPU', async () => {
    expect(await run(['--help'])).toBe(0);
    await expect(run(['--steps', '0', '--models', '/nowhere'])).rejects.toThrow(/lies outside/);
    await expect(run(['--out', '/nowhere/at/all.jsonl'])).rejects.toThrow(/cannot be written/);
  });
});

describe('the summary', () => {
  it('finds the first five-step mean that reaches a goal, and the largest fall', () => {
    const rewards = [0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 0, 0, 1];
    expect(stepsTo(rewards, 0.5)).toBe(5);
    expect(stepsTo(rewards, 0.9)).toBe(9);
    expect(stepsTo(rewards, 1.1)).toBeNull();
    expect(drawdown(rewards)).toBeCloseTo(0.4, 12);
    expect(stepsTo([1, 1], 0.5)).toBeNull();
    expect(sampleSd([1, 2, 3, 4])).toBeCloseTo(Math.sqrt(5 / 3), 12);
  });

  it('averages over all minibatches of a run', async () => {
    const settings = { ...presetConfig('squeeze', 'small'), prompts: 8, learningRate: 0.05 };
    const trainer = new Trainer(new FakeEngine({ initial: habit }), fakeTask, settings, { loadReference: () => Promise.reject(new Error('none')) });
    const reports = [(await trainer.runStep()).report, (await trainer.runStep()).report];
    const judged = { prompts: 4, accuracy: 0.5, formatRate: 1, meanLength: 3 };
    const s = summarise(settings, 'none', { reports, sampled: judged, greedy: { ...judged, accuracy: 1 }, seconds: 4 });
    const updates = reports.flatMap((r) => r.updates);
    expect(updates).toHaveLength(32);
    expect(s.clippedLiveTokens).toBeCloseTo(updates.reduce((a, u) => a + u.metrics.clippedLiveTokens, 0) / 32, 12);
    expect(s.clippedLiveTokens).toBeGreaterThan(0);
    // GRPO clips tokens, so its own share is the token level's.
    expect(s.binding.token.liveTokens).toBeCloseTo(s.clippedLiveTokens, 12);
    expect(s).toMatchObject({ steps: 2, stepsPerSecond: 0.5, evalSampled: 0.5, evalGreedy: 1, rewardFirst: reports[0].reward, selfCheckOk: true, stepsTo85: null });
    expect(s.tokens).toBeCloseTo((reports[0].meanLength + reports[1].meanLength) * 64, 9);

    const text = measuredTable([{ model: 'small', condition: CONDITIONS[0], runs: [s, s] }, { model: 'main', condition: CONDITIONS[0], runs: [] }]);
    expect(text).toContain('| GRPO .2 | 2 | 60 |');
    expect(text).toContain('| .91 ± .03 |');
    expect(text).not.toContain('## Model main');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('prints shares as the study does', () => {
    expect([0, 1, 0.925, 0.0026, 0.00006, 0.41, 3e-7].map(share)).toEqual(['0', '1.000', '.925', '.0026', '.000060', '.410', '3e-7']);
  });
});

describe('the conditions of the table', () => {
  it.each(CONDITIONS.flatMap((c) => (['main', 'small'] as const).map((m) => [c.id, m, c] as const)))('%s on %s is a valid run', (_id, model, condition) => {
    const run = configOf(condition, model, 2);
    expect(validateConfig(run)).toEqual({ config: run, problems: [] });
    expect(run.seed).toBe(2);
  });

  it('have names of their own', () => {
    expect(new Set(CONDITIONS.map((c) => c.id)).size).toBe(CONDITIONS.length);
  });
});
