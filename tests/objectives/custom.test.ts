import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coefficientOf, compactBatch, evaluateObjective, evaluateTokens, getObjective, OBJECTIVES, resolveHyperparameters, type Objective } from '../../src/objectives';
import { buildObjective, checkDifferences, FUNCTIONS, LEAVES, MAX_NODES, ObjectiveTextError, parseObjective, printObjective, readCustom, STATEMENTS } from '../../src/objectives/custom';
import { constant } from '../../src/objectives/expr';
import { known, randomBatch } from '../helpers/lossBatch';

const PROGRAM = `
title "GRPO by hand"
level token
aggregation seq-mean-token-mean
advantage groupMeanStd
param clipLow = 0.2 in 0..1 step 0.01 "below";
param clipHigh = 0.2 in 0..1;
let surrogate = min(ratio * adv, clip(ratio, 1 - clipLow, 1 + clipHigh) * adv);
-surrogate`;

function refusal(text: string): ObjectiveTextError {
  try {
    readCustom(text);
  } catch (error) {
    if (error instanceof ObjectiveTextError) return error;
    throw error;
  }
  throw new Error(`not refused: ${text}`);
}

/** Every column of two objectives on the same random batches, compared bit by bit (NaN and -0 included). */
function expectSame(a: Objective, b: Objective, given: Record<string, number>[] = [{}]): void {
  for (const [seed, hyper] of given.entries()) {
    const batch = randomBatch({ seed: seed + 1, lengths: [1, 2, 9, 30], spread: 1.2, segments: 'random', advantages: [1, -1.3, 0, 0.4] });
    const c = compactBatch(batch, a.lossAggMode);
    const [x, y] = [a, b].map((o) => evaluateTokens(o, c, resolveHyperparameters(o, known(o, hyper))));
    for (const column of ['coefficient', 'loss', 'logRatio', 'clipped'] as const) {
      x[column].forEach((v, t) => {
        if (!Object.is(v + 0, y[column][t] + 0)) throw new Error(`${b.title}: ${column} of token ${t}: ${v} against ${y[column][t]}`);
      });
    }
  }
}

const HYPERS = [{}, { clipLow: 0.1, clipHigh: 0.28, beta: 0.04 }, { clipLow: 0.02, clipHigh: 0.02, dualClip: 1.5, cap: 1.1, tauPos: 3 }];

