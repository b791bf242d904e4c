import type { KeyboardEvent, ReactNode } from 'react';
import { useId, useRef } from 'react';

export interface SegmentedOption<T extends string | number> {
  value: T;
  label: ReactNode;
  /** Spoken name where the label alone does not say enough. */
  name?: string;
  /** Id of the words inside `label` that describe it further. */
  describedBy?: string;
}

interface Props<T extends string | number> {
  label: string;
  options: readonly SegmentedOption<T>[];
  value: T;
  onChange(value: T): void;
  className?: string;
  /** Id of a help text that belongs to the group. */
  describedBy?: string | undefined;
}

const STEP: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** One of a few: a radio group with a roving tab stop; arrows choose, Home and End jump. */
export function Segmented<T extends string | number>({ label, options, value, onChange, className = '', describedBy }: Props<T>) {
  const group = useRef<HTMLDivElement>(null);
  const id = useId();
  const chosen = options.findIndex((option) => option.value === value);
  const choose = (index: number) => {
    const option = options[index];
    if (!option) return;
    onChange(option.value);
    group.current?.querySelectorAll<HTMLElement>('[role=radio]')[index]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEP[event.key];
    const at = chosen < 0 ? 0 : chosen;
    if (step !== undefined) choose((at + step + options.length) % options.length);
    else if (event.key === 'Home') choose(0);
    else if (event.key === 'End') choose(options.length - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={group} className={`segmented ${className}`} role="radiogroup" aria-label={label} aria-describedby={describedBy} onKeyDown={onKeyDown}>
      {options.map((option, index) => (
        <button
          key={`${id}-${option.value}`}
          type="button"
          role="radio"
          aria-checked={index === chosen}
          aria-label={option.name}
          aria-describedby={option.describedBy}
          tabIndex={index === chosen || (chosen < 0 && index === 0) ? 0 : -1}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
