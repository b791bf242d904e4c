import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeMetrics, evaluateObjective, getObjective, type LossAggMode, type ObjectiveBatch } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { randomBatch } from '../helpers/lossBatch';
import { LISTED_AND_MIXED } from '../helpers/mixtures';

const SETTINGS = { seed: 20240611, numRuns: 20 };
/** f64 sums over some hundred tokens in another order. */
const ROUNDING = 1e-12;

/** Random batches by a seed of our own, so that a failure shrinks to a seed and lengths. */
const batches = fc
  .record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    lengths: fc.array(fc.integer({ min: 1, max: 33 }), { minLength: 1, maxLength: 6 }),
    spread: fc.constantFrom(1e-3, 0.1, 0.6, 2),
    segments: fc.constantFrom('one' as const, 'each' as const, 'random' as const),
  })
  .map((options) => randomBatch({ ...options, advantages: [1, -0.7, 0, 1.6, -1] }));

const modes = fc.constantFrom<LossAggMode>('seq-mean-token-mean', 'token-mean', 'seq-mean-token-sum', 'constant');

const mapRows = (batch: ObjectiveBatch, map: <T>(rows: T[]) => T[]): ObjectiveBatch => ({
  ...batch,
  oldLogp: map(batch.oldLogp),
  newLogp: map(batch.newLogp),
  mask: map(batch.mask),
  segments: map(batch.segments),
  advantages: map(batch.advantages),
  ...(batch.entropy && { entropy: map(batch.entropy) }),
  ...(batch.refLogp && { refLogp: map(batch.refLogp) }),
});

