import { describe, expect, it } from 'vitest';
import { compactBatch, computeMetrics, getObjective, HISTOGRAM_EDGES, histogramBin, quantile, type ObjectiveBatch } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { randomBatch } from '../helpers/lossBatch';
import { fixtureA } from './goldenCases';

const SIX_DIGITS = 1e-6;

describe('names of other libraries: fixture A under each logger (algorithms.md section 9)', () => {
  const aliasesOf = (id: string, hyper: Record<string, number>) => computeMetrics(getObjective(id), fixtureA(), { hyper }).aliases;
  const check = (got: Record<string, number>, want: Record<string, number>) => {
    for (const [name, value] of Object.entries(want)) expectClose(got[name], value, SIX_DIGITS, name);
  };

  it('GRPO .2', () => {
    check(aliasesOf('grpo', {}), {
      'clip_ratio/low_mean': 0.142857,
      'clip_ratio/high_mean': 0.285714,
      'clip_ratio/region_mean': 0.428571,
      'clip_ratio/low_min': 0,
      'clip_ratio/high_max': 0.5,
      'actor/pg_clipfrac': 0.428571,
      'actor/pg_clipfrac_lower': 0,
      'actor/ppo_ratio_clipfrac': 0.571429,
      'actor/ppo_kl': -0.05,
      'policy/approxkl_avg': 0.030621,
      'val/ratio': 1.080101,
    });
    const metrics = computeMetrics(getObjective('grpo'), fixtureA());
    expectClose([metrics.k1, metrics.k3, metrics.levels.token.ess], [-0.05, 0.030101, 0.955698], SIX_DIGITS, 'k1, k3, ess');
  });

  it('DAPO band', () => {
    check(aliasesOf('grpo', { clipHigh: 0.28 }), {
      'clip_ratio/low_mean': 0.142857,
      'clip_ratio/high_mean': 0.142857,
      'clip_ratio/high_max': 0.25,
      'actor/pg_clipfrac': 0.285714,
    });
  });

  it('GSPO .03/.14: TRL counts sequences, verl tokens', () => {
    check(aliasesOf('gspo', { clipLow: 0.03, clipHigh: 0.14 }), {
      'clip_ratio/low_mean': 0.5,
      'clip_ratio/region_mean': 0.5,
      'actor/pg_clipfrac': 0.428571,
      'actor/pg_clipfrac_lower': 0,
    });
  });

  it('GSPO 3e-4/4e-4', () => {
    check(aliasesOf('gspo', {}), {
      'clip_ratio/low_mean': 0.5,
      'clip_ratio/high_mean': 0.5,
      'clip_ratio/region_mean': 1,
      'clip_ratio/low_min': 0,
      'clip_ratio/high_max': 1,
      'actor/pg_clipfrac': 1,
    });
  });

  it('verl counts its dual clip only for A < 0 and beyond c', () => {
    const batch: ObjectiveBatch = { oldLogp: [[-3, -3, -3]], newLogp: [[-1.5, -1.5, -2.9]], mask: [[1, 1, 1]], segments: [[0, 0, 0]], advantages: [[-1, 1, -1]] };
    const { aliases, levels, clippedTokens } = computeMetrics(getObjective('sppo'), batch);
    expectClose(aliases['actor/pg_clipfrac_lower'], 1 / 3, 1e-12);
    expectClose(levels.token.binding.tokens.both, 1 / 3, 1e-12);
    expectClose(clippedTokens, 2 / 3, 1e-12);
  });
});

