import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run as evalCommand } from '../../cli/eval';
import { LensSession, lensSettingsOf, TABLE_COLUMNS, tableColumn, type LensSettings, type LensSource } from '../../src/lens';
import { computeMetrics, DEFAULT_WIDTHS, evaluateObjective, getObjective, type ObjectiveBatch } from '../../src/objectives';
import { expectClose } from '../helpers/expectClose';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';
import { LISTED_AND_MIXED } from '../helpers/mixtures';
import { fixtureA, GOLDEN_CASES, type GoldenCase } from '../objectives/goldenCases';

const SIX_DIGITS = 1e-6;

/** Lens settings that give an objective these hyperparameters. */
function settingsFor(source: LensSource, c: Pick<GoldenCase, 'objective' | 'hyper' | 'mode'>): LensSettings {
  const value = (name: string) => c.hyper[name] ?? c.objective.hyperparameters.find((h) => h.name === name)?.default ?? 0;
  return {
    ...lensSettingsOf(source.record.config),
    overrides: { [c.objective.id]: { low: value('clipLow'), high: value('clipHigh') } },
    entropyScaleLow: c.objective.id === 'sspo' ? value('entropyScaleLow') : 0.5,
    entropyScaleHigh: c.objective.id === 'sspo' ? value('entropyScaleHigh') : 2,
    lossAggMode: c.mode,
    dualClip: value('dualClip'),
    beta: 0,
  };
}

const answerOf = (source: LensSource, settings: LensSettings, objective: string) => {
  const { table, columns } = new LensSession(source).answer(settings, { table: true, columns: true, objectives: [objective] });
  const row = table?.[0];
  const verdict = columns?.objectives[objective];
  if (!row || !verdict || !columns) throw new Error('the lens gave no table');
  return { row, verdict, columns };
};

/** Bounds that are not clip widths (CISPO's) and advantages that differ along a row have no place in the lens. */
const CASES = GOLDEN_CASES.filter(
  (c) => !('cap' in c.hyper) && c.batch.advantages.every((row, r) => new Set(Array.from(row).filter((_, t) => c.batch.mask[r][t])).size === 1),
);

describe('golden vectors through the lens', () => {
  it('covers every objective of the deck', () => {
    expect(CASES.length).toBeGreaterThan(30);
    for (const id of ['grpo', 'sspo', 'lpo', 'gspo', 'sppo']) expect(CASES.some((c) => c.objective.id === id && c.loss !== undefined)).toBe(true);
  });

  it.each(CASES.map((c) => [c.name, c] as const))('%s', (_, c) => {
    const source = recordOf(c.batch, c.objective.id, { exact: true });
    const { row, verdict, columns } = answerOf(source, settingsFor(source, c), c.objective.id);
    if (c.loss !== undefined) expectClose(row.metrics.loss, c.loss, SIX_DIGITS, 'loss');
    const flat = (rows: ArrayLike<number>[]) => rows.flatMap((values, r) => Array.from(values).filter((_v, t) => c.batch.mask[r][t]));
    expectClose(verdict.coefficient, flat(c.coefficients), SIX_DIGITS, 'coefficients');
    if (c.clipped && c.objective.clipEffect === 'cut') expect(Array.from(verdict.state, (s) => (s >= 3 ? 1 : 0))).toEqual(flat(c.clipped));
    expect(columns.count).toBe(flat(c.batch.mask).length);
    const { binding = {} } = c;
    if (binding.units !== undefined) expectClose(tableColumn('binding.units.both').value(row) as number, binding.units, SIX_DIGITS, 'units');
    if (binding.tokens !== undefined) expectClose([tableColumn('binding.tokens.both').value(row) as number, row.metrics.clippedTokens], [binding.tokens, binding.tokens], SIX_DIGITS, 'tokens');
    if (binding.low !== undefined) expectClose(tableColumn('binding.tokens.low').value(row) as number, binding.low, SIX_DIGITS, 'low');
    if (binding.high !== undefined) expectClose(tableColumn('binding.tokens.high').value(row) as number, binding.high, SIX_DIGITS, 'high');
    if (c.outsideTokens !== undefined) expectClose(tableColumn('outside.tokens.both').value(row) as number, c.outsideTokens, SIX_DIGITS, 'outside');
  });
});

