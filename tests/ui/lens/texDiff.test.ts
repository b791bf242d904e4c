import katex from 'katex';
import { describe, expect, test } from 'vitest';
import { OBJECTIVES, objectiveTex } from '../../../src/objectives';
import { markDifferences, texTerms } from '../../../src/ui/lens/texDiff';
import { texOptions } from '../../../src/ui/formula/Tex';

const lossOf = (id: string) => objectiveTex(OBJECTIVES.find((o) => o.id === id) as (typeof OBJECTIVES)[number], { hyper: { dualClip: 0, beta: 0 } }).tokenLoss;

describe('terms of a formula', () => {
  test('keep a symbol with its scripts, a number and a command with its groups together', () => {
    expect(texTerms('-\\min\\left(r_{i,t}\\,\\hat{A}_{i,t}, 1.2\\right)')).toEqual(['-', '\\min', '\\left(', 'r_{i,t}', '\\,', '\\hat{A}_{i,t}', ',', '1.2', '\\right)']);
    expect(texTerms('\\htmlClass{level-token}{r_{i,t}} + \\frac{a}{b}^2')).toEqual(['\\htmlClass{level-token}{r_{i,t}}', '+', '\\frac{a}{b}^2']);
  });

  test('lose no character but blanks, for every objective', () => {
    for (const { id } of OBJECTIVES) expect(texTerms(lossOf(id)).join('').replace(/\s/g, ''), id).toBe(lossOf(id).replace(/\s/g, ''));
  });
});

describe('what differs between two formulas', () => {
  test('is nothing for a formula and itself', () => {
    for (const { id } of OBJECTIVES) expect(markDifferences(lossOf(id), lossOf(id)), id).not.toContain('differs');
  });

  test('between GRPO and GSPO is the ratio, twice, and nothing else', () => {
    const marked = markDifferences(lossOf('grpo'), lossOf('gspo'));
    expect(marked.match(/\\htmlClass\{differs\}\{[^{}]*\{[^{}]*\}\{r_\{i,t\}\}\}/g)).toHaveLength(2);
    expect(marked.match(/differs/g)).toHaveLength(2);
  });

  test('can be typeset for every pair', () => {
    for (const a of OBJECTIVES) {
      for (const b of OBJECTIVES) {
        const tex = markDifferences(lossOf(a.id), lossOf(b.id));
        expect(() => katex.renderToString(tex, { ...texOptions(false), throwOnError: true }), `${a.id} against ${b.id}: ${tex}`).not.toThrow();
      }
    }
  });
});
