import { CaretIcon } from '../theme/icons';

export interface SelectOption {
  value: string;
  label: string;
  /** Options with the same group stand together under its name. */
  group?: string;
}

interface Props {
  id?: string;
  name: string;
  value: string;
  options: readonly SelectOption[];
  onChange(value: string): void;
  describedBy?: string | undefined;
  className?: string;
}

/** The platform's own list in our frame. */
export function Select({ id, name, value, options, onChange, describedBy, className = '' }: Props) {
  const groups = [...new Set(options.map((option) => option.group ?? ''))];
  const items = (group: string) =>
    options
      .filter((option) => (option.group ?? '') === group)
      .map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ));
  return (
    <span className={`select ${className}`}>
      <select id={id} aria-label={id ? undefined : name} aria-describedby={describedBy} value={value} onChange={(event) => onChange(event.target.value)}>
        {groups.map((group) =>
          group === '' ? (
            items(group)
          ) : (
            <optgroup key={group} label={group}>
              {items(group)}
            </optgroup>
          ),
        )}
      </select>
      <CaretIcon />
    </span>
  );
}
