import { describe, expect, it } from 'vitest';
import { explainToken, lengthScaling, LensSession, lensSettingsOf, measureSpread, longerUnit, objectiveAtLevel, WINDOW_LENGTHS, worstTokens, lensBatch } from '../../src/lens';
import { Rng } from '../../src/core/rng';
import { compactBatch, OBJECTIVES } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';
import { fixtureA } from '../objectives/goldenCases';

const A = recordOf(fixtureA(), 'grpo', { exact: true });
const settings = lensSettingsOf(A.record.config);

describe('the number behind a token', () => {
  it('fixture A by hand: ratio, edge, branch, coefficient under each objective', () => {
    const first = explainToken(A, 0, 0, settings);
    if (!first) throw new Error('no token there');
    const under = (id: string, e = first) => {
      const found = e.under.find((u) => u.objective === id);
      if (!found) throw new Error(`nothing about ${id}`);
      return found;
    };
    const grpo = under('grpo');
    expectClose([grpo.ratio, grpo.edge, grpo.branches?.plain as number, grpo.branches?.clipped as number], [1.349859, 1.2, 1.349859, 1.2], 1e-6);
    expect([grpo.branches?.winner, grpo.state, grpo.coefficient]).toEqual(['clipped', 'clippedHigh', 0]);
    expectClose(under('gspo').ratio, 1.133148, 1e-6);
    expect([under('gspo').unitTokens, under('sspo').unitTokens, grpo.unitTokens]).toEqual([4, 2, 1]);
    expectClose([first.logRatio.token, first.logRatio.segment, first.logRatio.sequence], [0.3, 0.1, 0.125], 1e-12);
    // P3: H_k 1.5 over .8.
    expectClose(first.segment.entropyRatio, 1.875, 1e-12);
    expect([first.segment.index, first.segment.count, first.segment.start, first.segment.end]).toEqual([0, 2, 0, 2]);
    expect(first.neighbours.map((n) => [n.token, n.text])).toEqual([[0, '0'], [1, '1']]);
    expectClose(first.neighbours[1].coefficients.grpo, -0.113105, 1e-6);
    // A = -1 at r = 1.284: outside, on the side where the gradient stays.
    const up = explainToken(A, 1, 1, settings);
    expect([under('grpo', up ?? first).state, under('grpo', up ?? first).branches?.winner]).toEqual(['keptHigh', 'plain']);
    expectClose(under('grpo', up ?? first).edge, 0.8, 1e-12);
  });

  it('agrees with the whole batch’s coefficients for every token and objective', () => {
    const batch = randomBatch({ seed: 9, lengths: [7, 12, 3], spread: 0.8, segments: 'random', advantages: [1, -1, 0] });
    const source = recordOf(batch, 'grpo', { exact: true });
    const own = lensSettingsOf(source.record.config);
    const { columns } = new LensSession(source).answer(own, { columns: true });
    source.record.completions.forEach((row, r) => {
      row.tokens.forEach((_, t) => {
        for (const u of explainToken(source, r, t, own)?.under ?? []) {
          const all = columns?.objectives[u.objective];
          const at = (columns?.rowStart[r] ?? 0) + t;
          expectClose([u.coefficient, u.logRatio, u.low, u.high].map(finite), [all?.coefficient[at], all?.logRatio[at], all?.low[at], all?.high[at]].map((x) => finite(x as number)), 1e-12, u.objective);
        }
      });
    });
  });

  it('has branches only where the objective is such a surrogate, and leaves KL out of them', () => {
    const batch = randomBatch({ seed: 9, lengths: [7, 12], spread: 0.8, segments: 'random', advantages: [1, -1] });
    const source = recordOf(batch, 'grpo', { exact: true });
    const withKl = { ...lensSettingsOf(source.record.config), beta: 0.3 };
    for (let t = 0; t < 7; t++) {
      const under = explainToken(source, 0, t, withKl)?.under ?? [];
      expect(under.filter((u) => u.branches === null).map((u) => u.objective)).toEqual(expect.arrayContaining(['cispo', 'gmpo', 'sapo', 'reinforce']));
      for (const id of ['grpo', 'gspo', 'sspo', 'lpo', 'sppo', 'dapo']) expect(under.find((u) => u.objective === id)?.branches, id).not.toBeNull();
    }
  });

  it('points nowhere politely', () => {
    for (const [r, t] of [[2, 0], [-1, 0], [0, 4], [0, -1], [0.5, 0], [0, 0.5]]) expect(explainToken(A, r, t, settings)).toBeNull();
    expect(explainToken(A, 0, 0, settings, [])).toBeNull();
  });
});

const finite = (x: number) => Math.min(1e9, Math.max(-1e9, x));

