import { FIELDS, fieldOf, type FieldName } from '../../config/fields';
import type { RunConfig } from '../../config/runConfig';
import { pendingFields } from '../../store/configStore';
import { Field } from '../controls/Field';
import { NumberField } from '../controls/NumberField';
import { Segmented } from '../controls/Segmented';
import { Select } from '../controls/Select';
import { useConfig, useRun } from '../session';
import { setting } from '../theme/numbers';

interface Props {
  name: FieldName;
  /** Shorter words than the field's own, where the place already says the rest. */
  label?: string;
  /** Shown as a row of buttons; other values are typed with `--set`, the address or the field's own box. */
  dial?: readonly { value: RunConfig[FieldName]; label: string }[];
}

/** One setting with the words, bounds and help of the settings table. */
export function SettingField({ name, label, dial }: Props) {
  const field = fieldOf(name);
  const value = useConfig((state) => state.config[name]);
  const config = useConfig((state) => state.config);
  const patch = useConfig((state) => state.patch);
  const inForce = useRun((state) => state.inForce);
  const waits = pendingFields(config, inForce).includes(name);
  const set = (next: RunConfig[FieldName]) => patch({ [name]: next });
  const bounds = field.kind === 'number' || field.kind === 'int' ? ` ${setting(field.min)} to ${setting(field.max)}.` : '';
  const reset = field.live ? '' : ' Takes effect on reset.';
  const words = label ?? field.label;
  return (
    <Field label={words} name={words} unit={dial || words.toLowerCase().includes(field.unit) ? undefined : field.unit} help={`${field.help}${bounds}${reset}`} note={waits ? 'takes effect on reset' : null} inline={!dial && field.kind !== 'choice'}>
      {(ids) => {
        if (dial) {
          const known = dial.some((option) => option.value === value);
          const options = known ? dial : [...dial, { value, label: String(value) }];
          return <Segmented label={words} describedBy={ids.help} value={value as string | number} onChange={set} options={options as { value: string | number; label: string }[]} />;
        }
        if (field.kind === 'choice') return <Select id={ids.control} name={words} value={String(value)} options={field.choices} onChange={set} describedBy={ids.help} />;
        if (field.kind === 'text') return <input id={ids.control} type="text" value={String(value)} maxLength={field.maxLength} aria-describedby={ids.help} onChange={(event) => set(event.target.value)} />;
        if (field.kind === 'bool') {
          return <input id={ids.control} type="checkbox" className="switch" role="switch" checked={value === true} aria-describedby={ids.help} onChange={(event) => set(event.target.checked)} />;
        }
        return <NumberField id={ids.control} name={words} value={Number(value)} min={field.min} max={field.max} step={stepOf(name, Number(value))} integer={field.kind === 'int'} onChange={set} describedBy={ids.help} />;
      }}
    </Field>
  );
}

/** A logarithmic setting moves by a tenth of its own size. */
function stepOf(name: FieldName, value: number): number {
  const field = FIELDS[name];
  if (field.kind !== 'number' && field.kind !== 'int') return 1;
  return field.log && value > 0 ? Math.max(field.step, 10 ** Math.floor(Math.log10(value))) : field.step;
}
