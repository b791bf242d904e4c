import { describe, expect, test } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { answerPairs, isOnPolicy, markLabels, sparklines, stalenessSentence, updatesPerRollout } from '../../src/store/selectors';
import { initialRunState } from '../../src/store/runStore';

const grpo = presetConfig('grpo', 'small');

describe('staleness', () => {
  test('is said in words, with the product of the dials', () => {
    const config = { ...grpo, minibatches: 4, epochs: 4 };
    expect(updatesPerRollout(config)).toBe(16);
    expect(stalenessSentence(config)).toBe('16 updates reuse one rollout, so ratios leave 1.');
  });

  test('one update by the policy that sampled means ratios of exactly 1, unless the sampler differs', () => {
    const once = { ...grpo, minibatches: 1, epochs: 1 };
    expect(isOnPolicy(once)).toBe(true);
    expect(stalenessSentence(once)).toBe('One update per rollout: every ratio is 1.');
    for (const patch of [{ samplerPrecision: 'e5m2' as const }, { samplerLag: 1 }]) {
      expect(isOnPolicy({ ...once, ...patch })).toBe(false);
      expect(stalenessSentence({ ...once, ...patch })).toContain('the sampler differs');
      expect(isOnPolicy({ ...once, ...patch, oldLogpSource: 'trainer' })).toBe(true);
    }
    expect(isOnPolicy({ ...once, minibatches: 2 })).toBe(false);
  });
});

test('marks name what changed, leave out what does not train, and join what came together', () => {
  expect(
    markLabels([
      { step: 3, changes: [{ field: 'epochs', from: '1', to: '4' }, { field: 'speed', from: '0', to: '2' }] },
      { step: 4, changes: [{ field: 'preset', from: 'grpo', to: 'gspo' }] },
      { step: 5, changes: [{ field: 'objective', from: 'grpo', to: 'gspo' }, { field: 'learningRate', from: '0.0003', to: '0.001' }] },
    ]),
  ).toEqual([
    { step: 3, label: 'epochs 1 \u2192 4' },
    { step: 5, label: 'GRPO \u2192 GSPO, lr 0.0003 \u2192 0.001' },
  ]);
});

test('marks of mixtures are short: levels where the objective stays the same', () => {
  const label = (from: string, to: string) => markLabels([{ step: 1, changes: [{ field: 'objective', from, to }] }])[0]?.label;
  expect(label('grpo', 'grpo@sequence/token')).toBe('levels → sequence/token');
  expect(label('grpo@sequence/token', 'grpo@segment')).toBe('levels → subsentence');
  expect(label('grpo@segment', 'grpo')).toBe('levels → token');
  expect(label('grpo@segment', 'sppo@segment')).toBe('GRPO mixed → SPPO mixed');
  expect(label('sppo@segment', 'cispo')).toBe('SPPO mixed → CISPO');
});

test('answers are paired by prompt; the base answer alone is no pair', () => {
  const base = [{ step: 0, prompt: 'a', response: 'x', correct: false, expected: 'y' }, { step: 0, prompt: 'b', response: 'x', correct: true, expected: 'x' }];
  expect(answerPairs({ baseAnswers: base, answers: [base] }).map((pair) => pair.latest)).toEqual([null, null]);
  const later = { ...base[0]!, step: 10, response: 'y', correct: true };
  expect(answerPairs({ baseAnswers: base, answers: [base, [later]] })[0]?.latest).toEqual(later);
});

test('sparklines run over the whole plan, folded in a long run', () => {
  const state = initialRunState();
  for (let step = 1; step <= 1000; step++) state.history.gradNorm.push(step, 1);
  const spark = sparklines(state, { ...grpo, totalSteps: 2000 });
  const gradNorm = spark.series.find((line) => line.id === 'gradNorm');
  expect(gradNorm?.values.length).toBeLessThanOrEqual(spark.length);
  expect(spark.length).toBeLessThanOrEqual(300);
  expect(sparklines(state, { ...grpo, groupSize: 1 }).series.map((line) => line.id)).toContain('value');
});
