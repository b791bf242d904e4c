import { isCustomId, ObjectiveTextError, registerCustom, registeredCustom } from '../objectives/custom';
import type { HyperparameterSpec } from '../objectives/types';
import { problemWith } from '../objectives';
import type { Problem } from './fieldTypes';
import { isShared } from './ownFields';
import type { RunConfig } from './runConfig';

/** An objective that a person typed, as part of a configuration: `customObjective` is its text, `objective` the id that follows from it. */

/** What a link may say instead of the id, which follows from the text. */
const CUSTOM = 'custom';

/** True when the settings name an objective that was typed, not one of the list. */
export const isCustom = (objective: unknown): objective is string => typeof objective === 'string' && (objective === CUSTOM || isCustomId(objective));

type Part = Pick<RunConfig, 'objective' | 'customObjective' | 'customParameters'>;

/** Makes the typed objective of a configuration known, if it has a sound one, so that it can be asked for by id. */
export function registerFrom({ objective, customObjective }: Partial<Part>): string | null {
  if (!isCustom(objective) || typeof customObjective !== 'string') return null;
  try {
    return registerCustom(customObjective).objective.id;
  } catch (error) {
    if (error instanceof ObjectiveTextError) return null;
    throw error;
  }
}

/**
 * Settles the three settings of a typed objective in place: the id follows the text, parameters are held in their bounds, both are
 * empty for a listed objective. A text that cannot be used leaves everything as `base` has it, with a problem that says why.
 */
export function settleCustom(config: RunConfig, base: RunConfig): Problem[] {
  if (!isCustom(config.objective)) {
    config.customObjective = config.customParameters = '';
    return [];
  }
  try {
    const { objective } = registerCustom(config.customObjective);
    config.objective = objective.id;
    config.customParameters = writeParameters(objective.hyperparameters, readParameters(config.customParameters));
    return [];
  } catch (error) {
    if (!(error instanceof ObjectiveTextError)) throw error;
    const isBaseSound = !isCustom(base.objective) || registeredCustom(base.objective) !== undefined;
    config.objective = isBaseSound ? base.objective : 'grpo';
    config.customObjective = isBaseSound ? base.customObjective : '';
    config.customParameters = isBaseSound ? base.customParameters : '';
    return [{ field: 'customObjective', message: `Your objective was refused. ${error.message} ${error.hint}`.trim() }];
  }
}

/** Parameters of a typed objective that no setting holds: those that stand in `customParameters`. */
export const ownParameters = (specs: readonly HyperparameterSpec[]): HyperparameterSpec[] => specs.filter(({ name }) => !isShared(name));

/** The numbers of "eps=0.3,tau=2"; whatever is not a name and a finite number is left out. */
export function readParameters(text: string): Record<string, number> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', value = ''] = pair.split('=');
    const number = value.trim() === '' ? NaN : Number(value);
    return /^[A-Za-z][A-Za-z0-9]*$/.test(name.trim()) && Number.isFinite(number) ? [[name.trim(), number] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** The same as text: the declared parameters in their order, held within their bounds, those at their default left out. */
export function writeParameters(specs: readonly HyperparameterSpec[], values: Readonly<Record<string, number>>): string {
  return ownParameters(specs)
    .flatMap((spec) => {
      const given = Object.hasOwn(values, spec.name) ? values[spec.name] : spec.default;
      const held = holdParameter(spec, given);
      return held === spec.default ? [] : [`${spec.name}=${held}`];
    })
    .join(',');
}

/** A value within a parameter's bounds; the default where that is no answer. */
export function holdParameter(spec: HyperparameterSpec, value: number): number {
  const held = Math.min(spec.max, Math.max(spec.min, value));
  return problemWith(spec, held) === null ? held : spec.default;
}