describe.each(LISTED_AND_MIXED.map((o) => [o.id, o] as const))('properties of %s', (_id, self) => {
  const objectives = fc.constant(self);

  it('what stands in pads does not matter, NaN and Infinity included', () => {
    fc.assert(
      fc.property(objectives, modes, batches, fc.constantFrom(0, 1e300, -Infinity, NaN), (objective, mode, batch, garbage) => {
        const clean = (rows: ArrayLike<number>[]) => rows.map((row, i) => Float64Array.from(row, (v, t) => (batch.mask[i][t] ? v : garbage)));
        const other: ObjectiveBatch = {
          ...batch,
          oldLogp: clean(batch.oldLogp),
          newLogp: clean(batch.newLogp),
          advantages: clean(batch.advantages),
          segments: clean(batch.segments),
          entropy: clean(batch.entropy ?? []),
          refLogp: clean(batch.refLogp ?? []),
        };
        const hyper = { beta: 0.1 };
        const result = evaluateObjective(objective, batch, hyper, mode);
        expect(result).toEqual(evaluateObjective(objective, other, hyper, mode));
        expect(computeMetrics(objective, batch, { hyper, lossAggMode: mode })).toEqual(computeMetrics(objective, other, { hyper, lossAggMode: mode }));
        expect(Number.isFinite(result.loss)).toBe(true);
        result.coefficients.forEach((row, i) => row.forEach((c, t) => expect(batch.mask[i][t] ? Number.isFinite(c) : Object.is(c, 0)).toBe(true)));
      }),
      SETTINGS,
    );
  });

  it('a masked token inside a response counts as if it were not there', () => {
    fc.assert(
      fc.property(objectives, modes, batches, fc.integer({ min: 2, max: 4 }), (objective, mode, batch, every) => {
        // The first token of a row always stays, so that no row is empty.
        const mask = batch.mask.map((row) => Array.from(row, (m, t) => (m && (t === 0 || t % every) ? 1 : 0)));
        const kept = <T extends ArrayLike<number>>(rows: T[]) => rows.map((row, i) => Array.from(row).filter((_, t) => mask[i][t]));
        const without: ObjectiveBatch = {
          ...batch,
          ...{ oldLogp: kept(batch.oldLogp), newLogp: kept(batch.newLogp), mask: kept(mask), segments: kept(batch.segments), advantages: kept(batch.advantages) },
          ...{ entropy: kept(batch.entropy ?? []), refLogp: kept(batch.refLogp ?? []) },
        };
        const a = evaluateObjective(objective, { ...batch, mask }, { beta: 0.1 }, mode);
        const b = evaluateObjective(objective, without, { beta: 0.1 }, mode);
        expect(a.loss).toBe(b.loss);
        expect(kept(a.coefficients)).toEqual(b.coefficients.map((row) => Array.from(row)));
        expect(kept(a.ratios.segment)).toEqual(b.ratios.segment.map((row) => Array.from(row)));
      }),
      SETTINGS,
    );
  });

  it('the order of rows does not matter', () => {
    fc.assert(
      fc.property(objectives, modes, batches, (objective, mode, batch) => {
        const forward = evaluateObjective(objective, batch, {}, mode);
        const backward = evaluateObjective(objective, mapRows(batch, (rows) => [...rows].reverse()), {}, mode);
        expectClose(backward.loss, forward.loss, ROUNDING * Math.max(1, Math.abs(forward.loss)));
        forward.coefficients.forEach((row, i) => expectClose(backward.coefficients[batch.mask.length - 1 - i], row, ROUNDING * Math.max(1, ...row.map(Math.abs))));
      }),
      SETTINGS,
    );
  });

  it('micro-batches add up to the batch when they are told the whole count', () => {
    fc.assert(
      fc.property(objectives, modes, batches, (objective, mode, batch) => {
        const totalTokens = batch.mask.reduce((n, row) => n + Array.from(row).filter(Boolean).length, 0);
        const metrics = computeMetrics(objective, batch);
        const whole = evaluateObjective(objective, batch, {}, mode);
        const parts = batch.mask.map((_, i) => {
          const one = mapRows(batch, (rows) => [rows[i]]);
          return evaluateObjective(objective, { ...one, totalTokens, totalSequences: batch.mask.length, meanEntropy: metrics.entropy as number }, {}, mode);
        });
        expectClose(parts.reduce((s, p) => s + p.loss, 0), whole.loss, ROUNDING * Math.max(1, Math.abs(whole.loss)));
        whole.coefficients.forEach((row, i) => expectClose(parts[i].coefficients[0], row, ROUNDING * Math.max(1, ...row.map(Math.abs))));
      }),
      SETTINGS,
    );
  });

  it('on-policy it is REINFORCE with baseline: c = -A w, nothing clipped', () => {
    fc.assert(
      fc.property(objectives, batches, (objective, batch) => {
        const result = evaluateObjective(objective, { ...batch, newLogp: batch.oldLogp }, {}, 'token-mean');
        const N = batch.mask.reduce((n, row) => n + Array.from(row).filter(Boolean).length, 0);
        // RFT drops failures; all others are one and the same here.
        const drops = (a: number) => objective.id === 'rft' && a < 0;
        result.coefficients.forEach((row, i) => row.forEach((c, t) => expectClose(c, batch.mask[i][t] && !drops(batch.advantages[i][t]) ? -batch.advantages[i][t] / N : 0, ROUNDING)));
        expect(result.clipped.every((row, i) => row.every((f, t) => f === (batch.mask[i][t] && drops(batch.advantages[i][t]) ? 1 : 0)))).toBe(true);
      }),
      SETTINGS,
    );
  });

  it('the levels share one log mass: sum |S_k| log s_k = |y| log s = sum of token log ratios', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const { ratios } = evaluateObjective(getObjective('grpo'), batch);
        batch.mask.forEach((mask, i) => {
          const at = Array.from(mask, (_, t) => t).filter((t) => mask[t]);
          const mass = (row: ArrayLike<number>) => at.reduce((s, t) => s + Math.log(row[t]), 0);
          expectClose([mass(ratios.segment[i]), at.length * Math.log(ratios.sequence[i])], [mass(ratios.token[i]), mass(ratios.token[i])], 1e-9);
        });
      }),
      SETTINGS,
    );
  });
});

