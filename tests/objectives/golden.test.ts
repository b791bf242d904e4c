import { describe, expect, it } from 'vitest';
import golden from '../fixtures/objectives.json';
import { computeMetrics, criticLoss, evaluateObjective, groupAdvantages, k1, k2, k3, OBJECTIVES, sequenceAdvantages } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { fixtureA, GOLDEN_CASES } from './goldenCases';

/** The vectors are printed to six digits. */
const TOLERANCE = 1e-6;

describe('golden vectors', () => {
  it('are there for every objective, off policy', () => {
    const covered = new Set(GOLDEN_CASES.filter(({ batch }) => batch.newLogp !== batch.oldLogp).map((c) => c.objective.id));
    expect(OBJECTIVES.map((o) => o.id).filter((id) => !covered.has(id))).toEqual([]);
  });

  it.each(GOLDEN_CASES.map((c) => [c.name, c] as const))('%s', (_, c) => {
    const result = evaluateObjective(c.objective, c.batch, c.hyper, c.mode);
    if (c.loss !== undefined) expectClose(result.loss, c.loss, TOLERANCE, 'loss');
    result.coefficients.forEach((row, i) => expectClose(row, c.coefficients[i], TOLERANCE, `coefficients[${i}]`));
    if (c.clipped) expect(result.clipped.map((row) => Array.from(row))).toEqual(c.clipped);
  });

  it.each(GOLDEN_CASES.filter((c) => c.binding).map((c) => [c.name, c] as const))('fractions of %s', (_, c) => {
    const metrics = computeMetrics(c.objective, c.batch, { hyper: c.hyper, lossAggMode: c.mode });
    const { binding, outside } = metrics.levels[c.objective.importanceSamplingLevel];
    const want = c.binding ?? {};
    if (want.units !== undefined) expectClose(binding.units.both, want.units, TOLERANCE, 'units');
    if (want.tokens !== undefined) expectClose([binding.tokens.both, metrics.clippedTokens], [want.tokens, want.tokens], TOLERANCE, 'tokens');
    if (want.low !== undefined) expectClose(binding.tokens.low, want.low, TOLERANCE, 'low');
    if (want.high !== undefined) expectClose(binding.tokens.high, want.high, TOLERANCE, 'high');
    if (c.outsideTokens !== undefined) expectClose(outside.tokens.both, c.outsideTokens, TOLERANCE, 'outside');
  });

  it('ratios at three levels', () => {
    const { ratios } = evaluateObjective(GOLDEN_CASES[0].objective, fixtureA());
    const want = golden.ratios;
    golden.fixture.mask.forEach((mask, i) => {
      const length = mask.filter(Boolean).length;
      expectClose(ratios.token[i].slice(0, length), want.token[i], TOLERANCE, 'token');
      const bySegment = golden.fixture.seg[i].slice(0, length).map((k) => want.segment[i][k]);
      expectClose(ratios.segment[i].slice(0, length), bySegment, TOLERANCE, 'segment');
      expect(Array.from(ratios.token[i].slice(length))).toEqual(Array(mask.length - length).fill(1));
    });
    expectClose(ratios.sequence, want.sequence, TOLERANCE, 'sequence');
  });

  it('group advantages by every rule', () => {
    const g = golden['group adv [1,0,0,0]'];
    const rewards = [1, 0, 0, 0];
    const groups = [7, 7, 7, 7];
    expectClose(groupAdvantages(rewards, groups, 'trl'), g.A_trl, TOLERANCE, 'trl');
    expectClose(groupAdvantages(rewards, groups, 'verl'), g.A_verl, TOLERANCE, 'verl');
    expectClose(groupAdvantages(rewards, groups, 'population', 0), g.A_pop, TOLERANCE, 'population');
    expectClose(groupAdvantages(rewards, groups, 'none'), g.A_dr, TOLERANCE, 'none');
    // The trainer's own rule, by hand: .75 / (.4330127 + 1e-4).
    expectClose(groupAdvantages(rewards, groups), [1.7316509, -0.577217, -0.577217, -0.577217], TOLERANCE, 'default');
  });

  it('SPPO: value, advantage, critic loss and its gradient', () => {
    const g = golden.SPPO;
    const logits = [0.4, -0.2];
    expectClose(sequenceAdvantages([1, 0], { baseline: 'value', valueLogits: logits }), g.adv, TOLERANCE, 'advantage');
    const critic = criticLoss([1, 0], logits);
    expectClose(critic.value, g.V, TOLERANCE, 'V');
    expectClose(critic.loss, g.bce, TOLERANCE, 'BCE');
    expectClose(critic.gradient, g.dlogit, TOLERANCE, 'gradient');
  });

  it('KL estimators, and the gradient of k3 through an objective', () => {
    const g = golden['KL new=-1 ref=-1.3'];
    const x = -1.3 - -1;
    expectClose([k1(x), k2(x), k3(x)], [g.k1, g.k2, g.k3], TOLERANCE, 'k');
    const batch = { oldLogp: [[-1]], newLogp: [[-1]], refLogp: [[-1.3]], mask: [[1]], segments: [[0]], advantages: [[0]] };
    const result = evaluateObjective(GOLDEN_CASES[0].objective, batch, { beta: 1 });
    expectClose([result.loss, result.coefficients[0][0]], [g.k3, g.dk3], TOLERANCE, 'k3 in the loss');
  });
});
