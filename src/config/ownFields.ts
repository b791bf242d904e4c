import { OBJECTIVES, type HyperparameterSpec } from '../objectives';
import type { NumberField } from './fieldTypes';
import type { OwnHyperparameter } from './runConfig';

/** Settings made from the definitions, so that a new objective needs no line here: every hyperparameter that has no shared setting. */

/** Hyperparameters that share a setting with other objectives: the widths go by level, the others by their own name. */
const SHARED: ReadonlySet<string> = new Set(['clipLow', 'clipHigh', 'dualClip', 'beta', 'entropyScaleLow', 'entropyScaleHigh']);

/** True for a hyperparameter whose setting serves every objective that has one of this name. */
export const isShared = (hyperparameter: string): boolean => SHARED.has(hyperparameter);

/** Name of the setting that holds one objective's own hyperparameter. */
export const ownFieldName = (objective: string, hyperparameter: string): OwnHyperparameter => `${objective}.${hyperparameter}`;

function fieldFor(title: string, { label, help, unit, min, max, step, default: value, named }: HyperparameterSpec): NumberField {
  return {
    kind: 'number', label: `${label} (${title})`, help, unit: unit === 'dimensionless' ? '' : unit, group: 'clip', live: true, min, max, step, default: value,
    ...(named && { named }),
  };
}

/** One field for each such hyperparameter, by name. */
export const OWN_FIELDS: Readonly<Record<OwnHyperparameter, NumberField>> = Object.fromEntries(
  OBJECTIVES.flatMap(({ id, title, hyperparameters }) =>
    hyperparameters.filter(({ name }) => !SHARED.has(name)).map((spec) => [ownFieldName(id, spec.name), fieldFor(title, spec)] as const),
  ),
);
