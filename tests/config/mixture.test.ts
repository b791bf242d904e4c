import { describe, expect, it } from 'vitest';
import { configToHash, hashToConfig } from '../../src/config/codec';
import { bandsOf, hyperparametersOf } from '../../src/config/hyper';
import { objectivePatch, presetConfig } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { OBJECTIVES } from '../../src/objectives';
import { MIXTURES } from '../helpers/mixtures';

const grpo = presetConfig('grpo', 'small');

describe('a mixture as the objective of a run', () => {
  it('passes the validator, in one spelling; what is none is refused', () => {
    const read = (objective: string) => validateConfig({ objective }, grpo);
    expect(read('grpo@segment/token')).toMatchObject({ config: { objective: 'grpo@segment/token' }, problems: [] });
    expect(read('grpo@token/token').config.objective).toBe('grpo');
    expect(read('gspo@segment/segment').config.objective).toBe('gspo@segment');
    expect(read('cispo@token').problems).toHaveLength(1);
    expect(read('cispo@token').config.objective).toBe('grpo');
  });

  it('takes the levels by themselves too, in settings and in an address', () => {
    const read = (given: Record<string, unknown>) => validateConfig(given, grpo);
    expect(read({ ratioLevel: 'sequence' })).toMatchObject({ config: { objective: 'grpo@sequence/token' }, problems: [] });
    expect(read({ objective: 'sppo', ratioLevel: 'sequence', clipLevel: 'sequence' })).toMatchObject({ config: { objective: 'sppo@sequence', groupSize: 1 } });
    expect(Object.keys(read({ ratioLevel: 'segment' }).config)).toEqual(Object.keys(grpo));
    expect(read({ objective: 'cispo', clipLevel: 'token' })).toMatchObject({ config: { objective: 'cispo' }, problems: [{ message: expect.stringMatching(/CISPO cannot be set/) as string }] });
    expect(read({ clipLevel: 'word' })).toMatchObject({ config: { objective: 'grpo' }, problems: [{ message: expect.stringMatching(/“word” is no level/) as string }] });
    const { config, problems } = hashToConfig('preset=sppo&ratioLevel=segment&clipLevel=token', 'small');
    expect([config.objective, problems]).toEqual(['sppo@segment/token', []]);
    expect(configToHash(config)).toContain('objective=sppo%40segment%2Ftoken');
    expect(hashToConfig(configToHash(config), 'small').config).toEqual(config);
  });

  it('trains with the widths of the level that it clips', () => {
    const config = { ...grpo, objective: 'grpo@token/sequence', clipLowSequence: 0.03, clipHighSequence: 0.04 };
    expect(hyperparametersOf(config)).toMatchObject({ clipLow: 0.03, clipHigh: 0.04 });
    expect(bandsOf(config)).toMatchObject({ token: { low: 0.2, high: 0.2 }, sequence: { low: 0.03, high: 0.04 } });
  });

  it('travels in an address', () => {
    for (const { id } of MIXTURES) {
      const config = validateConfig({ ...grpo, ...objectivePatch(grpo, id) }, grpo).config;
      expect(hashToConfig(configToHash(config), 'small').config).toEqual(config);
    }
  });

  it('takes SPPO’s one answer along, and every listed objective leads back out of it', () => {
    const sppo = presetConfig('sppo-sequence', 'small');
    expect(sppo).toMatchObject({ objective: 'sppo@sequence', groupSize: 1, prompts: 64, dualClip: 3 });
    expect(objectivePatch(sppo, 'sppo')).toEqual({ objective: 'sppo' });
    expect(validateConfig({ ...grpo, ...objectivePatch(grpo, 'sppo@segment') })).toMatchObject({ config: { groupSize: 1, prompts: 128, dualClip: 3 }, problems: [] });
    for (const { id } of OBJECTIVES) {
      const there = { ...sppo, ...objectivePatch(sppo, id) };
      expect({ ...there, ...objectivePatch(there, 'sppo@sequence') }).toEqual(sppo);
    }
  });
});
