import type { KeyboardEvent, ReactNode } from 'react';
import { useId, useRef } from 'react';
import styles from './lens.module.css';

interface Tab<T extends string> {
  value: T;
  /** The panel's title while it is open. */
  title: string;
  /** On its tab. */
  short: string;
  panel: ReactNode;
}

interface Props<T extends string> {
  label: string;
  value: T;
  onChange(value: T): void;
  tabs: readonly Tab<T>[];
  note: string;
}

/** Several pictures in one panel; arrows move between their tabs. */
export function Tabs<T extends string>({ label, value, onChange, tabs, note }: Props<T>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const open = tabs.find((tab) => tab.value === value) ?? tabs[0];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = (tabs.findIndex((tab) => tab.value === value) + step + tabs.length) % tabs.length;
    const next = tabs[at];
    if (next) onChange(next.value);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.tabbed}>
      <header className={`${styles.head} ${styles.oneLine}`}>
        <h2>{open?.title}</h2>
        {note ? (
          <span className={styles.note} title={note}>
            {note}
          </span>
        ) : null}
        <span className={styles.push} />
        <div ref={list} role="tablist" aria-label={label} className={styles.tabs} onKeyDown={onKeyDown}>
          {tabs.map((tab) => (
            <button key={tab.value} type="button" role="tab" id={`${id}-${tab.value}`} aria-selected={tab.value === value} aria-controls={`${id}-panel`} tabIndex={tab.value === value ? 0 : -1} onClick={() => onChange(tab.value)}>
              {tab.short}
            </button>
          ))}
        </div>
      </header>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`} className={styles.tabPanel}>
        {open?.panel}
      </div>
    </div>
  );
}
