import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import golden from '../fixtures/objectives.json';
import { ADVANTAGE_ESTIMATORS, computeMetrics, deadRows, ESTIMATORS, evaluateCompact, evaluateObjective, getObjective, groupAdvantages, looAdvantages, nominalWidths, OBJECTIVES, resolveHyperparameters, softOverlongPenalty, type ObjectiveBatch } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { randomBatch } from '../helpers/lossBatch';
import { fixtureA } from './goldenCases';

/** What each of the further objectives claims to be, beside the golden vectors and the properties that hold for all. */

const SIX_DIGITS = 1e-6;

const one = (oldLogp: number, newLogp: number, advantage: number): ObjectiveBatch => ({ oldLogp: [[oldLogp]], newLogp: [[newLogp]], mask: [[1]], segments: [[0]], advantages: [[advantage]] });

describe('what an objective says it is', () => {
  const batch = randomBatch({ seed: 11, lengths: [3, 9, 14, 1], spread: 0.6, segments: 'random', advantages: [1, -0.8, 0.4] });

  it('DAPO is GRPO with the wider upper band and the mean over tokens', () => {
    expect(evaluateObjective(getObjective('dapo'), batch)).toEqual(evaluateObjective(getObjective('grpo'), batch, { clipHigh: 0.28 }, 'token-mean'));
    expect(getObjective('dapo').lossAggMode).toBe('token-mean');
  });

  it('Dr.GRPO is GRPO with a constant divisor and no division by the spread', () => {
    expect(evaluateObjective(getObjective('drGrpo'), batch)).toEqual(evaluateObjective(getObjective('grpo'), batch, {}, 'constant'));
    const rewards = [1, 0, 0, 0];
    expect(getObjective('drGrpo').advantageEstimator).toBe('groupMean');
    expectClose(ESTIMATORS.groupMean.estimate({ rewards, groups: [3, 3, 3, 3] }), golden['group adv [1,0,0,0]'].A_dr, SIX_DIGITS);
  });

  it('GSPO-token equals GSPO while an answer has one advantage', () => {
    for (const hyper of [{}, { clipLow: 0.05, clipHigh: 0.05 }, { clipLow: 0.2, clipHigh: 0.2, beta: 0.1 }]) {
      const token = evaluateObjective(getObjective('gspoToken'), batch, hyper);
      const whole = evaluateObjective(getObjective('gspo'), batch, hyper);
      expectClose(token.loss, whole.loss, 1e-14);
      token.coefficients.forEach((row, i) => expectClose(row, whole.coefficients[i], 1e-14));
      expect(token.clipped).toEqual(whole.clipped);
    }
  });

  it('CISPO never loses a gradient, and its weight stays between floor and cap', () => {
    const hyper = { floor: 0.8, cap: 1.2 };
    const { compact, results } = evaluateCompact(getObjective('cispo'), batch, hyper);
    let held = 0;
    for (let t = 0; t < compact.count; t++) {
      const weight = -results.coefficient[t] / (compact.advantage[t] * compact.weight[t]);
      expect(weight >= 0.8 - 1e-12 && weight <= 1.2 + 1e-12).toBe(true);
      held += results.clipped[t];
    }
    expect(held).toBeGreaterThan(5);
  });

  it('DCPO: the bounds of the golden table, by old probability', () => {
    const objective = getObjective('dcpo');
    for (const [label, [lower, upper]] of Object.entries(golden['DCPO bounds table'])) {
      const q = Number(label.slice(2));
      const { results } = evaluateCompact(objective, one(Math.log(q), Math.log(q), 1));
      expectClose([1 - results.low[0], 1 + results.high[0]], [lower, upper], SIX_DIGITS, label);
    }
    const { results } = evaluateCompact(objective, fixtureA());
    expectClose(Array.from(results.low, (low, t) => [1 - low, 1 + results.high[t]]).flat(), golden['DCPO .16/.2 token-mean'].bounds.flat(2), SIX_DIGITS, 'fixture A');
  });

  it('DCPO: the dual clip acts at 10 and not at c, or at c above 10', () => {
    const at = (ratio: number, dualClip: number) => evaluateObjective(getObjective('dcpo'), one(-8, -8 + Math.log(ratio), -1), { dualClip });
    expectClose([at(9.9, 3).loss, at(9.9, 3).coefficients[0][0]], [9.9, 9.9], 1e-9);
    expectClose([at(12, 3).loss, at(12, 3).coefficients[0][0]], [10, 0], 1e-9);
    expectClose([at(12, 20).loss, at(12, 0).loss], [12, 12], 1e-9);
    expect([at(12, 3).clipped[0][0], at(12, 0).clipped[0][0]]).toEqual([1, 0]);
  });

  it('SAPO: the gradient is scaled by 4p(1 - p), p = sigmoid(tau (r - 1))', () => {
    const { compact, results } = evaluateCompact(getObjective('sapo'), batch, { tauPos: 2, tauNeg: 3 });
    for (let t = 0; t < compact.count; t++) {
      const r = Math.exp(compact.logp[t] - compact.oldLogp[t]);
      const p = 1 / (1 + Math.exp(-(compact.advantage[t] > 0 ? 2 : 3) * (r - 1)));
      expectClose(results.coefficient[t], -compact.advantage[t] * 4 * p * (1 - p) * r * compact.weight[t], 1e-12);
    }
  });

  it('GMPO: a clipped token loses its own gradient and no other does', () => {
    const a = fixtureA();
    const free = evaluateObjective(getObjective('gmpo'), a, { clipLow: 5, clipHigh: 5 });
    const tight = evaluateObjective(getObjective('gmpo'), a, { clipLow: 0.25, clipHigh: 0.25 });
    expect(free.clipped.flatMap((row) => Array.from(row)).some(Boolean)).toBe(false);
    tight.clipped.forEach((row, i) => row.forEach((flag, t) => expect(tight.coefficients[i][t] === 0).toBe(flag === 1 || a.mask[i][t] === 0)));
    // Unclipped, its ratio is the sequence's.
    expectClose(Array.from(free.coefficients[0].slice(0, 4)), Array(4).fill(-golden.ratios.sequence[0] / 8), SIX_DIGITS);
  });

  it('RFT learns from successes only; REINFORCE ignores how far the policy has moved', () => {
    const rft = evaluateObjective(getObjective('rft'), fixtureA());
    expect(Array.from(rft.coefficients[1]).every((c) => c === 0)).toBe(true);
    expectClose(Array.from(rft.coefficients[0].slice(0, 4)), Array(4).fill(-1 / 7), 1e-12);
    const a = fixtureA();
    const moved = evaluateObjective(getObjective('reinforce'), a);
    const still = evaluateObjective(getObjective('reinforce'), { ...a, newLogp: a.oldLogp });
    expect(moved.coefficients).toEqual(still.coefficients);
  });

  it('quotes its band in ratios, whatever its parameters mean', () => {
    const widths = (id: string, hyper = {}) => nominalWidths(getObjective(id), resolveHyperparameters(getObjective(id), hyper));
    expect(widths('dapo')).toEqual({ low: 0.2, high: 0.28 });
    expectClose(Object.values(widths('gmpo') ?? {}), [1 - Math.exp(-0.4), Math.exp(0.4) - 1], 1e-12);
    expectClose(Object.values(widths('cispo', { cap: 1.28 }) ?? {}), [1, 0.28], 1e-12);
    expectClose(Object.values(widths('dcpo') ?? {}), golden['DCPO bounds table']['q=0.5'].map((b) => Math.abs(b - 1)), SIX_DIGITS);
    expect(['sapo', 'reinforce', 'rft'].map((id) => widths(id))).toEqual([null, null, null]);
  });
});

