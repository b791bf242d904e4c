import type { ReactNode } from 'react';
import { useId, useState } from 'react';
import { ChevronIcon } from '../theme/icons';

interface Props {
  title: string;
  /** The group's values in one line, readable while it is folded. */
  summary: ReactNode;
  children: ReactNode;
  initiallyOpen?: boolean;
}

/** A folded group whose summary line says what is inside. Its content is mounted only while open. */
export function Disclosure({ title, summary, children, initiallyOpen = false }: Props) {
  const [open, setOpen] = useState(initiallyOpen);
  const id = useId();
  return (
    <section className="disclosure">
      <h3>
        <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <span>{title}</span>
          <ChevronIcon open={open} />
        </button>
      </h3>
      {open ? null : <p className="disclosure-summary">{summary}</p>}
      <div id={id} hidden={!open} className="disclosure-body">
        {open ? children : null}
      </div>
    </section>
  );
}
