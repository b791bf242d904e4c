import { describe, expect, test } from 'vitest';
import { BUDGETS, chunkName, overBudget, SMALL, unusedBudgets } from '../../scripts/lib/budgets.mjs';

describe('budgets of scripts', () => {
  test('go by the name without the hash', () => {
    expect(chunkName('assets/LensView-CLeBKv1t.js')).toBe('LensView');
    expect(chunkName('assets/ort.wasm.bundle.min-B3CAXBL7.js')).toBe('ort.wasm.bundle.min');
    expect(chunkName('assets/jsx-runtime-Wy9s6hX0.js')).toBe('jsx-runtime');
    expect(chunkName('assets/inter-a_b-c-d1.js')).toBe('inter');
  });

  test('stop a script that grew, named or new', () => {
    const kb = 1024;
    expect(overBudget([{ path: 'assets/LensView-CLeBKv1t.js', gzip: BUDGETS.LensView! * kb - 1 }, { path: 'assets/new-CLeBKv1t.js', gzip: SMALL * kb - 1 }])).toEqual([]);
    expect(overBudget([{ path: 'assets/LensView-CLeBKv1t.js', gzip: BUDGETS.LensView! * kb }])).toEqual([`assets/LensView-CLeBKv1t.js is ${BUDGETS.LensView}.0 KB gzip, its budget ${BUDGETS.LensView}`]);
    expect(overBudget([{ path: 'assets/constructor-CLeBKv1t.js', gzip: SMALL * kb }])).toHaveLength(1);
  });

  test('name a budget that nothing uses', () => {
    const all = Object.keys(BUDGETS).map((name) => ({ path: `assets/${name}-CLeBKv1t.js` }));
    expect(unusedBudgets(all)).toEqual([]);
    expect(unusedBudgets(all.slice(1))).toEqual(['index']);
  });

  test('add up to less than the entry may have', () => {
    expect(['index', 'jsx-runtime', 'numbers', 'LazyTex'].reduce((sum, name) => sum + BUDGETS[name]!, 0)).toBeLessThan(250);
  });
});