describe('limits of granularity', () => {
  const sameBand = { clipLow: 0.1, clipHigh: 0.15 };
  const unscaled = { ...sameBand, entropyScaleLow: 1, entropyScaleHigh: 1 };

  const agree = (segments: 'one' | 'each', other: string) =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), modes, fc.constantFrom('sspo', 'lpo'), (seed, mode, id) => {
        const batch = randomBatch({ seed, lengths: [1, 4, 17], spread: 0.5, segments, advantages: [1, -1, 0.4] });
        const a = evaluateObjective(getObjective(id), batch, id === 'sspo' ? unscaled : sameBand, mode);
        const b = evaluateObjective(getObjective(other), batch, sameBand, mode);
        expectClose(a.loss, b.loss, ROUNDING);
        a.coefficients.forEach((row, i) => expectClose(row, b.coefficients[i], ROUNDING));
        expect(a.clipped).toEqual(b.clipped);
      }),
      SETTINGS,
    );

  it('one segment per response is GSPO', () => agree('one', 'gspo'));
  it('one token per segment is GRPO', () => agree('each', 'grpo'));

  it('SSPO without entropy, or with factors 1, is LPO', () => {
    const batch = randomBatch({ seed: 5, lengths: [9, 14], spread: 0.1, segments: 'random', advantages: [1, -1] });
    const { entropy: _, ...blind } = batch;
    expect(evaluateObjective(getObjective('sspo'), blind)).toEqual(evaluateObjective(getObjective('lpo'), blind));
    expect(evaluateObjective(getObjective('sspo'), batch, { entropyScaleLow: 1, entropyScaleHigh: 1 })).toEqual(evaluateObjective(getObjective('lpo'), batch));
    expect(evaluateObjective(getObjective('sspo'), batch).clipped).not.toEqual(evaluateObjective(getObjective('lpo'), batch).clipped);
  });

  it('an all but deterministic batch turns entropy scaling off', () => {
    const batch = randomBatch({ seed: 5, lengths: [9, 14], spread: 0.4, segments: 'random', advantages: [1, -1] });
    const still = { ...batch, entropy: batch.mask.map((row) => Array.from(row, (_, t) => t * 1e-9)) };
    expect(evaluateObjective(getObjective('sspo'), still)).toEqual(evaluateObjective(getObjective('lpo'), still));
  });
});

describe('denominators', () => {
  it('a row without tokens counts for nothing, and an empty batch divides by nothing', () => {
    const batch = randomBatch({ seed: 2, lengths: [4, 6], spread: 0.3, segments: 'random', advantages: [1, -1] });
    const empty = batch.mask.map((row) => new Uint8Array(row.length));
    for (const mode of ['seq-mean-token-mean', 'token-mean', 'seq-mean-token-sum', 'constant'] as const) {
      const alone = evaluateObjective(getObjective('grpo'), mapRows(batch, (rows) => [rows[0]]), {}, mode);
      const beside = evaluateObjective(getObjective('grpo'), { ...batch, mask: [batch.mask[0], empty[1]] }, {}, mode);
      expectClose(beside.loss, alone.loss, ROUNDING, mode);
      expect(beside.ratios.sequence[1]).toBe(1);
      expect(evaluateObjective(getObjective('gspo'), { ...batch, mask: empty }, {}, mode).loss).toBe(0);
    }
  });

  it('asks for what it lacks', () => {
    const { maxTokens: _, refLogp: __, ...batch } = randomBatch({ seed: 2, lengths: [4], spread: 0.3, segments: 'one', advantages: [1] });
    expect(() => evaluateObjective(getObjective('grpo'), batch, {}, 'constant')).toThrow(/maxTokens/);
    expect(() => evaluateObjective(getObjective('grpo'), batch, { beta: 0.1 })).toThrow(/refLogp/);
  });
});
