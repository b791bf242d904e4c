import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** Recomputes, from the stylesheet itself, that every text can be read on every background it stands on. */
const css = readFileSync(new URL('../../src/ui/theme/tokens.css', import.meta.url), 'utf8');

function palette(theme: 'dark' | 'light'): Map<string, string> {
  const block = css.match(new RegExp(`\\[data-theme='${theme}'\\] \\{([^}]*)\\}`))?.[1] ?? '';
  return new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1] as string, match[2] as string]));
}

function luminance(hex: string): number {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

/** WCAG 2 contrast ratio. */
function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = ['ink', 'ink-2', 'ink-3', 'level-token', 'level-sub', 'level-seq', 'obj-sppo', 'ratio-lo-text', 'ratio-hi-text'];
const BACKGROUNDS = ['paper', 'surface', 'raised', 'well'];
const CELLS = ['ratio-lo-4', 'ratio-lo-3', 'ratio-lo-2', 'ratio-lo-1', 'ratio-0', 'ratio-hi-1', 'ratio-hi-2', 'ratio-hi-3', 'ratio-hi-4'];

describe.each(['dark', 'light'] as const)('%s', (theme) => {
  const colours = palette(theme);
  const of = (name: string) => colours.get(name) ?? '';

  test('the stylesheet has every colour', () => {
    for (const name of [...TEXTS, ...BACKGROUNDS, ...CELLS, 'solid', 'on-solid', 'ratio-ink']) expect(of(name), name).toMatch(/^#[0-9a-f]{6}$/);
  });

  test('text on its backgrounds is at least 4.5', () => {
    for (const text of TEXTS) for (const background of BACKGROUNDS) expect(contrast(of(text), of(background)), `${text} on ${background}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of('on-solid'), of('solid'))).toBeGreaterThanOrEqual(4.5);
  });

  test('a token on its cell is at least 4.5', () => {
    for (const cell of CELLS) expect(contrast(of('ratio-ink'), of(cell)), cell).toBeGreaterThanOrEqual(4.5);
  });
});