describe('outliers', () => {
  const source = recordOf(randomBatch({ seed: 13, lengths: [20, 15, 30], spread: 1.5, segments: 'random', advantages: [1, -1] }), 'grpo', { exact: true });
  const own = lensSettingsOf(source.record.config);

  it('are the tokens furthest from ratio 1, in order', () => {
    const all = source.record.completions.flatMap((row, completion) => row.tokens.map((_, token) => ({ completion, token, size: Math.abs(row.newLogp[token] - row.oldLogp[token]) })));
    all.sort((a, b) => b.size - a.size);
    expect(worstTokens(lensBatch(source, own), 12).map(({ completion, token }) => ({ completion, token }))).toEqual(all.slice(0, 12).map(({ completion, token }) => ({ completion, token })));
  });

  it('never rank NaN', () => {
    const broken = structuredClone(source);
    broken.record.completions[0].newLogp[3] = NaN;
    expect(worstTokens(lensBatch(broken, own)).every((t) => Number.isFinite(t.logRatio))).toBe(true);
  });

  it('what if the subsentence were longer: the outlier is diluted as 1/length', () => {
    const what = longerUnit(A, 0, 0, 'lpo', settings);
    // Token 0 at .3, its one neighbour at -.1.
    expect([what?.level, what?.actual]).toEqual(['segment', 2]);
    const at = (length: number) => what?.points.find((p) => p.length === length);
    expectClose([at(1)?.logRatio as number, at(2)?.logRatio as number, at(4)?.logRatio as number], [0.3, 0.1, 0], 1e-12);
    expect([at(1)?.state, at(2)?.state, at(4)?.state]).toEqual(['clippedHigh', 'clippedHigh', 'inside']);
    const sequence = longerUnit(A, 1, 0, 'gspo', settings);
    expectClose([sequence?.points.find((p) => p.length === 3)?.logRatio as number, sequence?.points.find((p) => p.length === 6)?.logRatio as number], [-0.05, 0.05], 1e-12);
    expect(longerUnit(A, 5, 0, 'gspo', settings)).toBeNull();
  });
});

describe('spread against length', () => {
  const deltas = (seed: number, rows: number, length: number) => {
    const rng = new Rng(seed);
    const oldLogp = Array.from({ length: rows }, () => Float64Array.from({ length }, () => -2));
    return {
      oldLogp,
      newLogp: oldLogp.map((row) => row.map((x) => x + 0.05 * rng.normal())),
      mask: oldLogp.map((row) => new Uint8Array(row.length).fill(1)),
      segments: oldLogp.map((row) => Uint32Array.from(row, (_, t) => Math.floor(t / 4))),
      advantages: oldLogp.map((row) => row.map(() => 1)),
    };
  };
  const widths = { token: { low: 0.2, high: 0.28 }, segment: { low: 0.03, high: 0.03 }, sequence: { low: 3e-4, high: 4e-4 } };

  it('independent tokens fall with slope -1/2, and each level needs epsilon / sqrt(length)', () => {
    const s = lengthScaling(measureSpread(compactBatch(deltas(5, 256, 48), 'token-mean')), widths);
    expect(s.windows.map((w) => w.length)).toEqual(WINDOW_LENGTHS);
    expect(s.windows.map((w) => w.count)).toEqual(WINDOW_LENGTHS.map((length) => 256 * Math.floor(48 / length)));
    expectClose(s.slope as number, -0.5, 0.03, 'slope');
    s.windows.forEach((w, i) => expectClose(w.sd / s.guide[i].sd, 1, 0.1, `sd at ${w.length}`));
    expectClose([s.levels.token.meanLength, s.levels.segment.meanLength, s.levels.sequence.meanLength], [1, 4, 48], 1e-12);
    expectClose(s.levels.segment.epsilon.high / 0.28, 0.5, 0.03, 'subsentence');
    expectClose(s.levels.sequence.epsilon.low / 0.2, 1 / Math.sqrt(48), 0.02, 'sequence');
    expect(s.levels.token.epsilon).toEqual(widths.token);
  });

  it('tokens that all move alike do not fall at all', () => {
    const batch = deltas(5, 64, 24);
    batch.newLogp = batch.oldLogp.map((row, r) => row.map((x) => x + 0.01 * (r - 31.5)));
    const s = lengthScaling(measureSpread(compactBatch(batch, 'token-mean')), widths);
    expectClose(s.slope as number, 0, 1e-9);
    expectClose(s.levels.sequence.epsilon.high, 0.28, 1e-9);
  });

  it('by hand on fixture A', () => {
    const s = lengthScaling(measureSpread(compactBatch(fixtureA(), 'token-mean')), widths);
    const sd = (x: number[]) => Math.sqrt(x.reduce((q, v) => q + (v - x.reduce((a, b) => a + b, 0) / x.length) ** 2, 0) / x.length);
    expectClose(s.windows.map((w) => w.sd), [sd([0.3, -0.1, 0.06, 0.24, -0.45, 0.25, 0.05]), sd([0.1, 0.15, -0.1])], 1e-12);
    expectClose([s.levels.segment.sd, s.levels.sequence.sd], [sd([0.1, 0.15, -0.1, 0.05]), sd([0.125, -0.05])], 1e-12);
    for (const shares of Object.values(s.histogram.shares)) expectClose(shares.reduce((a, b) => a + b, 0), 1, 1e-12);
  });

  it('on a batch without spread there is no slope, and no epsilon is made up', () => {
    const s = lengthScaling(measureSpread(compactBatch({ ...fixtureA(), newLogp: fixtureA().oldLogp }, 'token-mean')), widths);
    expect([s.slope, s.levels.sequence.epsilon, s.levels.token.sd]).toEqual([null, widths.token, 0]);
  });
});

describe('the objective of a level', () => {
  it('is the one in use at its own level', () => {
    expect(['token', 'segment', 'sequence'].map((level) => objectiveAtLevel(level as 'token', 'lpo'))).toEqual(['grpo', 'lpo', 'gspo']);
    expect(OBJECTIVES.length).toBeGreaterThan(5);
  });
});
