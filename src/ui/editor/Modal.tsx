import type { ReactNode } from 'react';
import { useEffect, useId, useRef } from 'react';
import { Button } from '../controls/Button';
import { CrossIcon } from '../theme/icons';
import styles from './editor.module.css';

interface Props {
  title: string;
  /** Said behind the title. */
  note?: ReactNode;
  onClose(): void;
  children: ReactNode;
}

/** A large dialog over the page; Escape and the cross close it. */
export function Modal({ title, note, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={styles.modal} aria-labelledby={id} onClose={onClose}>
      <header className={styles.head}>
        <h2 id={id}>{title}</h2>
        <span className="soft">{note}</span>
        <Button kind="ghost" aria-label="Close" title="Close" onClick={onClose}>
          <CrossIcon />
        </Button>
      </header>
      {children}
    </dialog>
  );
}
