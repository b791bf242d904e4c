import { describe, expect, it } from 'vitest';
import { baseOf, compileTokenLoss, computeMetrics, evaluateObjective, getObjective, isMixable, mixtureId, mixtureOf, OBJECTIVES, withLevels } from '../../src/objectives';
import golden from '../fixtures/objectives.json';
import { expectClose } from '../helpers/expectClose';
import { randomBatch } from '../helpers/lossBatch';
import { MIXTURES } from '../helpers/mixtures';

const batch = randomBatch({ seed: 31, lengths: [1, 2, 17, 9], spread: 0.7, segments: 'random', advantages: [1, -1.2, 0.4, -2] });
const SAME_BAND = { clipLow: 0.1, clipHigh: 0.15 };

describe('one level for ratio and clip', () => {
  it.each([
    ['grpo@sequence', 'gspo'],
    ['gspo@token', 'grpo'],
    ['gspo@segment', 'lpo'],
    ['lpo@sequence', 'gspo'],
    ['sppo@segment', 'lpo'],
    ['gspoToken@token', 'grpo'],
    ['ppo@sequence', 'gspoToken'],
    ['drGrpo@sequence', 'gspo'],
  ])('%s is %s: the same numbers and the same shader', (id, other) => {
    for (const hyper of [SAME_BAND, { ...SAME_BAND, dualClip: 1.5, beta: 0.1 }]) {
      for (const mode of ['seq-mean-token-mean', 'token-mean'] as const) {
        expect(evaluateObjective(getObjective(id), batch, hyper, mode)).toEqual(evaluateObjective(getObjective(other), batch, hyper, mode));
      }
    }
    expect(compileTokenLoss(getObjective(id)).wgsl).toBe(compileTokenLoss(getObjective(other)).wgsl);
  });

  it('keeps what the base says of the rest', () => {
    const { lossAggMode, advantageEstimator, hyperparameters, importanceSamplingLevel, caveat, title } = getObjective('sppo@sequence');
    expect([lossAggMode, advantageEstimator, importanceSamplingLevel, title]).toEqual(['token-mean', 'sequenceLevel', 'sequence', 'SPPO, sequence ratio']);
    expect(hyperparameters.map((h) => [h.name, h.default])).toEqual([['clipLow', 0.01], ['clipHigh', 0.01], ['dualClip', 3], ['beta', 0]]);
    expect(caveat).toMatch(/our extension, not a published method/);
    // The entropy scale belongs to the subsentence's band.
    expect(getObjective('sspo@token').hyperparameters.map((h) => h.name)).toEqual(['clipLow', 'clipHigh', 'dualClip', 'beta']);
    expect(getObjective('sspo@token/segment').hyperparameters.map((h) => h.name)).toContain('entropyScaleLow');
  });
});

/** Loss and coefficients of a mixture with two levels, by loops of this test: mean over answers of mean over tokens, no KL. */
function byHand(ratioLevel: string, clipLevel: string, { clipLow, clipHigh, dualClip }: { clipLow: number; clipHigh: number; dualClip: number }) {
  let loss = 0;
  const coefficients = batch.mask.map((mask, i) => {
    const at = Array.from(mask, (_, t) => t).filter((t) => mask[t]);
    const delta = (t: number) => batch.newLogp[i][t] - batch.oldLogp[i][t];
    const unit = (level: string, t: number) => (level === 'token' ? [t] : level === 'sequence' ? at : at.filter((u) => batch.segments[i][u] === batch.segments[i][t]));
    const ratio = (level: string, t: number) => Math.exp(unit(level, t).reduce((sum, u) => sum + delta(u), 0) / unit(level, t).length);
    return Array.from(mask, (m, t) => {
      if (!m) return 0;
      const [a, r, judged] = [batch.advantages[i][t], ratio(ratioLevel, t), ratio(clipLevel, t)];
      const isCut = (a > 0 && judged > 1 + clipHigh) || (a < 0 && judged < 1 - clipLow);
      const isDual = a < 0 && dualClip > 0 && r > dualClip;
      const w = 1 / batch.mask.length / at.length;
      loss += w * (isDual ? -dualClip * a : -r * a);
      return isCut || isDual ? 0 : -w * r * a;
    });
  });
  return { loss, coefficients };
}

