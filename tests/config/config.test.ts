import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configToHash, hashToConfig } from '../../src/config/codec';
import { defaultConfig, describeChange, FIELD_NAMES, fieldOf } from '../../src/config/fields';
import type { FieldName } from '../../src/config/fields';
import { objectivePatch, presetConfig, PRESETS } from '../../src/config/presets';
import { answersOf, bandsOf, hyperparametersOf } from '../../src/config/hyper';
import { OWN_FIELDS } from '../../src/config/ownFields';
import type { RunConfig } from '../../src/config/runConfig';
import { MAX_ROWS, validateConfig } from '../../src/config/validate';
import { MODEL_CONFIGS } from '../../src/model/config';
import type { ModelId } from '../../src/model/config';
import { getObjective, OBJECTIVES } from '../../src/objectives';
import { TASKS } from '../../src/tasks';

const MODELS = Object.keys(MODEL_CONFIGS) as ModelId[];

/** An objective as a person types it. */
const TYPED = 'param eps = 0.2 in 0..1;\nparam beta = 0 in 0..0.5;\n-clip(ratio, 1 - eps, 1 + eps) * adv + beta * k3(refLogp - logp)';

/** Any value of the right kind for each setting, valid or not by the cross rules. */
const anyValue = (name: FieldName): fc.Arbitrary<RunConfig[FieldName]> => {
  const field = fieldOf(name);
  if (field.kind === 'bool') return fc.boolean();
  if (field.kind === 'text') return name === 'customObjective' ? fc.constantFrom('', TYPED, 'exp(') : fc.constantFrom('', 'eps=0.3', 'eps=9,zeta=1', '=,x');
  if (name === 'objective') return fc.constantFrom('custom', ...OBJECTIVES.map((o) => o.id));
  if (field.kind === 'choice') return fc.constantFrom(...field.choices.map((c) => c.value));
  if (field.kind === 'int') return fc.integer({ min: field.min, max: field.max });
  return fc.double({ min: field.min, max: field.max, noNaN: true, noDefaultInfinity: true }).map((v) => (v === 0 ? 0 : v));
};
const anyPatch = fc.record(Object.fromEntries(FIELD_NAMES.map((name) => [name, anyValue(name)])), { requiredKeys: [] });

describe('fields', () => {
  it('has defaults that pass its own rules', () => {
    expect(validateConfig({})).toEqual({ config: defaultConfig(), problems: [] });
    expect(defaultConfig().task).toBe(TASKS[0]?.id);
  });

  it('gives every number bounds that hold its default, and a positive step', () => {
    for (const name of FIELD_NAMES) {
      const field = fieldOf(name);
      expect(field.help.length, name).toBeGreaterThan(20);
      if (field.kind === 'choice') expect(field.choices.map((c) => c.value), name).toContain(field.default);
      if (field.kind !== 'int' && field.kind !== 'number') continue;
      expect(field.default, name).toBeGreaterThanOrEqual(field.min);
      expect(field.default, name).toBeLessThanOrEqual(field.max);
      expect(field.step, name).toBeGreaterThan(0);
    }
  });

  it('describes a change in a few words', () => {
    expect(describeChange('epochs', 1, 4)).toBe('epochs 1 → 4');
    expect(describeChange('baseline', 'value', 'zero')).toBe('baseline value → zero');
    expect(describeChange('shuffleRewards', false, true)).toBe('shuffle rewards (control) off → on');
  });
});

