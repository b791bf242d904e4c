import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('../../src/ui/theme/tokens.css', import.meta.url), 'utf8');

/** The "#rrggbb" custom properties of one theme's block. */
function palette(theme: 'dark' | 'light'): Map<string, string> {
  const block = new RegExp(`\\[data-theme=['"]?${theme}['"]?\\]\\s*\\{([^}]*)\\}`).exec(css)?.[1] ?? '';
  return new Map([...block.matchAll(/(--[\w-]+):\s*(#[0-9a-f]{6})\b/gi)].map((match) => [match[1] as string, match[2] as string]));
}

/** WCAG 2 relative luminance. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const BACKGROUNDS = ['--paper', '--surface', '--raised', '--well'];
const TEXT = ['--ink', '--ink-2', '--ink-3', '--level-token', '--level-sub', '--level-seq', '--obj-sppo', '--ratio-lo-text', '--ratio-hi-text'];
const CELLS = ['--ratio-lo-4', '--ratio-lo-3', '--ratio-lo-2', '--ratio-lo-1', '--ratio-0', '--ratio-hi-1', '--ratio-hi-2', '--ratio-hi-3', '--ratio-hi-4'];

describe('the measure itself', () => {
  it('gives 21 for black on white and 1 for a colour on itself', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 6);
    expect(contrast('#4fd6b8', '#4fd6b8')).toBe(1);
  });
});

describe.each(['dark', 'light'] as const)('%s palette', (theme) => {
  const colours = palette(theme);
  const pairs = [...TEXT.flatMap((text) => BACKGROUNDS.map((ground) => [text, ground])), ...CELLS.map((cell) => ['--ratio-ink', cell]), ['--on-solid', '--solid']] as [string, string][];

  it.each(pairs)('%s on %s is readable', (text, ground) => {
    const ratio = contrast(colours.get(text) ?? 'missing', colours.get(ground) ?? 'missing');
    if (!(ratio >= 4.5)) expect.fail(`${text} on ${ground}: ${ratio.toFixed(2)} < 4.5`);
  });
});