describe('two levels', () => {
  const cases = ['token', 'segment', 'sequence'].flatMap((ratio) => ['token', 'segment', 'sequence'].filter((clip) => clip !== ratio).map((clip) => [ratio, clip] as const));
  it.each(cases)('ratio per %s, clip per %s: a token is cut by the one and weighs by the other', (ratio, clip) => {
    const objective = getObjective(`grpo@${ratio}/${clip}`);
    let [cut, kept] = [0, 0];
    for (const hyper of [{ clipLow: 0.1, clipHigh: 0.15, dualClip: 0 }, { clipLow: 0.05, clipHigh: 0.02, dualClip: 1.2 }]) {
      const got = evaluateObjective(objective, batch, hyper, 'seq-mean-token-mean');
      const want = byHand(ratio, clip, hyper);
      expectClose(got.loss, want.loss, 1e-12);
      got.coefficients.forEach((row, i) => expectClose(row, want.coefficients[i], 1e-12));
      got.clipped.forEach((row, i) => row.forEach((flag, t) => expect(flag === 1).toBe(batch.mask[i][t] === 1 && want.coefficients[i][t] === 0)));
      cut += got.clipped.flatMap((row) => [...row]).filter(Boolean).length;
      kept += got.coefficients.flatMap((row) => [...row]).filter((c) => c !== 0).length;
    }
    expect(cut).toBeGreaterThan(5);
    expect(kept).toBeGreaterThan(5);
    expect([objective.importanceSamplingLevel, objective.isClippedSurrogate]).toEqual([clip, false]);
  });
});

describe('two levels on the golden fixture, worked out from its printed ratios', () => {
  const A = golden.fixture;
  const fixture = { oldLogp: A.old, newLogp: A.new, mask: A.mask, segments: A.seg, advantages: A.adv.map((a) => Array<number>(A.mask[0].length).fill(a)) };
  it.each([
    // The answer with A > 0 has s = 1.133148 < 1.14 and is kept; that with A < 0 has .951229 < .97 and is cut. Tokens weigh r / (2 |y|).
    ['grpo@token/sequence', 'seq-mean-token-mean', { clipLow: 0.03, clipHigh: 0.14 }, -0.077985, [-0.168732, -0.113105, -0.13273, -0.158906, 0, 0, 0]],
    // Subsentences 1.105171 and 1.161834 are cut above 1.1; .904837 and 1.051271 stay.
    ['grpo@token/segment', 'seq-mean-token-mean', { clipLow: 0.1, clipHigh: 0.1 }, -0.077985, [0, 0, 0, 0, 0.106271, 0.214004, 0.175212]],
    // And a dual clip of 1.2 takes the token with r = 1.284025, whose loss stands at 1.2.
    ['grpo@token/segment', 'seq-mean-token-mean', { clipLow: 0.1, clipHigh: 0.1, dualClip: 1.2 }, -0.09199, [0, 0, 0, 0, 0.106271, 0, 0.175212]],
    // Tokens 1.349859, 1.271249 above 1.2 and .637628 below .8 are cut; the others weigh s / 7.
    ['grpo@sequence/token', 'token-mean', { clipLow: 0.2, clipHigh: 0.2 }, -0.239844, [0, -0.161878, -0.161878, 0, 0, 0.13589, 0.13589]],
    // The same tokens are cut; the others weigh the ratio of their subsentence over 7.
    ['gspo@segment/token', 'token-mean', { clipLow: 0.2, clipHigh: 0.2 }, -0.239009, [0, -0.157882, -0.165976, 0, 0, 0.129262, 0.150182]],
  ] as const)('%s, %s, %j', (id, mode, hyper, loss, coefficients) => {
    const got = evaluateObjective(getObjective(id), fixture, hyper, mode);
    expectClose(got.loss, loss, 1e-6);
    expectClose(got.coefficients.flatMap((row, i) => [...row].filter((_, t) => A.mask[i][t])), coefficients, 1e-6);
  });
});