describe('a typed objective', () => {
  it('that says what GRPO says gives the coefficients of the built-in to the last bit', () => {
    const { objective } = readCustom(PROGRAM);
    expect([objective.title, objective.importanceSamplingLevel, objective.lossAggMode, objective.advantageEstimator]).toEqual(['GRPO by hand', 'token', 'seq-mean-token-mean', 'groupMeanStd']);
    expectSame(getObjective('grpo'), objective, [{}, { clipLow: 0.05, clipHigh: 0.3 }]);
  });

  it.each(OBJECTIVES.map((o) => [o.id, o] as const))('%s, printed and read again, is the same to the last bit', (_, builtIn) => {
    const text = printObjective(builtIn);
    const { objective } = readCustom(text);
    expectSame(builtIn, objective, HYPERS);
    expect(printObjective({ ...objective, title: builtIn.title })).toBe(text);
    expect([objective.clipEffect, objective.widths === null]).toEqual([builtIn.clipEffect, builtIn.widths === null]);
  });

  it.each(OBJECTIVES.filter((o) => o.clipEffect === 'cut').map((o) => [o.id, o] as const))('%s: where the clip acts is found without being told', (_, builtIn) => {
    const text = printObjective(builtIn).replace(/^clipped = .*$/m, '');
    expect(text).not.toContain('clipped =');
    expectSame(builtIn, readCustom(text).objective, HYPERS);
  });

  it('declares parameters with bounds, steps and help', () => {
    const { parameters } = parseObjective('param tauLow = -1.5e-1 in -2..3 step .25 "how steep"; param beta = 0 in 0..1; -ratio * adv * tauLow');
    expect(parameters[0]).toMatchObject({ name: 'tauLow', default: -0.15, min: -2, max: 3, step: 0.25, help: 'how steep', tex: '\\tau_{\\text{low}}' });
    expect(parameters[1]).toMatchObject({ name: 'beta', tex: '\\beta', named: { off: 0 } });
  });

  it.each([
    ['a - b - c', '-(ratio - adv - 1)', (r: number, a: number) => -(r - a - 1)],
    ['products before sums', '-(ratio + adv * 2 / 4)', (r: number, a: number) => -(r + (a * 2) / 4)],
    ['minus before product', '-ratio * adv', (r: number, a: number) => -r * a],
    ['powers before minus', '-ratio ^ 2', (r: number) => -(r * r)],
    ['choices from the right', 'adv > 0 ? -ratio : adv < 0 ? ratio : 2 * ratio', (r: number, a: number) => (a > 0 ? -r : a < 0 ? r : 2 * r)],
    ['and before or', '(adv > 0 and ratio > 1 or ratio < 0.9) ? -ratio : ratio', (r: number, a: number) => ((a > 0 && r > 1) || r < 0.9 ? -r : r)],
  ])('%s', (_, text, want) => {
    const c = compactBatch(randomBatch({ seed: 3, lengths: [12], spread: 0.5, segments: 'one', advantages: [0.7] }), 'token-mean');
    const { loss } = evaluateTokens(buildObjective(text).objective, c, {});
    loss.forEach((v, t) => expect(v / c.weight[t]).toBeCloseTo(want(Math.exp(c.logp[t] - c.oldLogp[t]), 0.7), 12));
  });

  it('agrees with central differences, and the check notices a wrong gradient', () => {
    for (const builtIn of OBJECTIVES) {
      const check = checkDifferences(readCustom(printObjective(builtIn)).objective);
      expect(check, builtIn.id).toMatchObject({ ok: true });
      expect(check.compared).toBeGreaterThan(8);
    }
    const honest = readCustom('-ratio * adv').objective;
    const wrong = checkDifferences(honest, {}, coefficientOf(readCustom('-1.001 * ratio * adv').objective));
    expect(wrong.ok).toBe(false);
    expect(wrong.maxError).toBeCloseTo(0.001, 4);
    expect(checkDifferences(honest, {}, constant(NaN)).ok).toBe(false);
  });
});