describe('one implementation', () => {
  it.each(LISTED_AND_MIXED.map((o) => [o.id, o] as const))('%s: the row is what computeMetrics says, to the last bit', (id, objective) => {
    const batch = randomBatch({ seed: 5, lengths: [4, 17, 9, 30], spread: 0.6, segments: 'random', advantages: [1, -1, 0, 0.5] });
    const source = recordOf(batch, id, { exact: true });
    const settings = lensSettingsOf(source.record.config);
    const { row } = answerOf(source, settings, id);
    const hyper: Record<string, number> = Object.fromEntries(objective.hyperparameters.map((h) => [h.name, h.default]));
    if (row.widths) Object.assign(hyper, { clipLow: row.widths.low, clipHigh: row.widths.high });
    if ('dualClip' in hyper) hyper.dualClip = row.dualClip;
    const plain: ObjectiveBatch = { ...batch, meanEntropy: source.record.meanEntropy };
    const { levels, ...rest } = computeMetrics(objective, plain, { hyper, lossAggMode: row.lossAggMode, widths: settings.widths });
    expect(row.metrics).toEqual(rest);
    expect(row.own).toEqual(levels[objective.importanceSamplingLevel]);
    expect(row.maxRatio).toBe(Math.exp(row.own.logRatio.max));
  });

  it('equals what the eval command prints for fixture A', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ratioscope-lens-'));
    const printed: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    try {
      const file = join(folder, 'a.json');
      writeFileSync(file, JSON.stringify({ ...fixtureA(), advantages: [1, -1] }));
      for (const id of ['grpo', 'gspo', 'sspo', 'sppo', 'lpo']) await evalCommand(['--objective', id, '--input', file]);
    } finally {
      write.mockRestore();
      rmSync(folder, { recursive: true, force: true });
    }
    const results = printed.map((text) => JSON.parse(text) as { objective: string; hyperparameters: Record<string, number>; coefficients: number[][]; metrics: Record<string, unknown> & { levels: Record<string, unknown> } });
    expect(results.map((r) => r.objective)).toEqual(['grpo', 'gspo', 'sspo', 'sppo', 'lpo']);
    for (const { objective: id, hyperparameters, coefficients, metrics } of results) {
      const source = recordOf(fixtureA(), id, { exact: true });
      const objective = getObjective(id);
      const settings: LensSettings = { ...settingsFor(source, { objective, hyper: hyperparameters, mode: objective.lossAggMode }), widths: DEFAULT_WIDTHS };
      const { row, verdict } = answerOf(source, settings, id);
      const { levels, kl: _kl, ess, ...rest } = metrics;
      expect(JSON.parse(JSON.stringify(row.metrics)), id).toEqual(rest);
      expect(JSON.parse(JSON.stringify(row.own)), id).toEqual(levels[row.level]);
      expect(row.own.ess).toBe(ess);
      expect(Array.from(verdict.coefficient, (x) => x + 0), id).toEqual(coefficients.flatMap((c, r) => c.filter((_, t) => fixtureA().mask[r][t])));
    }
  });
});

describe('names of TRL and verl', () => {
  it('stand beside the number that those libraries log under them', () => {
    const source = recordOf(randomBatch({ seed: 11, lengths: [6, 19, 12, 25], spread: 0.8, segments: 'random', advantages: [1, -1] }), 'grpo');
    const { table } = new LensSession(source).answer(lensSettingsOf(source.record.config), { table: true, objectives: ['grpo', 'sspo', 'gspo', 'sppo', 'lpo'] });
    let named = 0;
    for (const row of table ?? []) {
      for (const column of TABLE_COLUMNS) {
        for (const name of [column.trl(row), column.verl(row)]) {
          if (name === null) continue;
          named++;
          expect(row.metrics.aliases[name.replace(/ \(.*\)$/, '')], `${row.objective} ${column.id} ${name}`).toBe(column.value(row));
        }
      }
    }
    expect(named).toBeGreaterThan(40);
  });

  it('TRL counts sequences under GSPO, verl tokens', () => {
    const source = recordOf(fixtureA(), 'gspo');
    const { row } = answerOf(source, lensSettingsOf(source.record.config), 'gspo');
    expect(tableColumn('binding.units.both').trl(row)).toBe('clip_ratio/region_mean');
    expect(tableColumn('binding.tokens.both').trl(row)).toBeNull();
    expect(tableColumn('binding.tokens.both').verl(row)).toBe('actor/pg_clipfrac');
    expect(tableColumn('binding.units.both').verl(row)).toBeNull();
  });

  it('every column is defined in words', () => {
    expect(new Set(TABLE_COLUMNS.map((c) => c.id)).size).toBe(TABLE_COLUMNS.length);
    for (const { definition, title } of TABLE_COLUMNS) expect([definition.endsWith('.'), title.length > 0]).toEqual([true, true]);
  });
});

