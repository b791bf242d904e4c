import { useEffect, useState, useSyncExternalStore } from 'react';

/** True while a media query holds. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** One column, Play at the thumb. */
export const PHONE = '(max-width: 719px)';
/** Too narrow for the inspector's own column. */
export const DRAWER = '(max-width: 1439px)';

/** Whole seconds since `key` last changed, counted only while `running`. */
export function useSecondsSince(key: unknown, running: boolean): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!running) return;
    const timer = setInterval(() => setSeconds((s) => s + 1), 1000);
    return () => clearInterval(timer);
  }, [key, running]);
  return seconds;
}
