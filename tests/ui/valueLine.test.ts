import { describe, expect, it } from 'vitest';
import { gaeAdvantages } from '../../src/objectives';
import { inspectToken } from '../../src/ui/text/inspect';
import { valueFacts, valueHeight, valueLineWords, valueRange, valueSteps, valueWords } from '../../src/ui/text/valueLine';
import { fakeBatch } from '../visual/fakeData';

const batch = fakeBatch(4, 'ppo', 8, 1);
const row = batch.completions[0]!;

describe('the line of V under an answer', () => {
  it('stands at V before each token, over the width of its cell', () => {
    const range = { low: 0, high: 1 };
    expect(valueSteps([0.25, 1, 0], range)).toBe('M0 0.7500H1L1 0.0000H2L2 1.0000H3');
    expect(valueSteps([0.25], range, true)).toBe('M0 1L0 0.7500H1V1Z');
  });

  it('shows 0 to 1, and as far beyond as a value goes', () => {
    expect(valueRange([{ ...row, values: Float32Array.of(0.2, 0.9) }])).toEqual({ low: 0, high: 1 });
    expect(valueRange([{ ...row, values: Float32Array.of(-0.5, 1.25) }, { ...row, values: null }])).toEqual({ low: -0.5, high: 1.25 });
    expect(valueHeight(0.5, { low: -0.5, high: 1.5 })).toBe(0.5);
  });

  it('is told in words', () => {
    expect(valueLineWords([0.5, 0.25, 0.75])).toBe('V before each token: .50 before the first, .75 before the last, lowest .25 at token 2, highest .75 at token 3');
    expect(valueWords({ ...row, values: Float32Array.of(0.5), advantages: Float32Array.of(-0.25) }, 0)).toBe('V .50, advantage \u2212.25');
    expect(valueWords({ ...row, values: null }, 0)).toBe('');
  });
});

describe('what the critic made of one token', () => {
  it('is such that its surprises, discounted, are the advantages that were trained on', () => {
    const { gaeGamma, gaeLambda } = batch.config;
    expect(batch.config.whitenAdvantages).toBe(false);
    for (const completion of batch.completions) {
      let running = 0;
      for (let t = completion.tokens.length - 1; t >= 0; t--) {
        const facts = valueFacts(batch, completion, t);
        running = (facts?.delta ?? NaN) + gaeGamma * gaeLambda * running;
        expect(Math.abs(running - (facts?.advantage ?? NaN))).toBeLessThan(1e-6);
      }
    }
    const rewards = row.tokens.map((_, t) => (t === row.tokens.length - 1 ? row.reward : 0));
    expect(valueFacts(batch, row, 3)?.advantage).toBeCloseTo(gaeAdvantages(rewards, row.values!, gaeGamma, gaeLambda).advantages[3]!, 6);
  });

  it('ends with the answer: nothing is expected after the last token', () => {
    const last = row.tokens.length - 1;
    expect(valueFacts(batch, row, last)).toMatchObject({ isLast: true, after: 0, before: row.values![last] });
    expect(valueFacts(batch, row, 0)).toMatchObject({ isLast: false, after: row.values![1] });
    expect(valueFacts(batch, row, last + 1)).toBeNull();
  });

  it('names no surprise where rewards came in that the batch does not hold, and marks whitened advantages', () => {
    const under = (patch: Partial<typeof batch.config>) => valueFacts({ config: { ...batch.config, ...patch } }, row, 2);
    expect(under({ overlongCache: 4 })?.delta).toBeNull();
    expect(under({ beta: 0.01, klPlacement: 'reward' })?.delta).toBeNull();
    expect(under({ beta: 0.01, klPlacement: 'loss' })?.delta).not.toBeNull();
    expect([under({})?.isWhitened, under({ whitenAdvantages: true })?.isWhitened]).toEqual([false, true]);
  });

  it('reaches the inspector by the settings that the batch was trained with', () => {
    const facts = inspectToken(batch, { completion: 0, token: 2 }, { ...batch.config, gaeGamma: 0.5 });
    expect(facts?.value).toEqual(valueFacts(batch, row, 2));
    const sppo = fakeBatch(4, 'sppo', 8, 1);
    expect(inspectToken(sppo, { completion: 0, token: 2 }, sppo.config)?.value).toBeNull();
  });
});
