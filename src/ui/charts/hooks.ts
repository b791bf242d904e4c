import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { RefObject } from 'react';

/** Charts redraw at most this often, ms: data never eases, and the page stays smooth. */
export const REDRAW_MS = 100;

/** `value`, renewed at most every `ms` milliseconds; the newest value always arrives in the end. */
export function useThrottled<T>(value: T, ms = REDRAW_MS): T {
  const [shown, setShown] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + ms - performance.now());
    const timer = setTimeout(() => {
      last.current = performance.now();
      setShown(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}

/** Inner width and height of an element, CSS px; zero until it is laid out. */
export function useSize(ref: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver((entries) => {
      const box = entries[entries.length - 1]?.contentRect;
      if (!box) return;
      const width = Math.round(box.width);
      const height = Math.round(box.height);
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return size;
}

function subscribeTheme(notify: () => void): () => void {
  const observer = new MutationObserver(notify);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class', 'style'] });
  const query = matchMedia('(prefers-color-scheme: dark)');
  query.addEventListener('change', notify);
  return () => {
    observer.disconnect();
    query.removeEventListener('change', notify);
  };
}

/** A string that changes with the theme, so that a canvas knows when to read its colours again. */
export function useThemeKey(): string {
  return useSyncExternalStore(subscribeTheme, () => getComputedStyle(document.documentElement).getPropertyValue('--paper'));
}
