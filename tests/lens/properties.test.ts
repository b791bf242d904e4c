import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIP_STATES, icicleOf, LensSession, lensSettingsOf, moveToken, segmentsOf, startsOf, type LensSettings, type LensSource, type MatchResult } from '../../src/lens';
import { EPSILON_GRID } from '../../src/lens/curves';
import { computeMetrics, getObjective, OBJECTIVES } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

const SETTINGS = { seed: 20250817, numRuns: 25 };
/** f64 sums over some hundred tokens. */
const ROUNDING = 1e-12;
const DECK = ['grpo', 'sspo', 'lpo', 'gspo', 'sppo', 'ppo', 'dapo', 'drGrpo', 'gspoToken', 'sppo@segment', 'grpo@token/sequence', 'sppo@sequence/token', 'sspo@token/segment'];

const sources = fc
  .record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    lengths: fc.array(fc.integer({ min: 1, max: 33 }), { minLength: 1, maxLength: 8 }),
    spread: fc.constantFrom(1e-3, 0.05, 0.6, 2),
    segments: fc.constantFrom('one' as const, 'each' as const, 'random' as const),
    advantages: fc.constantFrom([1, -0.7, 0, 1.6, -1], [1, -1], [0.5]),
    exact: fc.boolean(),
  })
  .map(({ exact, ...options }) => recordOf(randomBatch(options), 'grpo', { exact }));
const widths = fc.double({ min: -5, max: 0.5, noNaN: true }).map((x) => 10 ** x);

const base = (source: LensSource): LensSettings => lensSettingsOf(source.record.config);
const withWidths = (settings: LensSettings, id: string, low: number, high: number): LensSettings => ({ ...settings, overrides: { [id]: { low, high } } });
const tokensOf = (source: LensSource) => source.record.completions.reduce((sum, row) => sum + row.tokens.length, 0);

describe('clipped share over epsilon', () => {
  it('never grows with epsilon', () => {
    fc.assert(
      fc.property(sources, (source) => {
        for (const { objective, tokens, gradient, epsilon } of new LensSession(source).answer(base(source), { curves: true }).curves ?? []) {
          expect(epsilon).toBe(EPSILON_GRID);
          for (let i = 1; i < tokens.length; i++) {
            if (!(tokens[i] <= tokens[i - 1] && gradient[i] <= gradient[i - 1])) throw new Error(`${objective} rises at ${epsilon[i]}`);
          }
        }
      }),
      SETTINGS,
    );
  });

  it('is the fraction that the table counts at that width, for every objective with such a band', () => {
    const drawn = new Set<string>();
    fc.assert(
      fc.property(sources, widths, fc.nat(EPSILON_GRID.length - 1), fc.boolean(), (source, high, i, hasDual) => {
        const session = new LensSession(source);
        const settings: LensSettings = { ...base(source), dualClip: hasDual ? 1.3 : 0 };
        const objectives = [...new Set([...OBJECTIVES.map((o) => o.id), ...DECK])];
        const curves = session.answer(settings, { curves: true, objectives }).curves ?? [];
        for (const curve of curves) {
          drawn.add(curve.objective);
          const at = (low: number, up: number) => session.answer(withWidths(settings, curve.objective, low, up), { table: true, objectives: [curve.objective] }).table?.[0].metrics;
          const onGrid = at(EPSILON_GRID[i], EPSILON_GRID[i]);
          expect(curve.tokens[i]).toBe(onGrid?.clippedTokens);
          expectClose(curve.gradient[i], onGrid?.gradientClipped as number, ROUNDING, curve.objective);
          const low = Math.min(1, high / 1.7);
          const mark = session.answer(withWidths(settings, curve.objective, low, high), { curves: true, objectives: [curve.objective] }).curves?.[0].marks.find((m) => m.kind === 'current');
          expect(mark?.tokens).toBe(at(low, high)?.clippedTokens);
          expectClose(mark?.gradient as number, at(low, high)?.gradientClipped as number, ROUNDING, curve.objective);
        }
      }),
      { ...SETTINGS, numRuns: 12 },
    );
    expect([...drawn]).toEqual(expect.arrayContaining([...DECK]));
    expect(['gmpo', 'cispo', 'dcpo', 'sapo', 'reinforce', 'rft'].filter((id) => drawn.has(id))).toEqual([]);
  });

  it('marks the paper’s, the sized and the borrowed width of GSPO: both papers’ claims on one picture', () => {
    const source = recordOf(randomBatch({ seed: 4, lengths: Array.from({ length: 64 }, (_, i) => 16 + (i % 24)), spread: 0.12, segments: 'random', advantages: [1, -1] }));
    const [gspo, grpo] = new LensSession(source).answer(base(source), { curves: true, objectives: ['gspo', 'grpo'] }).curves ?? [];
    const mark = (kind: string) => gspo.marks.find((m) => m.kind === kind);
    expect([mark('paper')?.low, mark('paper')?.high, mark('sized')?.low, mark('borrowed')?.high]).toEqual([3e-4, 4e-4, 0.01, 0.2]);
    expectClose(mark('paper')?.epsilon as number, Math.sqrt(12e-8), ROUNDING);
    // The GSPO paper's picture (it clips far more than GRPO) and SSPO's (it clips nothing) differ by epsilon alone.
    const grpoInForce = grpo.marks.find((m) => m.kind === 'current')?.tokens ?? NaN;
    expect(mark('paper')?.tokens).toBeGreaterThan(0.4);
    expect(mark('paper')?.tokens).toBeGreaterThan(10 * grpoInForce);
    expect(mark('borrowed')?.tokens).toBe(0);
    expect([gspo.count, gspo.live]).toEqual([tokensOf(source), tokensOf(source)]);
  });
});

