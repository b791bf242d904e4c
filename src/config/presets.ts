import type { ModelId } from '../model/config';
import { defaultDualClip, isSingleAnswer } from './choices';
import { defaultConfig, FIELDS } from './fields';
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
 * A dual clip that still is the old objective's default becomes the new one's.
 */
export function objectivePatch(config: RunConfig, objective: string, groupSize = FIELDS.groupSize.default): Partial<RunConfig> {
  const patch: Partial<RunConfig> = { objective, ...rowsPatch(config, objective, groupSize) };
  const dualClip = defaultDualClip(objective);
  if (config.dualClip === defaultDualClip(config.objective) && config.dualClip !== dualClip) patch.dualClip = dualClip;
  return patch;
}

function rowsPatch(config: RunConfig, objective: string, groupSize: number): Partial<RunConfig> {
  const rows = config.prompts * config.groupSize;
  if (isSingleAnswer(objective)) return config.groupSize === 1 ? {} : { groupSize: 1, prompts: Math.min(rows, FIELDS.prompts.max) };
  if (config.groupSize > 1) return {};
  // The nearest group size that divides the rows, so that the budget stays what it was.
  let size = Math.max(2, Math.min(groupSize, rows));
  while (size > 2 && rows % size !== 0) size--;
  return { groupSize: size, prompts: Math.max(1, Math.floor(rows / size)) };
}
