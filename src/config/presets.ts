import type { ModelId } from '../model/config';
import { baseOf } from '../objectives';
import { defaultDualClip } from './choices';
import { defaultConfig, FIELDS } from './fields';
import type { FieldName } from './fieldTypes';
import { answersOf } from './hyper';
import { MODEL_PATCH, PRESETS } from './presetList';
import type { Preset } from './presetList';
import type { RunConfig } from './runConfig';

export { PRESETS, type Preset } from './presetList';

/** The preset of that id, or undefined. */
export function findPreset(id: string): Preset | undefined {
  return PRESETS.find((p) => p.id === id);
}

/** The whole configuration of a preset for a model size (seed 1, default task). Throws when there is no such preset. */
export function presetConfig(presetId: string, model: ModelId): RunConfig {
  const preset = findPreset(presetId);
  if (!preset) throw new Error(`no preset ${presetId}`);
  return { ...defaultConfig(), model, ...MODEL_PATCH[model], ...preset.patch, ...preset.byModel?.[model], preset: presetId };
}

/**
 * What must change with the objective so that everything else stays comparable. The number of answers per iteration is
 * kept: SPPO takes them from as many prompts, and going back they form groups of `groupSize` (8 unless told).
 * A setting that makes the objective what it is (its preset names it), and that still is as the old objective has it, becomes the new one's.
 */
export function objectivePatch(config: RunConfig, objective: string, groupSize = FIELDS.groupSize.default): Partial<RunConfig> {
  const patch: Record<string, unknown> = { objective, ...rowsPatch(config, objective, groupSize) };
  const [from, to] = [groundOf(baseOf(config.objective), config.model), groundOf(baseOf(objective), config.model)];
  for (const name of new Set([...from.names, ...to.names])) {
    if (config[name] === from.config[name] && config[name] !== to.config[name]) patch[name] = to.config[name];
  }
  return patch as Partial<RunConfig>;
}

/** These go by their own rule, or say which run it is. */
const NOT_CARRIED: readonly FieldName[] = ['preset', 'objective', 'prompts', 'groupSize'];

/** What an objective's own preset (that of its id) sets; the common ground where there is none. */
function groundOf(objective: string, model: ModelId): { config: RunConfig; names: FieldName[] } {
  const preset = findPreset(objective);
  const config = { ...(preset ? presetConfig(objective, model) : defaultConfig()), dualClip: defaultDualClip(objective) };
  const names = (Object.keys(preset?.patch ?? {}) as FieldName[]).filter((name) => !NOT_CARRIED.includes(name));
  return { config, names: [...names, 'dualClip'] };
}

function rowsPatch(config: RunConfig, objective: string, groupSize: number): Partial<RunConfig> {
  const rows = config.prompts * config.groupSize;
  const answers = answersOf({ objective, advantage: config.advantage });
  // Where any number will do, the objective's own preset says which.
  const isSingle = answers === 'one' || (answers === 'any' && findPreset(baseOf(objective))?.patch.groupSize === 1);
  if (isSingle) return config.groupSize === 1 ? {} : { groupSize: 1, prompts: Math.min(rows, FIELDS.prompts.max) };
  if (config.groupSize > 1) return {};
  // The nearest group size that divides the rows, so that the budget stays what it was.
  let size = Math.max(2, Math.min(groupSize, rows));
  while (size > 2 && rows % size !== 0) size--;
  return { groupSize: size, prompts: Math.max(1, Math.floor(rows / size)) };
}
