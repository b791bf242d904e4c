import type { OwnHyperparameter, RunConfig } from './runConfig';

/** Name of one setting. */
export type FieldName = keyof RunConfig;

/** Which fold of the page a setting stands in. */
export type FieldGroup = 'run' | 'rollout' | 'staleness' | 'clip' | 'optimiser' | 'advantage' | 'evaluation';

interface FieldBase {
  /** Plain words for the control. */
  label: string;
  /** One or two sentences of help. */
  help: string;
  /** "tokens", "iterations", ...; empty for a pure number. */
  unit: string;
  group: FieldGroup;
  /** True when a change takes effect at the next iteration, without a reset. */
  live: boolean;
}

/** A number within [min, max]; `int` must be whole. `log`: a slider should be logarithmic (and reach 0 only when min is 0). */
export interface NumberField extends FieldBase {
  kind: 'number' | 'int';
  min: number;
  max: number;
  step: number;
  default: number;
  log?: boolean;
  /** Values that have a name, for ticks on a slider. */
  named?: Record<string, number>;
}

export interface ChoiceField<T extends string = string> extends FieldBase {
  kind: 'choice';
  choices: readonly { value: T; label: string }[];
  default: T;
}

export interface BoolField extends FieldBase {
  kind: 'bool';
  default: boolean;
}

/** Text that a person typed. */
export interface TextField extends FieldBase {
  kind: 'text';
  default: string;
  /** Characters. */
  maxLength: number;
}

type TextName = 'customObjective' | 'customParameters';

export type Field = TextField | NumberField | ChoiceField | BoolField;

/** One field for every setting, each of the right kind: a setting without a field does not compile. */
export type FieldTable = { [K in FieldName]: K extends TextName ? TextField : K extends OwnHyperparameter ? NumberField : [RunConfig[K]] extends [boolean] ? BoolField : [RunConfig[K]] extends [number] ? NumberField : ChoiceField<Extract<RunConfig[K], string>> };

/** What was wrong with a value, and what was done about it. */
export interface Problem {
  /** The setting, or the unknown name that was met. */
  field: string;
  /** A whole sentence. */
  message: string;
}
