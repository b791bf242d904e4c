import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run as evalCommand } from '../../cli/eval';
import { objectivesMarkdown } from '../../cli/objectivesDoc';
import { configToHash, hashToConfig } from '../../src/config/codec';
import { fieldOf } from '../../src/config/fields';
import { hyperparametersOf } from '../../src/config/hyper';
import { findPreset, presetConfig } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { LensSession, lensSettingsOf } from '../../src/lens';
import { compileTokenLoss, getObjective, objectiveTex, OBJECTIVES } from '../../src/objectives';
import { createConfigStore } from '../../src/store/configStore';
import { Trainer } from '../../src/trainer/trainer';
import { FURTHER_OBJECTIVES } from '../../src/ui/panels/objectives';
import { clipSentence } from '../../src/ui/text/words';
import { glyphOf } from '../../src/ui/theme/Glyph';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

/**
 * CONTRIBUTING says that an objective touches one new file and its name in the list. Here is one that no other file has heard of: it takes
 * the place of a listed one in the list, and everything must follow from its definition.
 */
vi.mock('../../src/objectives/defs/rft', async () => {
  const { defineObjective } = await import('../../src/objectives/objective');
  const { hyper, mul } = await import('../../src/objectives/expr');
  const shared = await import('../../src/objectives/defs/shared');
  const surrogate = shared.clippedObjective(shared.tokenCarrying(shared.ratioAt('segment')), shared.logRatioAt('segment'), { low: hyper('clipLow'), high: hyper('clipHigh') });
  return {
    rft: defineObjective({
      ...surrogate,
      id: 'newcomer',
      title: 'Newcomer',
      summary: 'The surrogate of subsentences, weighed. Nobody needs it.',
      caveat: null,
      sources: [{ label: 'None', url: 'https://example.org', note: 'Made up.' }],
      importanceSamplingLevel: 'segment',
      lossAggMode: 'token-mean',
      advantageEstimator: 'leaveOneOut',
      hyperparameters: [
        shared.clipWidth('low', 0.04, 'subsentence', { paper: 0.04 }), shared.clipWidth('high', 0.06, 'subsentence', { paper: 0.06 }), shared.dualClip(3), shared.beta,
        { name: 'gain', label: 'Gain', help: 'What the loss is multiplied by.', unit: 'dimensionless', tex: 'g', default: 2, min: 0, max: 10, step: 0.5 },
      ],
      loss: mul(hyper('gain'), surrogate.loss),
    }),
  };
});

describe('an objective that only its own file knows', () => {
  it('is in the list, the controls, the address and the documents', () => {
    expect(OBJECTIVES.map((o) => o.id)).toContain('newcomer');
    expect(FURTHER_OBJECTIVES).toContainEqual({ value: 'newcomer', label: 'Newcomer', group: 'ratio per subsentence' });
    expect(fieldOf('newcomer.gain')).toMatchObject({ label: 'Gain (Newcomer)', default: 2, min: 0, max: 10 });
    expect(glyphOf('newcomer')).toBe('segment');
    expect(clipSentence(presetConfig('newcomer', 'small'))).toMatch(/^Newcomer clips subsentences/);
    expect(objectivesMarkdown()).toContain('Newcomer');
    const config = { ...presetConfig('newcomer', 'small'), 'newcomer.gain': 3.5 };
    expect(hashToConfig(configToHash(config), 'small').config).toEqual(config);
    expect(hyperparametersOf(config)).toEqual({ clipLow: 0.04, clipHigh: 0.06, dualClip: 3, beta: 0, gain: 3.5 });
  });

  it('has a preset made from its definition, and brings along what it is when it is chosen', () => {
    expect(findPreset('newcomer')).toMatchObject({ title: 'Newcomer', description: 'The surrogate of subsentences, weighed.' });
    expect(validateConfig(presetConfig('newcomer', 'main')).problems).toEqual([]);
    const store = createConfigStore(presetConfig('grpo', 'small'));
    store.getState().chooseObjective('newcomer');
    expect(store.getState().config).toMatchObject({ objective: 'newcomer', lossAggMode: 'token-mean', clipLowSegment: 0.04, clipHighSegment: 0.06, dualClip: 3, clipHighToken: 0.2 });
    expect(store.getState().notices).toEqual([]);
  });

  it('has a formula and a kernel', () => {
    expect(objectiveTex(getObjective('newcomer')).tokenLoss).toContain('g\\,');
    expect(compileTokenLoss(getObjective('newcomer'))).toMatchObject({ id: 'newcomer', slots: { gain: 4 } });
  });

  it('trains', async () => {
    const engine = new FakeEngine({ initial: habit });
    const trainer = new Trainer(engine, fakeTask, { ...presetConfig('newcomer', 'small'), prompts: 8, learningRate: 0.05 }, { loadReference: () => Promise.reject(new Error('not expected')) });
    const first = await trainer.runStep();
    for (let i = 0; i < 20; i++) await trainer.runStep();
    const last = await trainer.runStep();
    expect(first.report.objective).toBe('newcomer');
    expect(engine.updates[0].options.hyper).toMatchObject({ gain: 2, clipHigh: 0.06 });
    expect(last.report.reward).toBeGreaterThan(first.report.reward + 0.2);
  });

  it('stands in the lens, with its curve and the widths that it names', () => {
    const source = recordOf(randomBatch({ seed: 3, lengths: [6, 9, 4], spread: 0.4, segments: 'random', advantages: [1, -1, 0.5] }), 'newcomer', { config: { preset: 'newcomer', clipLowSegment: 0.04, clipHighSegment: 0.06 } });
    const { table, curves } = new LensSession(source).answer(lensSettingsOf(source.record.config), { table: true, curves: true, objectives: ['newcomer'] });
    expect(table?.map((row) => [row.objective, row.level, row.widths])).toEqual([['newcomer', 'segment', { low: 0.04, high: 0.06 }]]);
    expect(curves?.map((curve) => [curve.objective, curve.marks.map((mark) => [mark.kind, mark.low, mark.high]).slice(0, 2)])).toEqual([['newcomer', [['paper', 0.04, 0.06], ['current', 0.04, 0.06]]]]);
  });

  it('is evaluated on the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcomer-'));
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      const file = join(folder, 'batch.json');
      writeFileSync(file, JSON.stringify({ oldLogp: [[-1, -1]], newLogp: [[-1, -1]], mask: [[1, 1]], segments: [[0, 1]], advantages: [1] }));
      await evalCommand(['--objective', 'newcomer', '--input', file]);
      expect(JSON.parse(String(written.mock.calls[0][0]))).toMatchObject({ objective: 'newcomer', lossAggMode: 'token-mean', loss: -2, coefficients: [[-1, -1]] });
    } finally {
      written.mockRestore();
      rmSync(folder, { recursive: true });
    }
  });
});