describe('match', () => {
  const request = (target: number, quantity: 'clippedTokens' | 'clippedGradient' = 'clippedTokens', shape: 'symmetric' | 'keepRatio' = 'symmetric') => ({ target, quantity, shape });
  const counted = (source: LensSource, settings: LensSettings, { objective, widths: w }: MatchResult) =>
    new LensSession(source).answer(withWidths(settings, objective, w.low, w.high), { table: true, objectives: [objective] }).table?.[0].metrics;

  it('reports what the table then counts', () => {
    fc.assert(
      fc.property(sources, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('clippedTokens' as const, 'clippedGradient' as const), fc.constantFrom('symmetric' as const, 'keepRatio' as const), (source, target, quantity, shape) => {
        const settings = base(source);
        for (const result of new LensSession(source).answer(settings, { match: { ...request(target, quantity, shape), objectives: DECK } }).match ?? []) {
          const metrics = counted(source, settings, result);
          expectClose(result.achieved, (quantity === 'clippedTokens' ? metrics?.clippedTokens : metrics?.gradientClipped) as number, ROUNDING, result.objective);
          expect(result.tokens).toBe(Math.round((metrics?.clippedTokens as number) * tokensOf(source)));
          if (shape === 'symmetric') expect(result.widths.low).toBe(Math.min(1, result.widths.high));
        }
      }),
      SETTINGS,
    );
  });

  it('agrees to one token where single tokens can be let go, and comes as near as whole units allow elsewhere', () => {
    fc.assert(
      fc.property(sources, fc.double({ min: 0, max: 1, noNaN: true }), (source, part) => {
        const settings: LensSettings = { ...base(source), dualClip: 0 };
        const session = new LensSession(source);
        const n = tokensOf(source);
        // What some width can reach at all: tokens whose ratio lies on the side where the clip acts.
        const most = session.answer(withWidths(settings, 'grpo', 1e-6, 1e-6), { table: true, objectives: ['grpo'] }).table?.[0].metrics.clippedTokens ?? 0;
        const target = part * most;
        for (const result of session.answer(settings, { match: { ...request(target), objectives: DECK } }).match ?? []) {
          const { narrower, wider } = result.nextTokens;
          const miss = Math.abs(result.tokens - target * n);
          // No other width does better: its neighbours on both sides are no nearer.
          if (wider !== null) expect(Math.abs(wider - target * n)).toBeGreaterThanOrEqual(miss - 1e-9);
          if (narrower !== null) expect(Math.abs(narrower - target * n)).toBeGreaterThanOrEqual(miss - 1e-9);
          if (wider !== null) expect(wider).toBeLessThan(result.tokens);
          if (narrower !== null) expect(narrower).toBeGreaterThanOrEqual(result.tokens);
          if (result.objective === 'grpo') {
            const step = Math.max(1, (narrower ?? result.tokens) - result.tokens, result.tokens - (wider ?? result.tokens));
            expect(miss).toBeLessThanOrEqual(step);
          }
        }
      }),
      { ...SETTINGS, numRuns: 60 },
    );
  });

  it('token level and one subsentence per token: matched fractions agree to one token, for every target', () => {
    const source = recordOf(randomBatch({ seed: 21, lengths: [12, 30, 25, 8, 17, 33], spread: 0.7, segments: 'each', advantages: [1, -1] }), 'grpo', { exact: true });
    const settings: LensSettings = { ...base(source), dualClip: 0 };
    const n = tokensOf(source);
    const session = new LensSession(source);
    for (const target of [0, 0.01, 0.02, 0.1, 0.25, 0.4]) {
      const match = session.answer(settings, { match: { ...request(target), objectives: ['grpo', 'sppo', 'sspo', 'lpo'] } }).match ?? [];
      expect(match).toHaveLength(4);
      const tokens = match.map((result) => Math.round((counted(source, settings, result)?.clippedTokens as number) * n));
      for (const count of tokens) expect(Math.abs(count - target * n)).toBeLessThanOrEqual(0.5 + 1e-9);
      expect(Math.max(...tokens) - Math.min(...tokens)).toBeLessThanOrEqual(1);
    }
  });

  it('sequence level moves by whole responses: the nearest of all reachable counts, found by trying every one', () => {
    const lengths = [12, 30, 25, 8, 17, 33, 5, 21];
    const source = recordOf(randomBatch({ seed: 22, lengths, spread: 0.7, segments: 'random', advantages: [1, -1] }), 'grpo', { exact: true });
    const settings = base(source);
    const session = new LensSession(source);
    const reachable = new Set<number>();
    for (let e = -6; e <= 1; e += 0.01) reachable.add(session.answer(withWidths(settings, 'gspo', Math.min(1, 10 ** e), 10 ** e), { table: true, objectives: ['gspo'] }).table?.[0].metrics.clippedTokens ?? NaN);
    expect(reachable.size).toBeGreaterThan(3);
    for (const target of [0, 0.05, 0.2, 0.33, 0.5, 1]) {
      const [result] = session.answer(settings, { match: { ...request(target), objectives: ['gspo'] } }).match ?? [];
      const best = Math.min(...[...reachable].map((share) => Math.abs(share - target)));
      expectClose(Math.abs(result.achieved - target), best, ROUNDING, `target ${target}`);
    }
  });

  it('keeps low over high when asked to', () => {
    const source = recordOf(randomBatch({ seed: 23, lengths: [30, 30, 30], spread: 0.5, segments: 'random', advantages: [1, -1] }));
    const settings: LensSettings = { ...base(source), widths: { token: { low: 0.2, high: 0.28 }, segment: { low: 0.03, high: 0.03 }, sequence: { low: 3e-4, high: 4e-4 } } };
    for (const { objective, widths: w } of new LensSession(source).answer(settings, { match: { ...request(0.1, 'clippedTokens', 'keepRatio'), objectives: ['grpo', 'gspo'] } }).match ?? []) {
      expectClose(w.low / w.high, objective === 'grpo' ? 0.2 / 0.28 : 0.75, ROUNDING, objective);
    }
  });

  it('bisects bands that are no plain 1 ± epsilon (GMPO, DCPO)', () => {
    const source = recordOf(randomBatch({ seed: 24, lengths: [30, 30, 30, 30], spread: 0.7, segments: 'random', advantages: [1, -1] }), 'grpo', { exact: true });
    const settings = base(source);
    const n = tokensOf(source);
    const match = new LensSession(source).answer(settings, { match: { ...request(0.05), objectives: ['gmpo', 'dcpo', 'cispo'] } }).match ?? [];
    expect(match.map((result) => result.objective)).toEqual(['gmpo', 'dcpo']);
    for (const result of match) {
      expect(Math.abs(result.tokens - 0.05 * n), result.objective).toBeLessThanOrEqual(1);
      expectClose(result.achieved, counted(source, settings, result)?.clippedTokens as number, ROUNDING, result.objective);
    }
  });

  it('leaves out objectives without widths', () => {
    const source = recordOf(randomBatch({ seed: 25, lengths: [9, 9], spread: 0.5, segments: 'random', advantages: [1, -1] }));
    const ids = (new LensSession(source).answer(base(source), { match: request(0.1) }).match ?? []).map((result) => result.objective);
    const withBand = OBJECTIVES.filter((o) => o.hyperparameters.some((h) => h.name === 'clipHigh')).map((o) => o.id);
    expect(ids).toEqual(withBand);
  });
});