describe('cosine to the unclipped coefficients', () => {
  it('by hand on fixture A', () => {
    const source = recordOf(fixtureA(), 'grpo', { exact: true });
    const { row } = answerOf(source, lensSettingsOf(source.record.config), 'grpo');
    const clipped = evaluateObjective(getObjective('grpo'), fixtureA()).coefficients.flatMap((r) => Array.from(r));
    const free = evaluateObjective(getObjective('grpo'), fixtureA(), { clipLow: 10, clipHigh: 10 }).coefficients.flatMap((r) => Array.from(r));
    const dot = (a: number[], b: number[]) => a.reduce((s, x, i) => s + x * b[i], 0);
    expectClose(row.cosine as number, dot(clipped, free) / Math.sqrt(dot(clipped, clipped) * dot(free, free)), 1e-12);
  });

  it('is 1 when nothing is clipped and none when everything is', () => {
    const source = recordOf(fixtureA(), 'gspo', { exact: true });
    const base = lensSettingsOf(source.record.config);
    const at = (low: number, high: number) => answerOf(source, { ...base, overrides: { gspo: { low, high } } }, 'gspo').row.cosine;
    expectClose(at(0.2, 0.2) as number, 1, 1e-12);
    expect(at(3e-4, 4e-4)).toBeNull();
  });
});

describe('rows beside those in force', () => {
  it('show the paper’s, the sized and the borrowed width, whatever the sliders say', () => {
    const source = recordOf(fixtureA(), 'grpo');
    const session = new LensSession(source);
    const base = lensSettingsOf(source.record.config);
    const wanted = { table: true, variants: true, objectives: ['grpo', 'sspo', 'gspo', 'dapo'] };
    const of = (settings: LensSettings) => (session.answer(settings, wanted).table ?? []).filter((row) => row.variant !== null);
    const rows = of(base);
    expect(rows.map((row) => [row.objective, row.variant, row.widths?.low, row.widths?.high])).toEqual([
      ['grpo', 'paper', 0.2, 0.2],
      ['sspo', 'paper', 0.03, 0.03],
      ['sspo', 'sized', 0.05, 0.05],
      ['sspo', 'borrowed', 0.2, 0.2],
      ['gspo', 'paper', 3e-4, 4e-4],
      ['gspo', 'sized', 0.01, 0.01],
      ['gspo', 'borrowed', 0.2, 0.2],
      ['dapo', 'paper', 0.2, 0.28],
    ]);
    // S1: at the paper's width both sequences of fixture A are clipped; at the borrowed one neither.
    expect(rows.filter((row) => row.objective === 'gspo').map((row) => row.metrics.clippedTokens)).toEqual([1, 1, 0]);
    expect(of({ ...base, widths: { ...base.widths, sequence: { low: 0.5, high: 0.5 } } })).toEqual(rows);
  });
});

describe('settings that a batch cannot answer', () => {
  const source = recordOf(fixtureA(), 'grpo');
  const base = lensSettingsOf(source.record.config);

  it('an update that trained on no row', () => {
    expect(() => new LensSession(source).answer({ ...base, minibatch: 9 }, { table: true })).toThrow('No answer of this batch was last trained on by update 9.');
  });

  it('a constant divisor without a budget: asked for it is refused, as an own rule it gives the same shares', () => {
    const unknown = { ...source, maxTokens: null };
    expect(() => new LensSession(unknown).answer({ ...base, lossAggMode: 'constant' }, { table: true, objectives: ['grpo'] })).toThrow('maxTokens is missing');
    const [known] = new LensSession(source).answer(base, { table: true, objectives: ['drGrpo'] }).table ?? [];
    const [own] = new LensSession(unknown).answer(base, { table: true, objectives: ['drGrpo'] }).table ?? [];
    expect([known.lossAggMode, own.lossAggMode]).toEqual(['constant', 'seq-mean-token-sum']);
    expectClose([own.metrics.gradientClipped, own.cosine as number, own.metrics.clippedTokens], [known.metrics.gradientClipped, known.cosine as number, known.metrics.clippedTokens], 1e-12);
  });

  it('KL without reference log-probs is left out', () => {
    const [row] = new LensSession(source).answer({ ...base, beta: 0.5 }, { table: true, objectives: ['grpo'] }).table ?? [];
    expect(row.metrics.refK3).toBeNull();
    expectClose(row.metrics.loss, -0.023285, SIX_DIGITS);
  });
});