describe('what is measured of two levels', () => {
  it('counts the clip at its level, and weighs the gradient by the ratio that weighs the advantage', () => {
    const objective = getObjective('grpo@token/sequence');
    const metrics = computeMetrics(objective, batch, { hyper: SAME_BAND });
    const own = metrics.levels.sequence;
    expect(own.widths).toEqual({ low: 0.1, high: 0.15 });
    expect(metrics.clippedTokens).toBe(own.binding.tokens.both);
    let [cut, all] = [0, 0];
    batch.mask.forEach((mask, i) => {
      const at = Array.from(mask, (_, t) => t).filter((t) => mask[t]);
      const delta = (t: number) => batch.newLogp[i][t] - batch.oldLogp[i][t];
      const s = Math.exp(at.reduce((sum, t) => sum + delta(t), 0) / at.length);
      for (const t of at) {
        const a = batch.advantages[i][t];
        const weight = (Math.abs(a) / at.length / 4) * Math.min(Math.exp(delta(t)), 5) * (1 - Math.exp(batch.newLogp[i][t]));
        all += weight;
        if ((a > 0 && s > 1.15) || (a < 0 && s < 0.9)) cut += weight;
      }
    });
    expect(cut).toBeGreaterThan(0);
    expectClose(metrics.gradientClipped, cut / all, 1e-12);
    // verl counts a dual clip of token ratios only.
    const dual = computeMetrics(getObjective('grpo@sequence/token'), batch, { hyper: { ...SAME_BAND, dualClip: 1.1 } });
    expect(dual.aliases['actor/pg_clipfrac_lower']).toBe(0);
  });
});

describe('levels given beside an id', () => {
  it.each([
    ['grpo', { ratioLevel: 'sequence' }, 'grpo@sequence/token'],
    ['grpo', { clipLevel: 'segment' }, 'grpo@token/segment'],
    ['grpo', { ratioLevel: 'sequence', clipLevel: 'sequence' }, 'grpo@sequence'],
    ['grpo@segment/sequence', { ratioLevel: 'own' }, 'grpo@token/sequence'],
    ['grpo@segment', { ratioLevel: 'own', clipLevel: 'own' }, 'grpo'],
    ['cispo', {}, 'cispo'],
  ])('%s with %j is %s', (id, levels, want) => {
    expect(withLevels(id, levels)).toBe(want);
  });

  it('are refused where there are none to set, or none of that name', () => {
    expect(() => withLevels('cispo', { ratioLevel: 'token' })).toThrow(/levels of CISPO cannot be set/);
    expect(() => withLevels('grpo', { clipLevel: 'word' })).toThrow(/clipLevel: “word” is no level/);
    expect(() => withLevels('grpo', { clipLevel: null })).toThrow(/no level/);
    expect(() => withLevels('nobody', { clipLevel: 'token' })).toThrow(/no objective/);
  });
});

describe('ids of mixtures', () => {
  it('say base and levels, and give back the base where the levels are its own', () => {
    expect(mixtureOf('sppo@sequence')).toMatchObject({ base: { id: 'sppo' }, ratioLevel: 'sequence', clipLevel: 'sequence' });
    expect(mixtureOf('grpo')).toMatchObject({ ratioLevel: 'token', clipLevel: 'token' });
    expect(getObjective('grpo@token')).toBe(getObjective('grpo'));
    expect(getObjective('gspo@sequence/sequence')).toBe(getObjective('gspo'));
    expect(getObjective('grpo@segment/segment').id).toBe('grpo@segment');
    expect([baseOf('grpo@segment/token'), baseOf('cispo'), baseOf('custom:1')]).toEqual(['grpo', 'cispo', 'custom:1']);
    for (const objective of MIXTURES) {
      const mixture = mixtureOf(objective.id);
      expect(mixture && mixtureId(mixture.base, mixture.ratioLevel, mixture.clipLevel)).toBe(objective.id);
      expect(getObjective(objective.id)).toBe(objective);
    }
  });

  it.each(['cispo@token', 'gmpo@sequence', 'dcpo@segment', 'grpo@', 'grpo@word', 'grpo@token/', 'grpo@token/segment/sequence', 'grpo@segment@token', 'nobody@token', '@token', 'grpo@__proto__'])('%s is none', (id) => {
    expect(mixtureOf(id)).toBeNull();
    expect(() => getObjective(id)).toThrow(/no objective/);
  });

  it('exist for the clipped surrogates with a plain band', () => {
    const mixable = OBJECTIVES.filter(isMixable).map((o) => o.id);
    expect(mixable).toEqual(expect.arrayContaining(['grpo', 'gspo', 'sspo', 'sppo', 'ppo', 'lpo', 'drGrpo', 'dapo', 'gspoToken']));
    expect(['gmpo', 'cispo', 'dcpo', 'sapo', 'reinforce', 'rft'].filter((id) => mixable.includes(id))).toEqual([]);
  });
});
