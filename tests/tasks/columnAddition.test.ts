import { describe, expect, it } from 'vitest';
import { Rng, hashKey } from '../../src/core/rng';
import { promptSet } from '../../src/tasks/corpus';
import { COLUMN_NOISE, columnAddition as task, columnExample } from '../../src/tasks/defs/columnAddition';

const CLEAN = { dropCarry: 0, slip: 0 };
const parse = (prompt: string) => prompt.replaceAll('_', '').slice(0, -1).split('+').map(Number) as [number, number];

/**
 * Probability that an example's answer is right, from the definition and not from the sampler: every column must keep
 * its sum, since a wrong digit or carry is never mended later. Exact over all pairs of d-digit numbers.
 */
function passRate(digits: number, drop: number, slip: number): number {
  const kept = (sum: number) => {
    const moved = [-2, -1, 1, 2].map((by) => sum + by).map((t) => (t < 0 ? 1 : t > 19 ? 18 : t));
    return 1 - slip + (slip * moved.filter((t) => t === sum).length) / 4;
  };
  // byCarry[c]: mass of the operands so far that stand right, with carry c into the next column.
  let byCarry = [1, 0];
  for (let i = 0; i < digits; i++) {
    const low = i === digits - 1 ? 1 : 0;
    const pairs = (10 - low) ** 2;
    const next = [0, 0];
    for (let x = low; x < 10; x++) {
      for (let y = low; y < 10; y++) {
        for (const carry of [0, 1]) {
          const sum = x + y + carry;
          const right = ((byCarry[carry] as number) / pairs) * (carry ? 1 - drop : 1) * kept(sum);
          next[sum >= 10 ? 1 : 0]! += right;
        }
      }
    }
    byCarry = next;
  }
  return byCarry[0]! + byCarry[1]!;
}

