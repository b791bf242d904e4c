/** Which palette the page wears. */
export type Theme = 'dark' | 'light';

const KEY = 'ratioscope.theme';
const PAPER: Record<Theme, string> = { dark: '#0d0f12', light: '#f6f5f1' };

/** The remembered theme, else the system's; dark when neither is known. Storage may be forbidden: then nothing is remembered. */
export function preferredTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    if (stored === 'dark' || stored === 'light') return stored;
  } catch {
    // Storage is blocked (private window, sandboxed frame): the system's choice stands.
  }
  return typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

/** Puts a theme on the document; call before the first render so that nothing flashes. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', PAPER[theme]);
}

/** Applies and remembers a choice that a person made. */
export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Not remembered, still applied.
  }
}