describe('names of other libraries (algorithms.md section 9)', () => {
  const aliasesOf = (id: string, hyper: Record<string, number> = {}, batch = fixtureA()) => computeMetrics(getObjective(id), batch, { hyper }).aliases;

  it('DAPO and GSPO-token', () => {
    const dapo = aliasesOf('dapo');
    expectClose([dapo['clip_ratio/low_mean'], dapo['clip_ratio/high_mean'], dapo['clip_ratio/high_max'], dapo['actor/pg_clipfrac']], [0.142857, 0.142857, 0.25, 0.285714], SIX_DIGITS);
    const g3 = aliasesOf('gspoToken', { clipLow: 0.03, clipHigh: 0.03 }, { ...fixtureA(), advantages: golden['GSPO-token eps.03, per-token advantages'].adv });
    expectClose(g3['actor/pg_clipfrac'], 0.714286, SIX_DIGITS);
  });

  it('GMPO: verl counts both sides of the band by the sign of A', () => {
    const both = (width: number) => {
      const names = aliasesOf('gmpo', { clipLow: width, clipHigh: width });
      return [names['actor/pg_clipfrac'], names['actor/pg_clipfrac_lower']];
    };
    expectClose(both(0.4), [0, 0.142857], SIX_DIGITS);
    expectClose(both(0.25), [0.142857, 0.142857], SIX_DIGITS);
  });

  it('CISPO: verl counts every held weight, TRL those above the cap with A > 0', () => {
    expectClose(aliasesOf('cispo', { floor: 0.8, cap: 1.2 })['actor/pg_clipfrac'], 0.571429, SIX_DIGITS);
    expectClose([aliasesOf('cispo', { cap: 1.28 }).cispo_clip_ratio, aliasesOf('cispo', { cap: 0.2 }).cispo_clip_ratio], [0.142857, 0.571429], SIX_DIGITS);
  });

  it('say nothing of a clip that is not there', () => {
    for (const id of ['sapo', 'reinforce', 'rft']) {
      expect(Object.keys(aliasesOf(id)).filter((name) => name.includes('clip'))).toEqual([]);
      expectClose(aliasesOf(id)['actor/ppo_kl'], -0.05, SIX_DIGITS);
    }
  });
});