describe('levels', () => {
  it('are all measured, each with its own band, whichever objective trains', () => {
    const widths = { token: { low: 0.2, high: 0.2 }, segment: { low: 0.1, high: 0.1 }, sequence: { low: 0.03, high: 0.14 } };
    for (const id of ['grpo', 'gspo', 'lpo', 'sppo']) {
      const objective = getObjective(id);
      const own = widths[objective.importanceSamplingLevel];
      const { levels } = computeMetrics(objective, fixtureA(), { hyper: { clipLow: own.low, clipHigh: own.high }, widths });
      // Golden fractions of GRPO .2, SSPO fixed .10 and GSPO .03/.14.
      expectClose([levels.token.binding.units.both, levels.segment.binding.units.both, levels.sequence.binding.units.both], [3 / 7, 0.5, 0.5], 1e-12, id);
      expectClose([levels.segment.binding.tokens.both, levels.sequence.binding.tokens.both], [4 / 7, 3 / 7], 1e-12, id);
      expect([levels.token.units, levels.segment.units, levels.sequence.units]).toEqual([7, 4, 2]);
    }
  });

  it('carry the same log mass (units weighted by length)', () => {
    const batch = randomBatch({ seed: 3, lengths: [1, 2, 33, 12], spread: 0.5, segments: 'random', advantages: [1, -1] });
    const c = compactBatch(batch, 'token-mean');
    const { levels, k1 } = computeMetrics(getObjective('grpo'), batch);
    expectClose(levels.token.logRatio.mean, -k1, 1e-12);
    expect(levels.segment.units).toBeGreaterThan(levels.sequence.units);
    for (let t = 0; t < c.count; t++) expect(c.segStart[t] >= c.seqStart[t] && c.segEnd[t] <= c.seqEnd[t]).toBe(true);
  });

  it('use the entropy-scaled band at the own level of SSPO', () => {
    const { levels } = computeMetrics(getObjective('sspo'), fixtureA(), { hyper: { clipLow: 0.1, clipHigh: 0.1 } });
    expectClose([levels.segment.binding.units.both, levels.segment.binding.tokens.both], [0.25, 2 / 7], 1e-12);
    expect(levels.segment.widths).toEqual({ low: 0.1, high: 0.1 });
  });

  it('live fractions leave dead rows out', () => {
    const a = fixtureA();
    const dead = { ...a, oldLogp: [...a.oldLogp, a.oldLogp[0]], newLogp: [...a.newLogp, a.newLogp[0]], mask: [...a.mask, a.mask[0]], segments: [...a.segments, a.segments[0]] };
    const batch: ObjectiveBatch = { ...dead, entropy: [...(a.entropy ?? []), (a.entropy ?? [])[0]], advantages: [...a.advantages, [0, 0, 0, 0, NaN]] };
    const alone = computeMetrics(getObjective('grpo'), a);
    const diluted = computeMetrics(getObjective('grpo'), batch);
    expectClose(diluted.levels.token.binding.tokens.both, 3 / 11, 1e-12);
    expect(diluted.levels.token.binding.liveTokens).toEqual(alone.levels.token.binding.tokens);
    expect([diluted.liveTokens, diluted.tokens, diluted.levels.sequence.liveUnits]).toEqual([7, 11, 2]);
    expectClose([diluted.clippedLiveTokens, diluted.deadGradient], [3 / 7, 7 / 11], 1e-12);
    expectClose(diluted.gradientClipped, alone.gradientClipped, 1e-12);
  });

  it('a clip that holds weights is not counted over live tokens where it held a dead one', () => {
    const a = fixtureA();
    // With a cap of .2 every weight of fixture A (least ratio .638) is held, also those of the second row, now without an advantage.
    const batch = { ...a, advantages: [a.advantages[0], Array.from(a.advantages[1], () => 0)] };
    const { clippedTokens, clippedLiveTokens, liveTokens } = computeMetrics(getObjective('cispo'), batch, { hyper: { cap: 0.2 } });
    expect([clippedTokens, clippedLiveTokens, liveTokens]).toEqual([1, 1, 4]);
  });

  it('count binding fractions that never rise with the width', () => {
    const batch = randomBatch({ seed: 8, lengths: [5, 12, 20, 33], spread: 1, segments: 'random', advantages: [1, -1, 0.5] });
    for (const id of ['grpo', 'gspo', 'sspo', 'lpo', 'sppo']) {
      const objective = getObjective(id);
      let before = 1;
      for (const width of [0, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 2, 10]) {
        const both = computeMetrics(objective, batch, { hyper: { clipLow: width, clipHigh: width } }).levels[objective.importanceSamplingLevel].binding.tokens.both;
        expect(both, `${id} at ${width}`).toBeLessThanOrEqual(before);
        before = both;
      }
      expect(before, `${id} without a band`).toBe(0);
    }
  });
});

