import type { ReactNode } from 'react';
import { useId, useState } from 'react';

interface Props {
  label: ReactNode;
  /** Plain name for the help button. */
  name: string;
  help?: string | undefined;
  unit?: string | undefined;
  /** Stands under the control: bounds broken, "takes effect on reset". */
  note?: ReactNode;
  /** Control beside its label rather than below it. */
  inline?: boolean;
  children(ids: { control: string; help: string | undefined }): ReactNode;
}

/** A label, its control and its help: "?" opens the help in place, so nothing hides in a tooltip. */
export function Field({ label, name, help, unit, note, inline = false, children }: Props) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const helpId = `${id}-help`;
  return (
    <div className={inline ? 'field inline' : 'field'}>
      <div className="field-label">
        <label htmlFor={`${id}-control`}>
          {label}
          {unit ? <span className="quiet">, {unit}</span> : null}
        </label>
        {help ? (
          <button type="button" className="help-button" aria-expanded={open} aria-controls={helpId} aria-label={`Help: ${name}`} onClick={() => setOpen(!open)}>
            ?
          </button>
        ) : null}
      </div>
      {children({ control: `${id}-control`, help: help && open ? helpId : undefined })}
      {help ? (
        <p id={helpId} className="help" hidden={!open}>
          {help}
        </p>
      ) : null}
      {note ? <p className="note">{note}</p> : null}
    </div>
  );
}