describe('validateConfig', () => {
  it('clamps numbers and says so', () => {
    const { config, problems } = validateConfig({ epochs: 99, learningRate: -1, prompts: 2.4 });
    expect(config).toMatchObject({ epochs: 8, learningRate: 0, prompts: 2 });
    expect(problems.map((p) => p.field)).toEqual(['epochs', 'learningRate', 'prompts']);
  });

  it.each([
    ['epochs', 'many'], ['epochs', ''], ['epochs', NaN], ['epochs', Infinity], ['epochs', null], ['epochs', [4]],
    ['objective', 'ppo2'], ['objective', 3], ['shuffleRewards', 'maybe'], ['preset', '__proto__'],
  ])('refuses %s = %j and keeps the base value', (name, value) => {
    const { config, problems } = validateConfig({ [name]: value });
    expect(config).toEqual(defaultConfig());
    expect(problems).toHaveLength(1);
    expect(problems[0]?.field).toBe(name);
  });

  it('reports unknown names, inherited ones too', () => {
    const { config, problems } = validateConfig({ epoch: 2, toString: 1, constructor: 1 });
    expect(config).toEqual(defaultConfig());
    expect(problems.map((p) => p.field)).toEqual(['epoch', 'toString', 'constructor']);
  });

  it('makes minibatches divide the rows', () => {
    expect(validateConfig({ prompts: 5, groupSize: 2, minibatches: 4 }).config.minibatches).toBe(2);
    expect(validateConfig({ prompts: 7, groupSize: 3, minibatches: 16 }).config.minibatches).toBe(7);
  });

  it('takes a dual clip of 0 or above 1 only', () => {
    expect(validateConfig({ dualClip: 0.5 }).config.dualClip).toBe(0);
    expect(validateConfig({ dualClip: 1 }).config.dualClip).toBe(0);
    expect(validateConfig({ dualClip: 1.5 }).config.dualClip).toBe(1.5);
  });

  it('keeps within the rows and updates that an engine takes', () => {
    const limits = { rolloutRows: 64, updateRows: 8, updatesPerIteration: 20 };
    const { config, problems } = validateConfig({ prompts: 16, groupSize: 8, minibatches: 4, epochs: 4 }, defaultConfig(), limits);
    expect(config).toMatchObject({ prompts: 8, groupSize: 8, minibatches: 8, epochs: 2 });
    expect(problems.map((p) => p.field)).toEqual(['prompts', 'minibatches', 'epochs']);
  });

  it('gives SPPO one answer per prompt and the others at least two; a change of objective keeps the rows', () => {
    expect(validateConfig({ objective: 'sppo' }).config).toMatchObject({ prompts: 128, groupSize: 1 });
    expect(validateConfig({ objective: 'grpo' }, presetConfig('sppo', 'main')).config).toMatchObject({ prompts: 16, groupSize: 8 });
    expect(validateConfig({ groupSize: 4 }, presetConfig('sppo', 'small')).config).toMatchObject({ prompts: 64, groupSize: 1 });
    expect(validateConfig({ groupSize: 1 }, presetConfig('grpo', 'small')).config).toMatchObject({ prompts: 16, groupSize: 2 });
  });

  it('always ends in a configuration that it accepts unchanged', () => {
    fc.assert(fc.property(anyPatch, (patch) => {
      const { config } = validateConfig(patch);
      expect(validateConfig(config)).toEqual({ config, problems: [] });
      const rows = config.prompts * config.groupSize;
      expect(rows <= MAX_ROWS && rows % config.minibatches === 0).toBe(true);
    }), { numRuns: 1000, seed: 7 });
  });

  it('never throws, whatever it is given', () => {
    fc.assert(fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...FIELD_NAMES), fc.string()), fc.anything()), (given) => {
      const { config } = validateConfig(given);
      expect(validateConfig(config).problems).toEqual([]);
    }), { numRuns: 1000, seed: 7 });
  });
});

