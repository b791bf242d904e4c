import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configToHash } from '../../src/config/codec';
import { FIELD_NAMES } from '../../src/config/fields';
import { presetConfig, PRESETS } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { decodeLens, encodeLens, LENS_NAMES, lensSettingsOf } from '../../src/lens';
import { createLensStore, lensAddress } from '../../src/store/lensStore';
import { readAddress } from '../../src/store/urlState';

/** Addresses as people mangle them: the page always starts, with settings that its own rules accept. */

const RUNS = { seed: 20261201, numRuns: 1000 };
const lensBase = lensSettingsOf(presetConfig('grpo', 'small'));

const name = fc.oneof(fc.constantFrom<string>(...FIELD_NAMES, ...LENS_NAMES, 'view', 'engine'), fc.string({ unit: 'binary', maxLength: 10 }), fc.constantFrom('__proto__', 'constructor', ''));
const value = fc.oneof(
  fc.constantFrom('1', '0', '-1', '1e999', 'NaN', 'Infinity', '0x10', ' 3 ', 'true', 'custom', 'grpo@segment/token', 'small', '0.2/0.28', 'every:6', 'peaks:0.9', '0:3.5,1:', '%', '%E0%A4%A', '%00', 'toString'),
  fc.double().map(String), fc.integer().map(String), fc.string({ unit: 'binary', maxLength: 30 }),
);
const piece = fc.oneof(fc.tuple(name, value).map(([n, v]) => `${n}=${v}`), fc.tuple(name, value).map(([n, v]) => `${n}=${encodeURIComponent(v.replace(/[\ud800-\udfff]/g, ''))}`), fc.string({ unit: 'binary', maxLength: 12 }));
const start = fc.constantFrom('', ...PRESETS.map((preset) => configToHash(presetConfig(preset.id, 'small'))), 'preset=grpo&lensToken=0.2/0.28&lensRule=every:6');
const hash = fc.tuple(start, fc.array(piece, { maxLength: 6 }), fc.nat(200), fc.nat(20), fc.string({ unit: 'binary', maxLength: 4 })).map(([first, rest, at, cut, put]) => {
  const whole = [first, ...rest].join('&');
  return `#${whole.slice(0, at)}${put}${whole.slice(at + cut)}`;
});

describe('1,000 mangled addresses', () => {
  it('give a configuration that is sound and writes itself back', () => {
    fc.assert(fc.property(hash, (text) => {
      const lens = createLensStore(() => { throw new Error('no batch is asked for'); });
      const { config, problems } = readAddress({ location: { hash: text, href: `http://localhost/${text}` } }, lensAddress(lens));
      expect(validateConfig(config)).toEqual({ config, problems: [] });
      expect(readAddress({ location: { hash: `#${configToHash(config)}`, href: '' } }).config).toEqual(config);
      for (const problem of problems) expect(problem.message.length).toBeGreaterThan(5);
    }), RUNS);
  });

  it('give lens settings within their bounds that come back as they are', () => {
    const lensValues = fc.dictionary(fc.constantFrom(...LENS_NAMES), fc.oneof(value, fc.array(fc.constantFrom('0', '1', '.', ':', ',', '/', 'every', 'peaks', 'marks', 'grpo', '0.3', 'own', '-', 'e'), { maxLength: 8 }).map((list) => list.join(''))));
    fc.assert(fc.property(lensValues, (values) => {
      const { settings } = decodeLens(new Map(Object.entries(values)), lensBase);
      for (const { low, high } of [...Object.values(settings.widths), ...Object.values(settings.overrides)]) expect(low > 0 && low <= 1 && high > 0 && high <= 10).toBe(true);
      expect(decodeLens(encodeLens(settings, lensBase), lensBase)).toEqual({ settings, problems: [] });
    }), RUNS);
  });
});
