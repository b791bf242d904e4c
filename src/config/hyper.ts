import type { Level } from '../core/levels';
import { getObjective, type AdvantageEstimator } from '../objectives';
import type { ClipWidths, Hyperparameters } from '../objectives/types';
import { isFieldName } from './fields';
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
  return getObjective(config.objective).advantageEstimator;
}

/** The level whose ratio the objective in force clips. */
export function levelOf(config: RunConfig): Level {
  return getObjective(config.objective).importanceSamplingLevel;
}

/**
 * Values of the objective's own hyperparameters: clip widths from its level, the others from the settings of the same name.
 * Hyperparameters without a setting keep their default.
 */
export function hyperparametersOf(config: RunConfig): Hyperparameters {
  const objective = getObjective(config.objective);
  const widths = clipWidthsOf(config)[objective.importanceSamplingLevel];
  return Object.fromEntries(objective.hyperparameters.map(({ name, default: value }) => {
    if (name === 'clipLow') return [name, widths.low];
    if (name === 'clipHigh') return [name, widths.high];
    const setting = isFieldName(name) ? config[name] : value;
    return [name, typeof setting === 'number' ? setting : value];
  }));
}