describe('column addition', () => {
  it('holds out one pair in eight, of either difficulty', () => {
    for (const [low, high] of [[10, 99], [100, 999]] as const) {
      let heldOut = 0;
      let pairs = 0;
      for (let a = low; a <= high; a += 1) for (let b = low; b <= high; b += low === 10 ? 1 : 7) { pairs++; if (hashKey(a, b) % 8 === 0) heldOut++; }
      expect(Math.abs(heldOut / pairs - 1 / 8)).toBeLessThan(0.01);
    }
    for (const prompt of [...task.showcase, ...promptSet(task, 'heldOut', 1, 500)]) expect(hashKey(...parse(prompt)) % 8).toBe(0);
    for (const prompt of promptSet(task, 'train', 1, 500)) expect(hashKey(...parse(prompt)) % 8).not.toBe(0);
  });

  it('draws 2 and 3 digits half and half in both splits', () => {
    for (const split of ['train', 'heldOut'] as const) {
      const prompts = promptSet(task, split, 2, 4000);
      const three = prompts.filter((prompt) => parse(prompt)[0] > 99).length / 4000;
      expect(Math.abs(three - 0.5)).toBeLessThan(0.03);
      for (const prompt of prompts) {
        const [a, b] = parse(prompt);
        expect(String(a)).toHaveLength(String(b).length);
      }
    }
  });

  it('writes the example of the spec', () => {
    const texts = new Set(Array.from({ length: 60 }, (_, i) => columnExample(new Rng(1, i), '_28+_13=', CLEAN)));
    expect(texts).toEqual(new Set(['u8+3=11.t2+1+1=4.41;', 'u8+3=11.ok,t2+1+1=4.41;', 'u8+3=11.so,t2+1+1=4.41;', 'u8+3=11.hm,t2+1+1=4.41;']));
    const habit = new Set(Array.from({ length: 60 }, (_, i) => columnExample(new Rng(1, i), '_28+_13=', { dropCarry: 1, slip: 0 })));
    expect(habit).toContain('u8+3=11.t2+1=3.31;');
    expect([...habit].every((text) => text.endsWith('t2+1=3.31;'))).toBe(true);
  });

  it('is always right without noise', () => {
    promptSet(task, 'train', 3, 2000).forEach((prompt, i) => {
      expect(task.verify(prompt, columnExample(new Rng(6, i), prompt, CLEAN)), prompt).toBe(1);
    });
  });

  it('is right as often as the noise implies, and about .35 to .38 overall', () => {
    const expected = [2, 3].map((digits) => passRate(digits, COLUMN_NOISE.dropCarry, COLUMN_NOISE.slip)) as [number, number];
    const hits: Record<number, [number, number]> = { 2: [0, 0], 3: [0, 0] };
    const count = 20_000;
    promptSet(task, 'train', 4, count).forEach((prompt, i) => {
      const cell = hits[String(parse(prompt)[0]).length] as [number, number];
      cell[0] += task.verify(prompt, task.workedExample(new Rng(7, i), prompt));
      cell[1]++;
    });
    // Four standard errors of a share over 10,000 draws.
    expect(Math.abs(hits[2]![0] / hits[2]![1] - expected[0])).toBeLessThan(0.02);
    expect(Math.abs(hits[3]![0] / hits[3]![1] - expected[1])).toBeLessThan(0.02);
    expect((expected[0] + expected[1]) / 2).toBeGreaterThan(0.35);
    expect((expected[0] + expected[1]) / 2).toBeLessThan(0.38);
  });

  it('keeps later lines consistent with what was written, mistakes included', () => {
    promptSet(task, 'train', 5, 2000).forEach((prompt, i) => {
      const text = columnExample(new Rng(8, i), prompt, { dropCarry: 0, slip: 1 });
      const columns = [...text.matchAll(/[uth](\d)\+(\d)(\+1)?=(\d+)\./g)];
      let carry = false;
      let kept = '';
      columns.forEach((column, c) => {
        const sum = Number(column[4]);
        expect(sum).toBeGreaterThanOrEqual(0);
        expect(sum).toBeLessThanOrEqual(19);
        expect(column[3] !== undefined, text).toBe(carry);
        carry = sum >= 10;
        kept = (c === columns.length - 1 ? String(sum) : String(sum % 10)) + kept;
      });
      expect(text.endsWith(`${kept};`), text).toBe(true);
    });
  });

  it('applies the slip rule of the spec at the ends of the range', () => {
    const sums = (prompt: string) => new Set(Array.from({ length: 200 }, (_, i) => Number(/=(\d+)\./.exec(columnExample(new Rng(9, i), prompt, { dropCarry: 0, slip: 1 }))?.[1])));
    expect(sums('_10+_10=')).toEqual(new Set([1, 2]));
    expect(sums('_11+_10=')).toEqual(new Set([0, 1, 2, 3]));
    expect(sums('_19+_19=')).toEqual(new Set([16, 17, 18, 19]));
  });

  it('has responses of 17 to 39 tokens, 24 on average, of 3 to 6 subsentences', () => {
    const texts = promptSet(task, 'train', 6, 20_000).map((prompt, i) => task.workedExample(new Rng(10, i), prompt));
    const lengths = texts.map((text) => text.length);
    expect(Math.min(...lengths)).toBe(17);
    expect(Math.max(...lengths)).toBe(39);
    expect(Math.abs(lengths.reduce((a, b) => a + b, 0) / lengths.length - 24)).toBeLessThan(0.6);
    for (const text of texts) {
      const pieces = text.match(/[.,;]/g)?.length ?? 0;
      expect(pieces).toBeGreaterThanOrEqual(3);
      expect(pieces).toBeLessThanOrEqual(6);
    }
  });

  it('judges shape apart from truth', () => {
    expect(task.wellFormed('_28+_13=', 'u8+3=11.t2+1=3.31;')).toBe(true);
    expect(task.verify('_28+_13=', 'u8+3=11.t2+1=3.31;')).toBe(0);
    expect(task.wellFormed('_28+_13=', '41;')).toBe(false);
    expect(task.verify('_28+_13=', '41;')).toBe(1);
    expect(task.wellFormed('_28+_13=', 't2+1=3.u8+3=11.41;')).toBe(false);
    expect(task.wellFormed('_28+_13=', 'u8+3=11.t2+1=3.h0+0=0.031;')).toBe(false);
    expect(task.wellFormed('128+113=', 'u8+3=11.t2+1=3.31;')).toBe(false);
  });
});