describe('levels meet', () => {
  const shares = (source: LensSource, settings: LensSettings, id: string, w: { low: number; high: number }) => {
    const { table, columns } = new LensSession(source).answer({ ...withWidths(settings, id, w.low, w.high), lossAggMode: 'token-mean', dualClip: 0, entropyScaleLow: 1, entropyScaleHigh: 1 }, { table: true, columns: true, objectives: [id] });
    const row = table?.[0];
    return { state: columns?.objectives[id].state, coefficient: columns?.objectives[id].coefficient, clipped: row?.metrics.clippedTokens, gradient: row?.metrics.gradientClipped, cosine: row?.cosine, ess: row?.own.ess, outside: row?.own.outside };
  };

  it('one subsentence per response is the sequence level', () => {
    fc.assert(
      fc.property(sources, widths, (source, width) => {
        const settings: LensSettings = { ...base(source), rule: { kind: 'whole' } };
        const w = { low: Math.min(1, width), high: width };
        expect(shares(source, settings, 'lpo', w)).toEqual(shares(source, settings, 'gspoToken', w));
        expect(shares(source, settings, 'sspo', w)).toEqual(shares(source, settings, 'lpo', w));
      }),
      SETTINGS,
    );
  });

  it('one token per subsentence is the token level', () => {
    fc.assert(
      fc.property(sources, widths, (source, width) => {
        const settings: LensSettings = { ...base(source), rule: { kind: 'everyN', n: 1 } };
        const w = { low: Math.min(1, width), high: width };
        expect(shares(source, settings, 'lpo', w)).toEqual(shares(source, settings, 'grpo', w));
      }),
      SETTINGS,
    );
  });

  it('the icicle shows each unit once, and every level carries the same log mass', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const { columns } = new LensSession(source).answer(base(source), { columns: true });
        source.record.completions.forEach((row, i) => {
          const icicle = icicleOf(source, i, base(source), { token: 'grpo', segment: 'lpo', sequence: 'gspo' });
          if (!icicle) throw new Error(`no icicle for ${i}`);
          expect(icicle.token.map((cell) => [cell.start, cell.end])).toEqual(row.tokens.map((_, t) => [t, t + 1]));
          expect([icicle.segment[0].start, icicle.segment.at(-1)?.end, icicle.sequence.start, icicle.sequence.end]).toEqual([0, row.tokens.length, 0, row.tokens.length]);
          expect(icicle.segment.slice(1).map((cell) => cell.start)).toEqual(startsOf(segmentsOf(source, base(source))[i]));
          // The same verdicts as the columns of the whole batch.
          for (const cell of [...icicle.token, ...icicle.segment, icicle.sequence]) {
            const verdict = columns?.objectives[icicle.objectives[cell.level]];
            const at = (columns?.rowStart[i] ?? 0) + cell.start;
            expect([cell.state, cell.low, cell.high, cell.logRatio]).toEqual([CLIP_STATES[verdict?.state[at] ?? -1], verdict?.low[at], verdict?.high[at], verdict?.logRatio[at]]);
          }
          const mass = (cells: readonly { start: number; end: number; logRatio: number }[]) => cells.reduce((sum, cell) => sum + (cell.end - cell.start) * cell.logRatio, 0);
          expectClose([mass(icicle.segment), mass([icicle.sequence])], [mass(icicle.token), mass(icicle.token)], 1e-10, 'log mass');
        });
      }),
      SETTINGS,
    );
  });
});

