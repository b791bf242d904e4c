import type { KeyboardEvent } from 'react';
import { useEffect, useState } from 'react';
import { setting } from '../theme/numbers';

interface Props {
  id?: string;
  name: string;
  value: number;
  min: number;
  max: number;
  step: number;
  onChange(value: number): void;
  integer?: boolean;
  className?: string;
  describedBy?: string | undefined;
  disabled?: boolean;
}

/** Reads what a person types: ".2", "3e-4", "3e−4", "1,000", "20%" is refused. NaN when it is no number. */
export function parseNumber(text: string): number {
  const plain = text.trim().replace(/\u2212/g, '-').replace(/,(?=\d{3}\b)/g, '');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
}

/** A number that is typed; applied on Enter or when focus leaves, held within its bounds with a word about it. */
export function NumberField({ id, name, value, min, max, step, onChange, integer = false, className = '', describedBy, disabled = false }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => setProblem(''), [value]);
  const commit = (typed: string) => {
    setText(null);
    const parsed = parseNumber(typed);
    if (!Number.isFinite(parsed)) {
      setProblem(`not a number, kept ${setting(value)}`);
      return;
    }
    const whole = integer ? Math.round(parsed) : parsed;
    const held = Math.min(max, Math.max(min, whole));
    if (held !== value) onChange(held);
    setProblem(held === parsed ? '' : integer && held === whole ? 'whole numbers only' : `${setting(min)} to ${setting(max)}`);
  };
  const nudge = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') commit(event.currentTarget.value);
    else if (event.key === 'Escape') setText(null);
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault();
      const next = value + (event.key === 'ArrowUp' ? step : -step);
      setText(null);
      onChange(Math.min(max, Math.max(min, Number(next.toPrecision(10)))));
    }
  };
  return (
    <span className={`number-field ${className}`}>
      <input
        id={id}
        type="text"
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        aria-label={id ? undefined : name}
        aria-describedby={describedBy}
        aria-invalid={problem !== '' || undefined}
        disabled={disabled}
        value={text ?? setting(value)}
        onChange={(event) => setText(event.target.value)}
        onFocus={(event) => event.target.select()}
        onBlur={(event) => {
          if (text !== null) commit(event.target.value);
        }}
        onKeyDown={nudge}
      />
      {problem ? (
        <span className="field-problem" role="status">
          {problem}
        </span>
      ) : null}
    </span>
  );
}
