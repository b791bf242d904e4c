import type { ModelId } from '../model/config';
import { getObjective, mixtureOf } from '../objectives';
import { isCustom, registerFrom } from './custom';
import { FIELD_NAMES, fieldOf, isFieldName } from './fields';
import type { FieldName, Problem } from './fieldTypes';
import { findPreset, objectivePatch, presetConfig } from './presets';
import type { RunConfig } from './runConfig';
import { validateConfig } from './validate';

/** Always written, so that a link says which run it is even where it follows the defaults. */
const ALWAYS: readonly FieldName[] = ['preset', 'model', 'seed'];

/**
 * The URL hash of a configuration, without '#': the preset and what differs from it, e.g. `preset=grpo&model=small&seed=1&epochs=4`.
 */
export function configToHash(config: RunConfig): string {
  const base = baseOf(config.preset, config.model, config.objective);
  const names = [...ALWAYS, ...FIELD_NAMES.filter((name) => !ALWAYS.includes(name) && (config[name] !== base[name] || (name === 'objective' && config.objective !== presetObjective(config.preset, config.model))))];
  const value = (name: FieldName): string => (name === 'objective' && isCustom(config.objective) ? 'custom' : String(config[name]));
  return names.map((name) => `${name}=${encodeURIComponent(value(name))}`).join('&');
}

export interface Decoded {
  config: RunConfig;
  /** Values that were clamped, refused or not known; for a notice. */
  problems: Problem[];
  /** False when the hash leaves the model size to the adapter. */
  modelGiven: boolean;
}

/**
 * Reads a URL hash (with or without '#'). Nothing in it can throw: a bad value is clamped or refused, an unknown name
 * ignored, each with a problem to show. `defaultModel` stands in where the hash names no model.
 */
export function hashToConfig(hash: string, defaultModel: ModelId): Decoded {
  const problems: Problem[] = [];
  const given = new Map<string, string>();
  for (const part of hash.replace(/^#/, '').split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decode(at < 0 ? part : part.slice(0, at));
    if (at < 0) {
      problems.push({ field: name, message: `“${name.slice(0, 40)}” in the address has no value; it was ignored.` });
      continue;
    }
    if (given.has(name)) problems.push({ field: name, message: `${isFieldName(name) ? fieldOf(name).label : name} stands twice in the address; the last one counts.` });
    given.set(name, decode(part.slice(at + 1)));
  }
  const pick = (name: FieldName, fallback: string): string => {
    const value = given.get(name);
    const field = fieldOf(name);
    return value !== undefined && field.kind === 'choice' && field.choices.some((c) => c.value === value) ? value : fallback;
  };
  const preset = pick('preset', 'grpo');
  const model: ModelId = pick('model', defaultModel) === 'main' ? 'main' : 'small';
  const typed = registerFrom({ objective: given.get('objective') ?? '', customObjective: given.get('customObjective') ?? '' });
  const mixed = mixtureOf(given.get('objective') ?? '') && getObjective(given.get('objective') ?? '').id;
  const base = baseOf(preset, model, typed ?? mixed ?? pick('objective', presetObjective(preset, model)));
  const checked = validateConfig(Object.fromEntries(given), base);
  return { config: checked.config, problems: [...problems, ...checked.problems], modelGiven: given.has('model') };
}

/** What a hash is measured against: the preset, moved to the objective by the same rule as the page's control. */
function baseOf(presetId: string, model: ModelId, objective: string): RunConfig {
  const config = presetConfig(findPreset(presetId) ? presetId : 'grpo', model);
  return objective === config.objective ? config : { ...config, ...objectivePatch(config, objective) };
}

function presetObjective(presetId: string, model: ModelId): string {
  return presetConfig(findPreset(presetId) ? presetId : 'grpo', model).objective;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
