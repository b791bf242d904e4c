import { describe, expect, it } from 'vitest';
import { baseOf, compileTokenLoss, evaluateObjective, getObjective, isMixable, mixtureId, mixtureOf, OBJECTIVES } from '../../src/objectives';
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
    expect(OBJECTIVES.filter(isMixable).map((o) => o.id)).toEqual(['grpo', 'gspo', 'sspo', 'sppo', 'ppo', 'lpo', 'drGrpo', 'dapo', 'gspoToken']);
  });
});