describe('settings made from the definitions', () => {
  it('stand for every hyperparameter that has no shared setting, with the definition’s bounds', () => {
    expect(Object.keys(OWN_FIELDS)).toEqual(expect.arrayContaining(['cispo.floor', 'cispo.cap', 'sapo.tauPos', 'sapo.tauNeg']));
    expect(Object.keys(OWN_FIELDS).filter((name) => /\.(clipLow|clipHigh|dualClip|beta|entropyScale\w+)$/.test(name))).toEqual([]);
    expect(defaultConfig()['cispo.cap']).toBe(5);
    expect(validateConfig({ 'cispo.cap': 1e6 }).problems[0]?.field).toBe('cispo.cap');
    for (const { id, hyperparameters } of OBJECTIVES) {
      const hyper = hyperparametersOf({ ...defaultConfig(), objective: id });
      expect(Object.keys(hyper), id).toEqual(hyperparameters.map((h) => h.name));
    }
    expect(hyperparametersOf({ ...defaultConfig(), objective: 'cispo', 'cispo.cap': 1.28 })).toMatchObject({ floor: 0, cap: 1.28 });
  });

  it('reach the charts as a band of ratios', () => {
    expect(bandsOf(presetConfig('grpo', 'main')).token).toEqual({ low: 0.2, high: 0.2 });
    expect(bandsOf(presetConfig('gmpo-paper', 'main')).token.high).toBeCloseTo(Math.exp(0.4) - 1, 12);
    expect(bandsOf(presetConfig('cispo', 'main'))).toMatchObject({ token: { low: 1, high: 4 }, sequence: { low: 0.01, high: 0.01 } });
    expect(bandsOf(presetConfig('sapo', 'main')).token).toEqual({ low: 0.2, high: 0.2 });
  });

  it('take the KL out of the loss when it is in the reward', () => {
    expect(hyperparametersOf({ ...defaultConfig(), beta: 0.1 })['beta']).toBe(0.1);
    expect(hyperparametersOf({ ...defaultConfig(), beta: 0.1, klPlacement: 'reward' })['beta']).toBe(0);
  });

  it('let whoever acts last decide between a mismatch correction and the sampler’s old log-probs', () => {
    const on = validateConfig({ mismatchCorrection: 'token-mask' });
    expect([on.config.oldLogpSource, on.problems.map((p) => p.field)]).toEqual(['trainer', ['oldLogpSource']]);
    const off = validateConfig({ oldLogpSource: 'sampler' }, on.config);
    expect([off.config.mismatchCorrection, off.problems.map((p) => p.field)]).toEqual(['none', ['mismatchCorrection']]);
  });

  it('ask for several answers when the chosen advantage compares them', () => {
    expect(validateConfig({ advantage: 'leaveOneOut' }, presetConfig('rft', 'small')).config).toMatchObject({ groupSize: 8, prompts: 8 });
    expect(validateConfig({ advantage: 'sequenceLevel' }).config).toMatchObject({ groupSize: 8, prompts: 16 });
    expect(answersOf(presetConfig('rloo', 'small'))).toBe('several');
  });
});

