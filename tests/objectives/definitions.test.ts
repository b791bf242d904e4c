import { describe, expect, it } from 'vitest';
import { getObjective, OBJECTIVES, resolveHyperparameters } from '../../src/objectives';
import * as x from '../../src/objectives/expr';
import { defineObjective } from '../../src/objectives/objective';

describe('definitions', () => {
  it('have distinct ids, sources and words', () => {
    expect(new Set(OBJECTIVES.map((o) => o.id)).size).toBe(OBJECTIVES.length);
    for (const o of OBJECTIVES) {
      expect(o.sources.length, o.id).toBeGreaterThan(0);
      expect(o.sources.every((s) => s.url.startsWith('https://') && s.note), o.id).toBe(true);
      expect(o.hyperparameters.every((h) => h.help && h.label && h.unit && h.tex && h.step > 0 && h.min < h.max), o.id).toBe(true);
    }
    expect(getObjective('sspo').caveat).toMatch(/ours/);
  });

  it('ship the defaults of the papers', () => {
    const defaults = (id: string) => resolveHyperparameters(getObjective(id));
    expect(defaults('grpo')).toEqual({ clipLow: 0.2, clipHigh: 0.2, dualClip: 0, beta: 0 });
    expect(defaults('gspo')).toEqual({ clipLow: 3e-4, clipHigh: 4e-4, dualClip: 0, beta: 0 });
    expect(defaults('lpo')).toEqual({ clipLow: 0.03, clipHigh: 0.03, dualClip: 0, beta: 0 });
    expect(defaults('sspo')).toEqual({ clipLow: 0.03, clipHigh: 0.03, entropyScaleLow: 0.5, entropyScaleHigh: 2, dualClip: 0, beta: 0 });
    expect(defaults('sppo')).toEqual({ clipLow: 0.2, clipHigh: 0.2, dualClip: 3, beta: 0 });
  });

  it('refuse bad hyperparameters in words', () => {
    const grpo = getObjective('grpo');
    expect(() => resolveHyperparameters(grpo, { clipLo: 0.1 })).toThrow(/no hyperparameter "clipLo"/);
    expect(() => resolveHyperparameters(grpo, { clipLow: NaN })).toThrow(/finite/);
    expect(() => resolveHyperparameters(grpo, { clipLow: -0.1 })).toThrow(/between 0 and/);
    expect(() => resolveHyperparameters(grpo, { dualClip: 0.5 })).toThrow(/0 \(off\) or greater than 1/);
    expect(() => resolveHyperparameters(grpo, { dualClip: 1 })).toThrow(/greater than 1/);
    expect(() => resolveHyperparameters(getObjective('sspo'), { entropyScaleLow: 1.5 })).toThrow(/entropyScaleLow/);
    expect(() => getObjective('ppoo')).toThrow(/ppoo/);
  });

  it('are checked when they are made', () => {
    const o = getObjective('grpo');
    expect(() => defineObjective({ ...o, loss: x.mul(x.hyper('gamma'), x.logp) })).toThrow(/gamma/);
    expect(() => defineObjective({ ...o, hyperparameters: [...o.hyperparameters, o.hyperparameters[0]] })).toThrow(/twice/);
  });
});
