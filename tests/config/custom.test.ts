import { describe, expect, it } from 'vitest';
import { configToHash, hashToConfig } from '../../src/config/codec';
import { defaultConfig } from '../../src/config/fields';
import { clipWidthsOf, estimatorOf, hyperparametersOf, levelOf } from '../../src/config/hyper';
import { presetConfig } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { getObjective } from '../../src/objectives';
import { customId } from '../../src/objectives/custom';
import { isCommand, isEvent } from '../../src/worker/guards';

const TEXT = 'title "Mine"\nlevel sequence\nadvantage leaveOneOut\nparam clipLow = 0.1 in 0..0.3;\nparam clipHigh = 0.1 in 0..0.3;\nparam tau = 1 in 0.5..4;\nparam beta = 0 in 0..0.2;\n' +
  'let gate = sigmoid(tau * (seqRatio - 1)) * 4 / tau;\n-min(gate * adv, clip(seqRatio, 1 - clipLow, 1 + clipHigh) * adv) + beta * k3(clamp(refLogp - logp))';

const typed = (patch: Record<string, unknown> = {}) => validateConfig({ objective: 'custom', customObjective: TEXT, ...patch });

describe('a typed objective in a configuration', () => {
  it('gets its id from its text, and is then found like any other', () => {
    const { config, problems } = typed();
    expect(problems).toEqual([]);
    expect(config.objective).toBe(customId(TEXT));
    expect(getObjective(config.objective).title).toBe('Mine');
    expect([levelOf(config), estimatorOf(config)]).toEqual(['sequence', 'leaveOneOut']);
  });

  it('takes shared parameters from their settings within its own bounds, and the others from customParameters', () => {
    const { config } = typed({ customParameters: 'tau=2,nonsense=1', clipLowSequence: 0.25, clipHighSequence: 5, beta: 0.1 });
    expect(config.customParameters).toBe('tau=2');
    expect(hyperparametersOf(config)).toEqual({ clipLow: 0.25, clipHigh: 0.3, tau: 2, beta: 0.1 });
    expect(clipWidthsOf(config).sequence).toEqual({ low: 0.25, high: 5 });
    expect(typed({ customParameters: 'tau=99' }).config.customParameters).toBe('tau=4');
    expect(typed({ customParameters: 'tau=1' }).config.customParameters).toBe('');
  });

  it('travels by link, and comes back whole in a page that has never seen it', () => {
    const text = `${TEXT}\n# only here & nowhere else = 100%`;
    const { config } = typed({ customObjective: text, customParameters: 'tau=2', epochs: 3 });
    const hash = configToHash(config);
    expect(hash).toContain('objective=custom&');
    expect(hash).toMatch(/^[\x21-\x7e]+$/);
    const back = hashToConfig(`#${hash}`, 'small');
    expect(back.problems).toEqual([]);
    expect(back.config).toEqual(config);
  });

  it('is refused with the place, and what was before stays', () => {
    const before = typed().config;
    const { config, problems } = validateConfig({ customObjective: '-ratoi * adv' }, before);
    expect(config).toEqual(before);
    expect(problems).toEqual([{ field: 'customObjective', message: 'Your objective was refused. Line 1, column 2: there is no name “ratoi”. Did you mean ratio?' }]);
    const fromLink = hashToConfig('objective=custom&customObjective=%2Dexp(1e999)', 'small');
    expect([fromLink.config.objective, fromLink.config.customObjective]).toEqual(['grpo', '']);
    expect(fromLink.problems).toHaveLength(1);
    expect(hashToConfig('objective=custom:0123456789abcdef', 'small').config.objective).toBe('grpo');
    expect(validateConfig({ objective: 'custom', customObjective: 'x'.repeat(7000) }).config.objective).toBe('grpo');
  });

  it('leaves nothing behind when a listed objective is chosen', () => {
    const { config } = validateConfig({ objective: 'gspo' }, typed({ customParameters: 'tau=2' }).config);
    expect([config.objective, config.customObjective, config.customParameters]).toEqual(['gspo', '', '']);
    expect(configToHash({ ...presetConfig('gspo', 'small') })).not.toContain('custom');
  });

  it('passes the guards of the protocol, and a config that never was registered is settled by the worker', () => {
    const config = { ...typed().config, customObjective: `${TEXT} # elsewhere`, objective: customId(`${TEXT} # elsewhere`) };
    expect(isCommand({ type: 'init', config, modelsUrl: './' })).toBe(true);
    expect(isEvent({ type: 'config', config, step: 1, changes: [] })).toBe(true);
    expect(isCommand({ type: 'configure', patch: { customObjective: 3 } })).toBe(false);
    expect(isCommand({ type: 'configure', patch: { customObjective: 'x'.repeat(10_000) } })).toBe(false);
    expect(isCommand({ type: 'configure', patch: { objective: 'customs' } })).toBe(false);
    // As the worker does it: the configuration is its own base.
    expect(validateConfig(config, config)).toEqual({ config, problems: [] });
    const broken = { ...defaultConfig(), objective: 'custom:00000000deadbeef', customObjective: 'log(' };
    expect(validateConfig(broken, broken).config.objective).toBe('grpo');
  });
});
