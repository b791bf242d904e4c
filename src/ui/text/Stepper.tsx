import type { ReactNode } from 'react';
import styles from './stepper.module.css';

interface Props {
  /** What is stepped: "step", "prompt", "answer". */
  name: string;
  children: ReactNode;
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
}

/** ‹ value ›: two buttons round the current value; a missing handler disables its side. */
export function Stepper({ name, children, onPrevious, onNext }: Props) {
  return (
    <span className={styles.stepper} role="group" aria-label={name}>
      <button type="button" aria-label={`Previous ${name}`} disabled={!onPrevious} onClick={onPrevious}>
        ‹
      </button>
      <span className={styles.value} aria-live="off">{children}</span>
      <button type="button" aria-label={`Next ${name}`} disabled={!onNext} onClick={onNext}>
        ›
      </button>
    </span>
  );
}