describe('a token under the hand', () => {
  const addressed = fc.tuple(sources, fc.nat(), fc.nat(), fc.double({ min: -3, max: 3, noNaN: true })).map(([source, r, t, by]) => {
    const completion = r % source.record.completions.length;
    return { source, completion, token: t % source.record.completions[completion].tokens.length, by };
  });

  it('moving it by x moves its subsentence by x/length and its sequence by x/|y|, and no other unit', () => {
    fc.assert(
      fc.property(addressed, ({ source, completion, token, by }) => {
        const move = moveToken(source, completion, token, by, base(source), ['grpo', 'sspo', 'gspo']);
        if (!move) throw new Error('the token was not found');
        const segments = segmentsOf(source, base(source))[completion];
        const length = Array.from(segments).filter((k) => k === segments[token]).length;
        expect(move.lengths).toEqual({ token: 1, segment: length, sequence: segments.length });
        for (const level of ['token', 'segment', 'sequence'] as const) {
          expectClose(move.after.logRatio[level] - move.before.logRatio[level], by / move.lengths[level], 1e-12, level);
        }
      }),
      SETTINGS,
    );
  });

  it('the icicle with a moved token is the icicle of the batch in which it stands there', () => {
    fc.assert(
      fc.property(addressed, ({ source, completion, token, by }) => {
        const leaders = { token: 'grpo', segment: 'sspo', sequence: 'gspo' };
        const moved = structuredClone(source);
        const row = moved.record.completions[completion];
        row.newLogp = Float64Array.from(row.newLogp, (x, t) => (t === token ? x + by : x)) as unknown as Float32Array;
        expect(icicleOf(source, completion, base(source), leaders, { token, by })).toEqual(icicleOf(moved, completion, base(source), leaders));
      }),
      SETTINGS,
    );
  });

  it('is let go exactly where it is said to be', () => {
    let flips = 0;
    fc.assert(
      fc.property(addressed, ({ source, completion, token }) => {
        const settings = base(source);
        const rest = moveToken(source, completion, token, 0, settings);
        for (const { objective, by, tokenLogRatio } of rest?.letsGo ?? []) {
          if (by === null || tokenLogRatio === null) continue;
          const { advantage } = source.record.completions[completion];
          // A little before the edge the gradient stays, a little past it is cut; past is up for A > 0, down for A < 0.
          const stateAt = (past: number) => moveToken(source, completion, token, by + past * Math.sign(advantage), settings, [objective])?.after.under[0];
          const length = rest?.lengths[getObjective(objective).importanceSamplingLevel] ?? 1;
          // Beyond the +-20 guard nothing moves any more, and GMPO's mean is not the ratio that it clips.
          if (Math.abs((rest?.before.logRatio[getObjective(objective).importanceSamplingLevel] ?? 0) + by / length) > 19) continue;
          const before = stateAt(-1e-9 * length);
          const after = stateAt(1e-9 * length);
          expect([objective, before?.state.startsWith('clipped')]).toEqual([objective, false]);
          expect([objective, after?.state]).toEqual([objective, advantage > 0 ? 'clippedHigh' : 'clippedLow']);
          expect(after?.coefficient).toBe(0);
          flips++;
        }
      }),
      SETTINGS,
    );
    expect(flips).toBeGreaterThan(100);
  });

  it('is not found outside the batch, nor moved by NaN', () => {
    const source = recordOf(randomBatch({ seed: 1, lengths: [3], spread: 0.1, segments: 'one', advantages: [1] }));
    const settings = base(source);
    for (const [completion, token, by] of [[1, 0, 0], [0, 3, 0], [0, -1, 0], [0, 0.5, 0], [0, 0, NaN], [0, 0, Infinity]]) {
      expect(moveToken(source, completion, token, by, settings)).toBeNull();
    }
  });
});

