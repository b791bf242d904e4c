import { describe, expect, it } from 'vitest';
import { presetConfig, PRESETS } from '../../src/config/presets';
import { createConfigStore } from '../../src/store/configStore';
import { levelOf, sparklines } from '../../src/store/selectors';
import { createRunStore } from '../../src/store/runStore';
import { OBJECTIVES } from '../../src/objectives';
import { DECK_OBJECTIVES, deckObjectives, FURTHER_OBJECTIVES } from '../../src/ui/panels/objectives';
import { glyphOf } from '../../src/ui/theme/Glyph';
import { clipSentence, edgeText } from '../../src/ui/text/words';

describe('choosing an objective in the page', () => {
  it('every objective has one place: the deck, LPO beside SSPO, or the list behind it', () => {
    const places = [...DECK_OBJECTIVES.map((o) => o.id), 'lpo', ...FURTHER_OBJECTIVES.map((o) => o.value)];
    expect([...places].sort()).toEqual(OBJECTIVES.map((o) => o.id).sort());
    expect(FURTHER_OBJECTIVES.map((o) => o.value)).toContain('gspoToken');
  });

  it('each wears the mark of its ratio’s level', () => {
    for (const { id, importanceSamplingLevel } of OBJECTIVES) {
      expect(glyphOf(id)).toBe(id === 'sppo' ? 'sppo' : importanceSamplingLevel);
      expect(levelOf(id)).toBe(importanceSamplingLevel);
    }
  });

  it('brings its own preset along from a calm one, and only what makes it what it is from any other', () => {
    for (const { value } of FURTHER_OBJECTIVES) {
      const store = createConfigStore(presetConfig('grpo', 'small'));
      store.getState().chooseObjective(value);
      expect(store.getState().config).toEqual(presetConfig(value, 'small'));
      expect(store.getState().notices, value).toEqual([]);
    }
    const store = createConfigStore(presetConfig('squeeze', 'small'));
    store.getState().chooseObjective('dapo');
    expect(store.getState().config).toEqual({ ...presetConfig('squeeze', 'small'), objective: 'dapo', clipHighToken: 0.28, lossAggMode: 'token-mean', dynamicSampling: true, refillGroups: true, overlongCache: 8 });
    store.getState().chooseObjective('grpo');
    expect(store.getState().config).toEqual(presetConfig('squeeze', 'small'));
    expect(OBJECTIVES.every((o) => PRESETS.some((p) => p.id === o.id && p.patch.objective === o.id))).toBe(true);
  });

  it('a mixture set by hand keeps every other setting, stands under its base in the deck, and ends where an objective is chosen', () => {
    const store = createConfigStore(presetConfig('squeeze', 'small'));
    const { chooseObjective } = store.getState();
    chooseObjective('grpo@sequence/token');
    expect(store.getState().config).toEqual({ ...presetConfig('squeeze', 'small'), objective: 'grpo@sequence/token' });
    expect(deckObjectives('grpo@sequence/token').map((o) => [o.id, o.line === 'mixed by hand'])).toEqual([['grpo', true], ['sspo', false], ['gspo', false], ['sppo', false]]);
    expect(deckObjectives('lpo@token').map((o) => o.id)).toContain('lpo');
    expect([glyphOf('grpo@sequence/token'), glyphOf('grpo@token/segment'), glyphOf('sppo@sequence')]).toEqual(['token', 'segment', 'sppo']);
    expect(levelOf('grpo@token/segment')).toBe('segment');
    chooseObjective('gspo');
    expect(store.getState().config).toEqual({ ...presetConfig('squeeze', 'small'), objective: 'gspo' });
    store.getState().choosePreset('sppo-sequence');
    expect(store.getState().config).toMatchObject({ objective: 'sppo@sequence', groupSize: 1, dualClip: 3 });
    chooseObjective('sppo');
    expect(store.getState().config).toMatchObject({ objective: 'sppo', groupSize: 1, dualClip: 3 });
    expect(store.getState().notices).toEqual([]);
  });

  it('says what its clip does', () => {
    const words = (id: string) => clipSentence(presetConfig(id, 'small'));
    expect([words('dapo'), words('gspoToken'), words('cispo'), words('sapo')].map((w) => w.split(';')[0])).toEqual([
      'DAPO clips tokens', 'GSPO-token clips sequences', 'CISPO cuts no token, it holds the weight of those outside', 'SAPO clips nothing',
    ]);
    expect([edgeText(Infinity), edgeText(-Infinity), edgeText(1.28)]).toEqual(['none', 'none', '1.28']);
  });

  it('charts the weight that a mismatch correction kept', () => {
    const state = createRunStore().getState();
    const ids = (preset: string) => sparklines(state, presetConfig(preset, 'small')).series.map((s) => s.id);
    expect(ids('grpo')).not.toContain('weightKept');
    expect(ids('fp8-truncated')).toContain('weightKept');
  });

  it('charts the prompts drawn while others are drawn in place of dead groups, and those that came before while that matters', () => {
    const state = createRunStore().getState();
    const lines = (preset: string) => sparklines(state, presetConfig(preset, 'small')).series;
    const ids = (preset: string) => lines(preset).map((s) => s.id);
    expect([ids('grpo').includes('drawn'), ids('dapo').includes('drawn'), ids('dcpo').includes('drawn')]).toEqual([false, true, false]);
    expect([ids('grpo').includes('revisited'), ids('dapo').includes('revisited'), ids('dcpo').includes('revisited')]).toEqual([false, false, true]);
    expect(lines('dapo').find((s) => s.id === 'drawn')?.help).toContain('until 16 groups could teach something, at most 64');
    const live = (preset: string) => lines(preset).find((s) => s.id === 'liveGroups')?.help ?? '';
    expect([/advantage 0/.test(live('grpo')), /advantage 0/.test(live('dcpo'))]).toEqual([true, false]);
  });
});