describe('refusals name the place and the reason', () => {
  it.each([
    ['-ratoi * adv', 1, 2, 'no name “ratoi”', 'Did you mean ratio?'],
    ['-clp(ratio, 0, 1)', 1, 2, 'no function “clp”', 'Did you mean clip?'],
    ['-clip(ratio, 1)', 1, 2, 'takes 3 arguments, not 2', 'clip(x, low, high)'],
    ['let a = ratio;\nlet b = a +;\n-b', 2, 12, 'is expected, but “;” stands here', ''],
    ['let a = ratio\n-a * adv', 2, 2, 'no name “a”', 'ends with ;'],
    ['let a = ratio\n-adv', 2, 5, 'there is no loss', 'ends with ;'],
    ['-(ratio * adv', 1, 14, '“)” is expected', ''],
    ['-ratio adv', 1, 8, 'an operator or ; is expected', ''],
    ['level tokn\n-ratio * adv', 1, 7, 'no level', 'Did you mean token?'],
    ['aggregation mean\n-ratio', 1, 13, 'no aggregation', 'token-mean'],
    ['param ratio = 1 in 0..2;\n-ratio', 1, 7, 'meaning of its own', ''],
    ['param eps = 3 in 0..2;\n-ratio', 1, 7, 'outside its own bounds', ''],
    ['let a = ratio; let a = 2; -a', 1, 20, 'defined twice', ''],
    ['-ratio * adv * 1e999', 1, 16, 'too large', ''],
    ['-adv * 2', 1, 1, 'does not depend on logp', ''],
    ['-stopGrad(ratio) * adv', 1, 1, 'does not depend on logp', ''],
    ['-ratio * adv + k3(refLogp - logp)', 1, 19, 'refLogp needs a parameter beta', 'param beta'],
    ['-ratio * adv / (adv - adv)', 1, 1, 'the loss is infinite at ratio 0.001', ''],
    ['-(adv - adv) / (adv - adv) * ratio', 1, 1, 'the loss is not a number', ''],
    ['-log(adv) * ratio', 1, 2, 'the loss is', 'above 0'],
    ['-exp(logp * -1000) * adv', 1, 2, 'infinite', 'clamp'],
    ['-adv * sqrt(logRatio * logRatio)', 1, 8, 'the gradient is', ''],
    ['param tau = 1 in 0..2;\n-adv * ratio / tau', 2, 1, 'tau = 0', 'Narrow the bounds of tau'],
    ['adv ? ratio : logp', 1, 1, 'a condition is expected', 'adv > 0'],
    ['-ratio < adv < 2', 1, 14, 'two comparisons', 'and'],
    ['-clamp(ratio, adv)', 1, 15, 'must be a number above 0', 'clip'],
    ['', 1, 1, 'there is no loss', ''],
    ['-ratio * adv; -ratio', 1, 15, 'a second loss', ''],
    ['-ratio @ adv', 1, 8, 'means nothing here', ''],
    ['let clip_low = 1; -ratio', 1, 9, 'letters and digits', ''],
    ['eval("alert(1)")', 1, 1, 'no function “eval”', ''],
    ['-ratio.constructor', 1, 7, 'means nothing here', ''],
    ['-constructor * ratio', 1, 2, 'no name “constructor”', ''],
    ['-toString(ratio)', 1, 2, 'no function “toString”', ''],
  ])('%s', (text, line, column, reason, hint) => {
    const error = refusal(text);
    expect([error.line, error.column, error.message]).toEqual([line, column, expect.stringContaining(reason)]);
    expect(error.hint).toContain(hint);
  });

  it('10,000 terms, 10,000 brackets, and a doubling chain', () => {
    const square = Array(100).fill(`(${Array(100).fill('ratio').join(' + ')})`).join(' + ');
    expect(refusal(`-(${square})`).message).toContain(`more than ${MAX_NODES} terms`);
    expect(refusal(`-(${Array(5000).fill('ratio').join(' + ')})`).message).toContain('more than 200 deep');
    expect(refusal(`-${'('.repeat(10_000)}ratio${')'.repeat(10_000)}`).message).toContain('100 deep');
    expect(refusal(`-${'abs('.repeat(5000)}ratio`).message).toContain('deep');
    expect(refusal(`${'-'.repeat(9000)}ratio`).message).toContain('deep');
    // Sixty doublings are sixty terms, not 2^60: they are taken or refused at once, never walked through.
    const chain = Array.from({ length: 60 }, (_, i) => `let a${i} = ${i ? `a${i - 1} * 0.5 + a${i - 1} * 0.5` : 'ratio'};`).join('\n');
    expect(readCustom(`${chain}\n-a59 * adv`).objective.id).toMatch(/^custom:/);
    expect(refusal(`-ratio * adv ${'# x\n'.repeat(3000)}`).message).toContain('a link can hold');
  });
});