describe('presets', () => {
  it.each(PRESETS.flatMap((p) => MODELS.map((m) => [p.id, m] as const)))('%s on %s passes the rules as it stands', (id, model) => {
    const config = presetConfig(id, model);
    expect(validateConfig(config)).toEqual({ config, problems: [] });
    // One aggregation for all, so that they compare, but for objectives whose aggregation is part of what they are.
    const own = PRESETS.find((p) => p.id === id)?.patch.lossAggMode;
    expect(config.lossAggMode).toBe(own ?? 'seq-mean-token-mean');
    if (own) expect(own).toBe(getObjective(config.objective).lossAggMode);
    expect(config.learningRate).toBe(model === 'main' ? 3e-4 : 4e-4);
    expect(config.preset).toBe(id);
  });

  it('holds the settings of experiments.md section 5', () => {
    const clip = (id: string) => {
      const c = presetConfig(id, 'main');
      return [c.clipLowToken, c.clipHighToken, c.clipLowSegment, c.clipHighSegment, c.clipLowSequence, c.clipHighSequence];
    };
    expect(clip('grpo')).toEqual([0.2, 0.2, 0.05, 0.05, 0.01, 0.01]);
    expect(clip('gspo')).toEqual(clip('grpo'));
    expect(clip('gspo-paper').slice(4)).toEqual([3e-4, 4e-4]);
    expect(clip('gspo-borrowed').slice(4)).toEqual([0.2, 0.2]);
    expect(clip('sspo-wide').slice(2, 4)).toEqual([0.2, 0.2]);
    expect(presetConfig('sppo', 'main')).toMatchObject({ prompts: 128, groupSize: 1, dualClip: 3, baseline: 'value' });
    expect(presetConfig('sppo', 'small')).toMatchObject({ prompts: 64, groupSize: 1 });
    expect(presetConfig('sppo-quarter', 'small')).toMatchObject({ prompts: 32, groupSize: 1 });
    expect(presetConfig('rft', 'main')).toMatchObject({ objective: 'rft', groupSize: 1, prompts: 128 });
    expect(presetConfig('squeeze', 'main').epochs).toBe(4);
    expect(presetConfig('fp8', 'main')).toMatchObject({ samplerPrecision: 'e5m2', oldLogpSource: 'sampler' });
    expect(presetConfig('stale', 'main').samplerLag).toBe(4);
  });

  it('switches the objective and back without touching anything else', () => {
    for (const { id } of PRESETS) {
      for (const model of MODELS) {
        const start = presetConfig(id, model);
        const rows = start.prompts * start.groupSize;
        for (const to of OBJECTIVES.map((o) => o.id)) {
          const there = { ...start, ...objectivePatch(start, to) };
          expect(validateConfig(there), `${id} to ${to}`).toEqual({ config: there, problems: [] });
          expect(there.prompts * there.groupSize).toBe(rows);
          const single = answersOf(there) === 'one' || (['rft', 'ppo'].includes(to) && there.advantage === 'own');
          expect(there.groupSize, `${id} to ${to}`).toBe(single ? 1 : 8);
          const back = { ...there, ...objectivePatch(there, start.objective) };
          expect(back).toEqual(start);
        }
      }
    }
  });
});

describe('the URL hash', () => {
  it('is short and readable', () => {
    expect(configToHash(presetConfig('grpo', 'small'))).toBe('preset=grpo&model=small&seed=1');
    expect(configToHash({ ...presetConfig('grpo', 'small'), epochs: 4 })).toBe('preset=grpo&model=small&seed=1&epochs=4');
    const grpo = presetConfig('grpo', 'small');
    expect(configToHash({ ...grpo, ...objectivePatch(grpo, 'sppo') })).toBe('preset=grpo&model=small&seed=1&objective=sppo');
  });

  it('comes back as the same configuration, for every preset and any valid change', () => {
    fc.assert(fc.property(fc.constantFrom(...PRESETS.map((p) => p.id)), fc.constantFrom(...MODELS), anyPatch, (preset, model, patch) => {
      const { config } = validateConfig({ ...patch, preset, model }, presetConfig(preset, model));
      expect(hashToConfig(configToHash(config), 'main')).toEqual({ config, problems: [], modelGiven: true });
    }), { numRuns: 1000, seed: 11 });
  });

  it('leaves the model to the adapter when it names none', () => {
    expect(hashToConfig('', 'main')).toEqual({ config: presetConfig('grpo', 'main'), problems: [], modelGiven: false });
    expect(hashToConfig('#preset=squeeze', 'small')).toEqual({ config: presetConfig('squeeze', 'small'), problems: [], modelGiven: false });
  });

  it('clamps, refuses and reports bad values', () => {
    const { config, problems } = hashToConfig('#preset=nope&model=huge&epochs=400&seed=-1&objective=gspo&colour=red&beta&%E0%A4%A=1&epochs=2', 'small');
    expect(config).toEqual({ ...presetConfig('grpo', 'small'), objective: 'gspo', epochs: 2, seed: 0 });
    expect(problems.map((p) => p.field)).toEqual(['beta', 'epochs', 'preset', 'model', 'seed', 'colour', '%E0%A4%A']);
  });

  it('survives any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(validateConfig(hashToConfig(text, 'small').config).problems).toEqual([]);
    }), { numRuns: 1000, seed: 3 });
  });
});
