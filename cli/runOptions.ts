import { UserError } from '../src/core/errors';
import { adoptPatch } from '../src/config/adopt';
import { ownParameters, writeParameters } from '../src/config/custom';
import { defaultConfig, FIELD_NAMES, isFieldName, type FieldName } from '../src/config/fields';
import { ownFieldName } from '../src/config/ownFields';
import { findPreset, objectivePatch, presetConfig, PRESETS } from '../src/config/presets';
import type { RunConfig } from '../src/config/runConfig';
import { validateConfig } from '../src/config/validate';
import { MODEL_CONFIGS, type ModelId } from '../src/model/config';
import { getObjective, isLevelSetting, LEVEL_SETTINGS, OBJECTIVES, problemWith, withLevels } from '../src/objectives';
import type { CustomObjective } from '../src/objectives/custom';
import type { HyperparameterSpec } from '../src/objectives/types';
import { getTask } from '../src/tasks';
import type { Args } from './args';

/**
 * The configuration of a run on the command line. Unlike the page, which repairs and tells, a script is refused:
 * a run with other settings than those asked for is worse than none.
 * @param typed the objective of a file, in place of a listed one
 * @throws UserError naming the first thing that is wrong.
 */
export function runConfigFrom({ values, sets }: Args, typed: CustomObjective | null = null): RunConfig {
  const model = modelFrom(values.model ?? 'small');
  const objective = values.objective ?? null;
  if (objective !== null && typed) throw new UserError('--objective and --objective-file are both given.', 'Give one of them.');
  if (objective !== null) getObjective(objective);
  const presetId = values.preset ?? (objective !== null && findPreset(objective) ? objective : 'grpo');
  if (!findPreset(presetId)) throw new UserError(`There is no preset "${presetId}".`, `Presets: ${PRESETS.map((p) => p.id).join(', ')}.`);
  let base = presetConfig(presetId, model);
  if (objective !== null && objective !== base.objective) base = { ...base, ...objectivePatch(base, objective) };
  if (typed) base = validateConfig(adoptPatch(base, typed.text), base).config;
  base = { ...base, objective: withLevels(base.objective, sets) };
  const parameters: Record<string, number> = {};
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(sets)) {
    if (isLevelSetting(name)) continue;
    const own = typed && ownParameters(typed.objective.hyperparameters).find((spec) => spec.name === name);
    if (own) parameters[name] = parameterFrom(own, value);
    else given[settingName(name, base.objective)] = value;
  }
  if (typed && Object.keys(parameters).length > 0) given.customParameters = writeParameters(typed.objective.hyperparameters, parameters);
  if (values.task !== undefined) given.task = getTask(values.task).id;
  if (values.seed !== undefined) given.seed = values.seed;
  if (values.steps !== undefined) given.totalSteps = values.steps;
  const { config, problems } = validateConfig(given, base);
  if (problems.length > 0) throw new UserError(problems[0].message, 'See --help for the settings.');
  return config;
}

function parameterFrom(spec: HyperparameterSpec, text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  const problem = problemWith(spec, value);
  if (problem) throw new UserError(`--set ${spec.name}=${text}: it ${problem}.`, spec.help);
  return value;
}

/** `clipLow` and `clipHigh` mean the width at the level that the objective clips at, and `cap` CISPO's `cispo.cap`, as in `eval`. */
function settingName(name: string, objective: string): FieldName {
  const level = { token: 'Token', segment: 'Segment', sequence: 'Sequence' }[getObjective(objective).importanceSamplingLevel];
  const own = ownFieldName(objective, name);
  const full = name === 'clipLow' || name === 'clipHigh' ? `${name}${level}` : isFieldName(own) ? own : name;
  if (!isFieldName(full) || full === 'preset' || full === 'model' || full === 'objective') {
    throw new UserError(`--set ${name}: there is no such setting.`, `Settings: ${settableNames().join(', ')}.`);
  }
  return full;
}

export function settableNames(): string[] {
  return ['clipLow', 'clipHigh', ...LEVEL_SETTINGS, ...FIELD_NAMES.filter((name) => !['preset', 'model', 'objective', 'task', 'seed', 'speed'].includes(name))];
}

function modelFrom(id: string): ModelId {
  if (id === 'main' || id === 'small') return id;
  throw new UserError(`There is no model "${id}".`, `Models: ${Object.keys(MODEL_CONFIGS).join(', ')}.`);
}

/** A whole number of at least `least`. */
export function countFrom(name: string, text: string | undefined, fallback: number, least: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > 1e6) throw new UserError(`--${name} ${text} is not a whole number from ${least}.`);
  return value;
}

/** The lists that --help prints. */
export function optionLists(): string {
  return [
    `Objectives: ${OBJECTIVES.map((o) => o.id).join(', ')}`,
    `Presets:    ${PRESETS.map((p) => p.id).join(', ')}`,
    `Settings:   ${settableNames().join(', ')}`,
    `Task:       ${defaultConfig().task} unless told`,
  ].join('\n');
}
