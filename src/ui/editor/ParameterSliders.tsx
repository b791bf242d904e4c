import { ownParameters, readParameters, writeParameters } from '../../config/custom';
import { registeredCustom } from '../../objectives/custom';
import type { HyperparameterSpec } from '../../objectives/types';
import { Field } from '../controls/Field';
import { NumberField } from '../controls/NumberField';
import { useConfig } from '../session';
import { setting } from '../theme/numbers';
import './sliders.css';

interface Props {
  specs: readonly HyperparameterSpec[];
  values: Readonly<Record<string, number>>;
  onChange(name: string, value: number): void;
}

/** Declared parameters, each with a slider over its bounds and a box for exact values. */
export function ParameterSliders({ specs, values, onChange }: Props) {
  return (
    <>
      {specs.map((spec) => {
        const value = values[spec.name] ?? spec.default;
        return (
          <Field key={spec.name} label={spec.name} name={spec.name} help={`${spec.help} ${setting(spec.min)} to ${setting(spec.max)}.`}>
            {(ids) => (
              <span className="parameter">
                <input type="range" aria-label={`${spec.name}, slider`} min={spec.min} max={spec.max} step={spec.step} value={value} onChange={(event) => onChange(spec.name, Number(event.target.value))} />
                <NumberField id={ids.control} name={spec.name} value={value} min={spec.min} max={spec.max} step={spec.step} describedBy={ids.help} onChange={(next) => onChange(spec.name, next)} />
              </span>
            )}
          </Field>
        );
      })}
    </>
  );
}

/** The parameters of the typed objective in use; nothing when a listed one is in use. Changes need no reset and no compilation. */
export function CustomParameters() {
  const config = useConfig((state) => state.config);
  const patch = useConfig((state) => state.patch);
  const objective = registeredCustom(config.objective)?.objective;
  const specs = objective ? ownParameters(objective.hyperparameters) : [];
  if (!objective || specs.length === 0) return null;
  const values = readParameters(config.customParameters);
  return <ParameterSliders specs={specs} values={values} onChange={(name, value) => patch({ customParameters: writeParameters(objective.hyperparameters, { ...values, [name]: value }) })} />;
}