describe('random texts', () => {
  const words = [...Object.keys(LEAVES), ...Object.keys(FUNCTIONS), ...STATEMENTS, 'in', 'step', 'and', 'or', 'eps', 'a', 'token', 'seq-mean-token-mean', '0.2', '1', '1e9', '0', '..', '(', ')', ',', ';', '=', '+', '-', '*', '/', '^', '<', '<=', '?', ':', '"x"', '#', '\n', '_', '$'];
  const harmless = (text: string) => {
    try {
      readCustom(text);
    } catch (error) {
      if (!(error instanceof ObjectiveTextError)) throw error;
      expect(error.span.start).toBeGreaterThanOrEqual(0);
      expect(error.span.end).toBeLessThanOrEqual(text.length);
      expect(error.line).toBeLessThanOrEqual(text.split('\n').length);
    }
  };
  it('never throw anything but the typed error', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200, unit: 'grapheme' }), harmless), { numRuns: 1000, seed: 1 });
    fc.assert(fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((list) => list.join(' ')), harmless), { numRuns: 1500, seed: 2 });
  });

  it('made of whole terms are exact to central differences', () => {
    const { term } = fc.letrec<{ term: string }>((tie) => ({
      term: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom('ratio', 'segRatio', 'seqRatio', 'adv', 'logRatio', 'segLogRatio', 'entropy', 'entropyRatio', '0.5', '2', 'logp'),
        fc.tuple(tie('term'), fc.constantFrom('+', '-', '*'), tie('term')).map(([a, o, b]) => `(${a} ${o} ${b})`),
        fc.tuple(fc.constantFrom('sigmoid', 'stopGrad', 'meanSegment', 'meanSequence', 'abs', '-'), tie('term')).map(([f, a]) => `${f}(${a})`),
        fc.tuple(fc.constantFrom('min', 'max'), tie('term'), tie('term')).map(([f, a, b]) => `${f}(${a}, ${b})`),
        fc.tuple(tie('term'), tie('term'), tie('term')).map(([a, b, c]) => `(${a} < ${b} ? ${c} : ${b})`),
        tie('term').map((a) => `clip(${a}, 0.7, 1.3)`),
        tie('term').map((a) => `exp(clamp(${a}, 2))`),
      ),
    }));
    let compared = 0;
    fc.assert(
      fc.property(term, (text) => {
        let objective: Objective;
        try {
          ({ objective } = readCustom(`-(${text}) * adv - 0.1 * ratio`));
        } catch (error) {
          if (error instanceof ObjectiveTextError) return;
          throw error;
        }
        const check = checkDifferences(objective);
        compared += check.compared;
        if (!(check.maxError <= 1e-6)) throw new Error(`${text}: ${check.maxError}`);
      }),
      { numRuns: 150, seed: 3 },
    );
    expect(compared).toBeGreaterThan(500);
  });
});

describe('entropy of a token', () => {
  const { objective } = readCustom('let rare = entropy > 0.8;\n-(rare ? clip(ratio, 0.8, 1.28) : ratio) * adv - 0.1 * entropy * logRatio');
  it('is that of the batch, nats, without a gradient', () => {
    const batch = { oldLogp: [[-1, -1]], newLogp: [[-0.9, -1.1]], mask: [[1, 1]], segments: [[0, 0]], advantages: [[1, 1]], entropy: [[1.5, 0.2]] };
    const { loss, coefficients } = evaluateObjective(objective, batch, {}, 'token-mean');
    const want = [-Math.exp(0.1) - 0.15, -Math.exp(-0.1) - 0.02];
    // -ratio A - .1 H log ratio: its derivative is -ratio A - .1 H, halved by the mean over two tokens.
    expect(Math.abs(loss - (-Math.exp(0.1) - 0.015 - Math.exp(-0.1) + 0.002) / 2) <= 1e-12).toBe(true);
    coefficients[0].forEach((c, t) => expect(Math.abs(c - want[t] / 2) <= 1e-12).toBe(true));
  });

  it('is asked for where the batch has none', () => {
    const batch = { oldLogp: [[-1]], newLogp: [[-1]], mask: [[1]], segments: [[0]], advantages: [[1]] };
    expect(() => evaluateObjective(objective, batch)).toThrow(/reads the entropy of each token/);
    expect(() => evaluateObjective(getObjective('grpo'), batch)).not.toThrow();
  });
});
