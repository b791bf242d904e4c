import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pages, slope } from '../../bench/pages.mjs';
import { cumulativeShift, FIRST_STEP_MS, LIMIT_MS, SHIFT_LIMIT } from '../../bench/trainTrace.mjs';
import { growth, scaleMarkdown, scaleSvg } from '../../bench/lib/scaleDocument';
import { short, ticks } from '../../bench/lib/svg.mjs';
import { keptScale } from '../../cli/scale';

const result = (name: string) => JSON.parse(readFileSync(`bench/results/${name}`, 'utf8'));

describe('pages drawn from results', () => {
  test.each(Object.entries(pages()))('docs/%s is what its result says', (name, text) => {
    expect(readFileSync(`docs/${name}`, 'utf8'), 'run node bench/pages.mjs').toBe(text);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('docs/scale.md and its chart are what their result says', () => {
    const file = keptScale();
    expect(readFileSync('docs/scale.md', 'utf8'), 'run npm run bench -- scale --document').toBe(scaleMarkdown(file));
    expect(readFileSync('docs/scale.svg', 'utf8')).toBe(scaleSvg(file));
    expect(scaleMarkdown(file) + scaleSvg(file)).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe('what was measured', () => {
  test('training holds the promises on tasks, first step and layout', () => {
    const trace = result('train-trace.json');
    expect(trace.error).toBeNull();
    expect(trace.longestThreadMs).toBeLessThan(LIMIT_MS);
    expect(trace.firstStepMs).toBeLessThan(FIRST_STEP_MS);
    expect(trace.cumulativeShift).toBeLessThan(SHIFT_LIMIT);
  });

  test('ten thousand updates leave memory flat', () => {
    const { samples, updates, phase, error, problems } = result('soak.json');
    expect([phase, error, problems]).toEqual(['finished', null, []]);
    expect(updates).toBeGreaterThanOrEqual(10_000);
    expect(new Set(samples.map((s: { gpuBuffers: number }) => s.gpuBuffers)).size).toBe(1);
    // A leak of one batch record an iteration would be about a megabyte per 1,000 updates.
    for (const key of ['pageHeap', 'workerHeap', 'gpuProcess']) expect(slope(samples, key), key).toBeLessThan(200_000);
  });

  test('five tabs all train, none fails', () => {
    const { tabs, iterations } = result('tabs.json');
    expect(tabs).toHaveLength(5);
    for (const tab of tabs) expect([tab.step >= iterations, tab.error, tab.problems]).toEqual([true, null, []]);
  });
});

describe('the arithmetic of the pages', () => {
  test('slope is that of the second half, per 1,000 updates', () => {
    const samples = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ update: i * 100, heap: i < 4 ? 1e9 - i * 1e6 : 500 + 3 * i * 100 }));
    expect(slope(samples, 'heap')).toBeCloseTo(3000, 9);
  });

  test('shifts are summed over five seconds, without those that follow a person’s input', () => {
    const shift = (at: number, value: number, hadRecentInput = false) => ({ at, value, hadRecentInput });
    expect(cumulativeShift([shift(0, 0.1), shift(900, 0.1), shift(950, 5, true), shift(2000, 0.15)])).toBeCloseTo(0.2, 12);
    expect(cumulativeShift(Array.from({ length: 12 }, (_, i) => shift(i * 900, 1)))).toBe(6);
    expect(cumulativeShift([])).toBe(0);
  });

  test('growth is the exponent between the ends of an axis', () => {
    const at = (rows: number, iterationMs: number) => ({ rows, iterationMs }) as Parameters<typeof growth>[0][number];
    expect(growth([at(16, 10), at(32, 99), at(64, 160)], 'rows')).toBeCloseTo(2, 12);
  });

  test('axes have round ticks within their range', () => {
    expect(ticks(0, 23, false)).toEqual([0, 10, 20]);
    expect(ticks(9, 1100, true).every((t) => t >= 9 && t <= 1101)).toBe(true);
    expect([short(12_345), short(2_500_000), short(0.5)]).toEqual(['12.3k', '2.5M', '0.5']);
  });
});
