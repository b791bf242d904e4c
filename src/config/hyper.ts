import type { Level } from '../core/levels';
import { ESTIMATORS, getObjective, nominalWidths, type AdvantageEstimator, type Objective } from '../objectives';
import type { ClipWidths, Hyperparameters } from '../objectives/types';
import { isCustomId } from '../objectives/custom';
import { holdParameter, readParameters } from './custom';
import { isFieldName } from './fields';
import { isShared, ownFieldName } from './ownFields';
import type { RunConfig } from './runConfig';

/** The clip widths in force at each level: the band that every level is measured with, whichever objective trains. */
export function clipWidthsOf(config: RunConfig): ClipWidths {
  return {
    token: { low: config.clipLowToken, high: config.clipHighToken },
    segment: { low: config.clipLowSegment, high: config.clipHighSegment },
    sequence: { low: config.clipLowSequence, high: config.clipHighSequence },
  };
}

/** Where the advantages come from: the objective's own rule, unless another was chosen. */
export function estimatorOf(config: RunConfig): AdvantageEstimator {
  return config.advantage === 'own' ? getObjective(config.objective).advantageEstimator : config.advantage;
}

/**
 * How many answers to one prompt the settings ask for. Exactly one is what SPPO does, not what its advantage needs: chosen by
 * itself it takes any number.
 */
export function answersOf(config: Pick<RunConfig, 'objective' | 'advantage'>): 'several' | 'one' | 'any' {
  if (config.advantage === 'own') return ESTIMATORS[getObjective(config.objective).advantageEstimator].answers;
  return ESTIMATORS[config.advantage].answers === 'several' ? 'several' : 'any';
}

/** The bands that every level is measured with, as distances from ratio 1: the settings, but at its own level what the objective makes of them. */
export function bandsOf(config: RunConfig): ClipWidths {
  const objective = getObjective(config.objective);
  const own = nominalWidths(objective, hyperparametersOf(config));
  return { ...clipWidthsOf(config), ...(own && { [objective.importanceSamplingLevel]: own }) };
}

/** The level whose ratio the objective in force clips. */
export function levelOf(config: RunConfig): Level {
  return getObjective(config.objective).importanceSamplingLevel;
}

/**
 * Values of the objective's hyperparameters: clip widths from its level, its own from their settings (`cispo.cap`), the others from the settings of the same name.
 * Hyperparameters without a setting keep their default.
 */
export function hyperparametersOf(config: RunConfig): Hyperparameters {
  const objective = getObjective(config.objective);
  const widths = clipWidthsOf(config)[objective.importanceSamplingLevel];
  if (isCustomId(objective.id)) return customHyperparameters(objective, config, widths);
  return Object.fromEntries(objective.hyperparameters.map(({ name, default: value }) => {
    if (name === 'clipLow') return [name, widths.low];
    if (name === 'clipHigh') return [name, widths.high];
    // A penalty that was taken off the reward must not count again in the loss.
    if (name === 'beta' && config.klPlacement === 'reward') return [name, 0];
    const own = ownFieldName(objective.id, name);
    const field = isFieldName(own) ? own : name;
    const setting = isFieldName(field) ? config[field] : value;
    return [name, typeof setting === 'number' ? setting : value];
  }));
}

/** A typed objective's values: the shared ones from their settings, held in the bounds that it declares, the others from `customParameters`. */
function customHyperparameters(objective: Objective, config: RunConfig, widths: { low: number; high: number }): Hyperparameters {
  const own = readParameters(config.customParameters);
  const settings: Record<string, unknown> = { ...config, clipLow: widths.low, clipHigh: widths.high, ...(config.klPlacement === 'reward' && { beta: 0 }) };
  return Object.fromEntries(objective.hyperparameters.map((spec) => {
    const given = isShared(spec.name) ? settings[spec.name] : own[spec.name];
    return [spec.name, typeof given === 'number' ? holdParameter(spec, given) : spec.default];
  }));
}
