import { describe, expect, test } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { changedFields, changedFromPreset, createConfigStore, pendingFields } from '../../src/store/configStore';

const store = (preset = 'grpo') => createConfigStore(presetConfig(preset, 'small'));

describe('configStore', () => {
  test('clamps a bad value and says so; the rest of the patch is taken', () => {
    const s = store();
    const config = s.getState().patch({ epochs: 1000, temperature: 0.5, nonsense: 1 });
    expect(config.epochs).toBe(8);
    expect(config.temperature).toBe(0.5);
    expect(s.getState().notices).toHaveLength(2);
    s.getState().closeNotice(s.getState().notices[0]!.id);
    expect(s.getState().notices).toHaveLength(1);
  });

  test('a patch that changes nothing keeps the object, so that nothing is sent', () => {
    const s = store();
    const before = s.getState().config;
    s.getState().patch({ epochs: before.epochs });
    expect(s.getState().config).toBe(before);
  });

  test('the same notice is shown once, and never more than four', () => {
    const s = store();
    s.getState().notify(['a', 'a', 'b', 'c', 'd', 'e']);
    s.getState().notify(['e']);
    expect(s.getState().notices.map((notice) => notice.text)).toEqual(['b', 'c', 'd', 'e']);
  });

  test('from an untouched calm preset an objective brings its own preset, with the seed kept', () => {
    const s = store();
    s.getState().patch({ seed: 7, speed: 2 });
    s.getState().chooseObjective('sppo');
    const { config } = s.getState();
    expect(config).toEqual({ ...presetConfig('sppo', 'small'), seed: 7, speed: 2 });
    expect(config.groupSize).toBe(1);
  });

  test('under a stress preset or own changes only the objective moves, and the budget of answers stays', () => {
    const s = store('squeeze');
    s.getState().chooseObjective('gspo');
    expect(changedFields(presetConfig('squeeze', 'small'), s.getState().config)).toEqual(['objective']);
    const touched = store();
    touched.getState().patch({ epochs: 2 });
    touched.getState().chooseObjective('sppo');
    const { epochs, prompts, groupSize } = touched.getState().config;
    expect([epochs, prompts, groupSize]).toEqual([2, 128, 1]);
    touched.getState().chooseObjective('grpo');
    expect([touched.getState().config.prompts, touched.getState().config.groupSize]).toEqual([16, 8]);
    expect(touched.getState().notices).toEqual([]);
  });

  test('a preset resets the experiment but not seed, task, model and speed', () => {
    const s = store();
    s.getState().patch({ seed: 9, speed: 5, learningRate: 1e-3 });
    s.getState().choosePreset('gspo-paper');
    const { config } = s.getState();
    expect([config.seed, config.speed, config.model, config.learningRate, config.clipLowSequence]).toEqual([9, 5, 'small', 4e-4, 3e-4]);
    expect(changedFromPreset(config)).toEqual([]);
    s.getState().patch({ epochs: 2 });
    expect(changedFromPreset(s.getState().config)).toEqual(['epochs']);
  });

  test('only what is not live waits for a reset', () => {
    const inForce = presetConfig('grpo', 'small');
    expect(pendingFields({ ...inForce, seed: 2, epochs: 4 }, inForce)).toEqual(['seed']);
    expect(pendingFields(inForce, null)).toEqual([]);
  });
});
