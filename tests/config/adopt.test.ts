import { describe, expect, it } from 'vitest';
import { adoptPatch } from '../../src/config/adopt';
import { defaultConfig } from '../../src/config/fields';
import { presetConfig } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { OBJECTIVES } from '../../src/objectives';
import { ObjectiveTextError, printObjective } from '../../src/objectives/custom';

const text = (low: number, extra = '') => `level sequence\naggregation token-mean\nparam clipLow = ${low} in 0..1;\nparam clipHigh = 0.05 in 0..1;\n${extra}-min(seqRatio * adv, clip(seqRatio, 1 - clipLow, 1 + clipHigh) * adv)`;
const adopt = (config: ReturnType<typeof defaultConfig>, source: string) => validateConfig(adoptPatch(config, source), config);

describe('adoptPatch', () => {
  it('brings the declared widths, aggregation and advantage along', () => {
    const { config, problems } = adopt({ ...defaultConfig(), advantage: 'groupMean' }, text(0.03));
    expect(problems).toEqual([]);
    expect(config).toMatchObject({ clipLowSequence: 0.03, clipHighSequence: 0.05, lossAggMode: 'token-mean', advantage: 'own' });
  });

  it('leaves alone what a person has moved since, unless its declaration changed', () => {
    const first = adopt(defaultConfig(), text(0.03)).config;
    const moved = validateConfig({ clipLowSequence: 0.2, lossAggMode: 'seq-mean-token-mean' }, first).config;
    const again = adopt(moved, text(0.03, '# a comment\n')).config;
    expect(again).toMatchObject({ clipLowSequence: 0.2, lossAggMode: 'seq-mean-token-mean' });
    expect(adopt(moved, text(0.04)).config.clipLowSequence).toBe(0.04);
  });

  it('takes every built-in as text, with the number of answers that it needs', () => {
    for (const objective of OBJECTIVES) {
      const { config, problems } = adopt(presetConfig('grpo', 'small'), printObjective(objective));
      expect(problems, objective.id).toEqual([]);
      expect(config.groupSize === 1, objective.id).toBe(objective.advantageEstimator === 'sequenceLevel');
    }
  });

  it('throws the typed error on a bad text', () => {
    expect(() => adoptPatch(defaultConfig(), 'nonsense')).toThrow(ObjectiveTextError);
  });
});