describe('advantage estimators', () => {
  it('RLOO compares with the mean of the others', () => {
    expectClose(looAdvantages([1, 0, 0, 0], [7, 7, 7, 7]), [1, -1 / 3, -1 / 3, -1 / 3], 1e-12);
    expectClose(looAdvantages([1, 1, 0, 3, 5], [0, 0, 0, 1, 2]), [0.5, 0.5, -1, 0, 0], 1e-12);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 9 }), (rewards) => {
        const got = looAdvantages(rewards, rewards.map(() => 1));
        const total = rewards.reduce((a, b) => a + b, 0);
        expectClose(got, rewards.map((r) => r - (total - r) / (rewards.length - 1)), 1e-12);
      }),
      { seed: 3, numRuns: 60 },
    );
  });

  it('all give a NaN reward 0 and stay finite', () => {
    for (const id of ADVANTAGE_ESTIMATORS) {
      const estimator = ESTIMATORS[id];
      if (estimator.unit === 'token') continue;
      const got = estimator.estimate({ rewards: [1, NaN, 0, 0, 1, 1], groups: [0, 0, 0, 0, 1, 1], valueLogits: [0, 0, 0, 1, 1, 1] });
      expect([got[1], got.every(Number.isFinite)], id).toEqual([0, true]);
    }
    expect(new Set(OBJECTIVES.map((o) => o.advantageEstimator)).size).toBeGreaterThan(4);
  });

  it('know which rows can teach nothing', () => {
    const groups = [0, 0, 1, 1, 2, 2];
    const rewards = [1, 1, 0, 1, NaN, 0];
    expect(Array.from(deadRows(rewards, groups))).toEqual([1, 1, 0, 0, 1, 1]);
    groupAdvantages(rewards, groups).forEach((a, i) => expect(a === 0).toBe(deadRows(rewards, groups)[i] === 1));
  });
});

describe('soft overlong penalty', () => {
  it('is that of the golden table, and 0 when off', () => {
    for (const [label, want] of Object.entries(golden['overlong M=20 C=4'])) expectClose(softOverlongPenalty(Number(label.slice(2)), 20, 4), want, 1e-12, label);
    expect([softOverlongPenalty(20, 20, 0), softOverlongPenalty(16, 20, 4)]).toEqual([0, 0]);
  });
});

describe('importance weights of a sampler that is not the old policy', () => {
  const batch = randomBatch({ seed: 4, lengths: [4, 7], spread: 0.3, segments: 'random', advantages: [1, -1] });
  const constant = (x: number) => batch.mask.map((row) => new Float64Array(row.length).fill(x));

  it('scale every coefficient and the loss, and nothing else', () => {
    const plain = evaluateObjective(getObjective('dapo'), batch);
    const halved = evaluateObjective(getObjective('dapo'), { ...batch, importance: { applied: constant(0.5), whole: constant(0.5) } });
    expectClose(halved.loss, plain.loss / 2, 1e-14);
    halved.coefficients.forEach((row, i) => expectClose(row, plain.coefficients[i].map((c) => c / 2), 1e-14));
    expect(halved.clipped).toEqual(plain.clipped);
  });

  it('are charted as the share that truncation and masking left', () => {
    const kept = (applied: number, whole: number) => computeMetrics(getObjective('grpo'), { ...batch, importance: { applied: constant(applied), whole: constant(whole) } }).weightKept;
    expectClose([computeMetrics(getObjective('grpo'), batch).weightKept, kept(0.7, 0.7), kept(2, 8), kept(0, 3), kept(0, 0)], [1, 1, 0.25, 0, 1], 1e-12);
  });
});