describe('share of gradient and entropy of what is clipped', () => {
  it('by hand on fixture A', () => {
    const { gradientClipped, entropyClipped, entropyKept, entropy, absCoefficientSum, deadGradient } = computeMetrics(getObjective('grpo'), fixtureA());
    const weigh = (logp: number, ratio: number, length: number) => (ratio * (1 - Math.exp(logp))) / (2 * length);
    const row1 = [weigh(-0.9, 1.349859, 4), weigh(-0.8, 0.904837, 4), weigh(-1.94, 1.061837, 4), weigh(-0.16, 1.271249, 4)];
    const row2 = [weigh(-1.35, 0.637628, 3), weigh(-1.35, 1.284025, 3), weigh(-0.25, 1.051271, 3)];
    const all = [...row1, ...row2].reduce((s, x) => s + x, 0);
    expectClose(gradientClipped, (row1[0] + row1[3] + row2[0]) / all, 1e-6);
    expectClose([entropyClipped as number, entropyKept as number, entropy as number], [(2 + 0.1 + 1.2) / 3, (1 + 0.5 + 0.6 + 0.2) / 4, 0.8], 1e-12);
    expectClose([absCoefficientSum, deadGradient], [0.113105 + 0.13273 + 0.214004 + 0.175212, 3 / 7], 3e-6);
  });

  it('caps the ratio at 5 and takes it at the own level', () => {
    const batch: ObjectiveBatch = { oldLogp: [[-9, -1]], newLogp: [[-1, -1]], mask: [[1, 1]], segments: [[0, 1]], advantages: [[1, 1]] };
    // Token ratios e^8 and 1: the first is clipped and weighs 5 of 6.
    expectClose(computeMetrics(getObjective('grpo'), batch).gradientClipped, 5 / 6, 1e-12);
    // One sequence ratio, e^4, for both: everything is clipped.
    expectClose(computeMetrics(getObjective('gspo'), batch).gradientClipped, 1, 1e-12);
  });

  it('is null for the entropy of an empty set', () => {
    const batch = { ...fixtureA(), newLogp: fixtureA().oldLogp };
    const { entropyClipped, gradientClipped, clamped, maxAbsLogRatio } = computeMetrics(getObjective('grpo'), batch);
    expect([entropyClipped, gradientClipped, clamped, maxAbsLogRatio]).toEqual([null, 0, 0, 0]);
  });
});

describe('extremes', () => {
  it('counts log ratios that meet the guard and stays finite', () => {
    const batch: ObjectiveBatch = { oldLogp: [[-1, -100, -1]], newLogp: [[-100, -1, -1.5]], mask: [[1, 1, 1]], segments: [[0, 0, 1]], advantages: [[1, -1, 1]] };
    const metrics = computeMetrics(getObjective('grpo'), batch);
    expect(metrics.clamped).toBe(2);
    expectClose(metrics.maxAbsLogRatio, 99, 1e-12);
    expect(JSON.stringify(metrics)).not.toContain('null,"low"');
    expect([metrics.loss, metrics.k3, metrics.levels.token.ess, metrics.gradientClipped].every(Number.isFinite)).toBe(true);
  });

  it('lets a NaN show instead of hiding it', () => {
    const a = fixtureA();
    const newLogp = a.newLogp.map((row) => Array.from(row));
    newLogp[1][1] = NaN;
    expect(computeMetrics(getObjective('grpo'), { ...a, newLogp }).loss).toBeNaN();
  });
});

describe('histogram and quantiles', () => {
  it('bins ascend, and edges belong to the bin above', () => {
    expect(HISTOGRAM_EDGES.every((edge, i) => i === 0 || edge > HISTOGRAM_EDGES[i - 1])).toBe(true);
    expect([histogramBin(-1e9), histogramBin(0), histogramBin(1e9)]).toEqual([0, HISTOGRAM_EDGES.length / 2, HISTOGRAM_EDGES.length]);
    HISTOGRAM_EDGES.forEach((edge, i) => expect(histogramBin(edge)).toBe(i + 1));
  });

  it('interpolates quantiles between neighbours', () => {
    expectClose([quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.1), quantile([5], 0.9)], [2.5, 1.3, 5], 1e-12);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('adds up to the number of units', () => {
    const batch = randomBatch({ seed: 4, lengths: [9, 30], spread: 2, segments: 'random', advantages: [1] });
    for (const level of Object.values(computeMetrics(getObjective('grpo'), batch).levels)) {
      expect(level.histogram.reduce((s, n) => s + n, 0)).toBe(level.units);
      expect(level.logRatio.min <= level.logRatio.p01 && level.logRatio.p99 <= level.logRatio.max).toBe(true);
    }
  });
});