describe('kept work', () => {
  it('gives the same answers as a fresh session, whatever was asked before', () => {
    const drawnSettings = fc.record({
      w: widths,
      rule: fc.constantFrom<LensSettings['rule']>({ kind: 'stored' }, { kind: 'everyN', n: 3 }, { kind: 'whole' }),
      lossAggMode: fc.constantFrom<LensSettings['lossAggMode']>('own', 'token-mean'),
      dualClip: fc.constantFrom<LensSettings['dualClip']>('own', 0, 2),
      minibatch: fc.constantFrom(null, 1),
      kappa: fc.constantFrom(0.5, 1),
    });
    fc.assert(
      fc.property(sources, fc.array(drawnSettings, { minLength: 2, maxLength: 4 }), (source, drawn) => {
        const session = new LensSession(source);
        for (const { w, rule, lossAggMode, dualClip, minibatch, kappa } of drawn) {
          const b = base(source);
          const settings: LensSettings = { ...b, widths: { ...b.widths, token: { low: Math.min(1, w), high: w }, sequence: { low: Math.min(1, w), high: w } }, rule, lossAggMode, dualClip, minibatch, entropyScaleLow: kappa };
          const wanted = { columns: true, table: true, variants: true, curves: true, scaling: true, match: { ...{ target: 0.1, quantity: 'clippedTokens' as const, shape: 'symmetric' as const }, objectives: ['grpo', 'sspo'] }, objectives: ['grpo', 'sspo', 'gspo', 'reinforce'] };
          const { ms: _a, ...again } = session.answer(settings, wanted);
          const { ms: _b, ...fresh } = new LensSession(source).answer(settings, wanted);
          expect(again).toEqual(fresh);
        }
      }),
      { ...SETTINGS, numRuns: 12 },
    );
  });

  it('does not touch the record', () => {
    const source = recordOf(randomBatch({ seed: 2, lengths: [9, 12], spread: 0.3, segments: 'random', advantages: [1, -1] }));
    const before = structuredClone(source);
    new LensSession(source).answer(base(source), { columns: true, table: true, variants: true, curves: true, scaling: true, match: { target: 0.1, quantity: 'clippedGradient', shape: 'symmetric' } });
    moveToken(source, 0, 1, 0.5, base(source));
    expect(source).toEqual(before);
  });
});

describe('SPPO on a batch with V(prompt)', () => {
  it('takes R - V, the others the stored advantage', () => {
    const source = recordOf(randomBatch({ seed: 6, lengths: [12, 20], spread: 0.8, segments: 'random', advantages: [1, -1] }), 'grpo', { exact: true });
    source.record.completions.forEach((row, i) => (row.value = i === 0 ? 0.25 : 0.5));
    const { table } = new LensSession(source).answer({ ...base(source), dualClip: 0 }, { table: true, objectives: ['sppo'] });
    const batch = randomBatch({ seed: 6, lengths: [12, 20], spread: 0.8, segments: 'random', advantages: [0.75, -0.5] });
    const want = computeMetrics(getObjective('sppo'), { ...batch, meanEntropy: source.record.meanEntropy }, { hyper: { dualClip: 0 } });
    expect(table?.[0].metrics.loss).toBe(want.loss);
    expect(table?.[0].metrics.gradientClipped).toBe(want.gradientClipped);
    expect(table?.[0].note).toBeNull();
  });
});
