import { describe, expect, it } from 'vitest';
import { Rng, hashKey } from '../../src/core/rng';
import { promptSet } from '../../src/tasks/corpus';
import { CHAIN_NOISE, chainExample, chainSum as task } from '../../src/tasks/defs/chainSum';

const CLEAN = { dropTen: 0, slip: 0 };
const parse = (prompt: string) => prompt.replaceAll('_', '').slice(0, -1).split('+').map(Number);

/** Every list of terms with this many steps. */
function* allTerms(steps: number): Generator<number[]> {
  for (let start = 10; start < 80; start++) {
    for (let code = 0; code < 4 ** steps; code++) {
      yield [start, ...Array.from({ length: steps }, (_, i) => (Math.floor(code / 4 ** i) % 4) + 1)];
    }
  }
}

/** Exact probability of the right total for one prompt: the distribution of the written total, line by line. */
function passChance(terms: number[], drop: number, slip: number): number {
  let totals = new Map([[terms[0] as number, 1]]);
  for (const addend of terms.slice(1)) {
    const next = new Map<number, number>();
    const put = (total: number, mass: number) => next.set(total, (next.get(total) ?? 0) + mass);
    for (const [total, mass] of totals) {
      const dropped = (total % 10) + addend > 9 ? drop : 0;
      const sum = total + addend;
      put(sum - 10, mass * dropped);
      put(sum, mass * (1 - dropped) * (1 - slip));
      for (const by of [-2, -1, 1, 2]) put(sum + by < 0 ? 1 : sum + by > 99 ? 98 : sum + by, (mass * (1 - dropped) * slip) / 4);
    }
    totals = next;
  }
  return totals.get(terms.reduce((a, b) => a + b, 0)) ?? 0;
}

describe('chain sum', () => {
  it('holds out one prompt in eight, of either difficulty', () => {
    for (const steps of [2, 3]) {
      const all = [...allTerms(steps)];
      const share = all.filter((terms) => hashKey(...terms) % 8 === 0).length / all.length;
      expect(Math.abs(share - 1 / 8)).toBeLessThan(0.02);
    }
    for (const prompt of [...task.showcase, ...promptSet(task, 'heldOut', 1, 500)]) expect(hashKey(...parse(prompt)) % 8).toBe(0);
    for (const prompt of promptSet(task, 'train', 1, 500)) expect(hashKey(...parse(prompt)) % 8).not.toBe(0);
  });

  it('draws two and three steps half and half in both splits', () => {
    for (const split of ['train', 'heldOut'] as const) {
      const three = promptSet(task, split, 2, 4000).filter((prompt) => parse(prompt).length === 4).length / 4000;
      expect(Math.abs(three - 0.5)).toBeLessThan(0.03);
    }
  });

  it('writes the running total, and keeps the old ten out of habit', () => {
    const texts = (noise: { dropTen: number; slip: number }) => Array.from({ length: 60 }, (_, i) => chainExample(new Rng(1, i), '__27+4+3=', noise));
    expect(texts(CLEAN)).toContain('27+4=31.31+3=34.34;');
    expect(texts({ dropTen: 1, slip: 0 })).toContain('27+4=21.21+3=24.24;');
    expect(texts({ dropTen: 1, slip: 0 }).every((text) => task.verify('__27+4+3=', text) === 0)).toBe(true);
  });

  it('is always right without noise', () => {
    promptSet(task, 'train', 3, 2000).forEach((prompt, i) => {
      expect(task.verify(prompt, chainExample(new Rng(6, i), prompt, CLEAN)), prompt).toBe(1);
    });
  });

  it('is right as often as the noise implies, between .3 and .4', () => {
    const counts = { 3: { hits: 0, chance: 0, n: 0 }, 4: { hits: 0, chance: 0, n: 0 } };
    promptSet(task, 'train', 4, 20_000).forEach((prompt, i) => {
      const terms = parse(prompt);
      const cell = counts[terms.length as 3 | 4];
      cell.hits += task.verify(prompt, task.workedExample(new Rng(7, i), prompt));
      cell.chance += passChance(terms, CHAIN_NOISE.dropTen, CHAIN_NOISE.slip);
      cell.n++;
    });
    for (const cell of [counts[3], counts[4]]) expect(Math.abs(cell.hits - cell.chance) / cell.n).toBeLessThan(0.02);
    const overall = (counts[3].chance + counts[4].chance) / 20_000;
    expect(overall).toBeGreaterThan(0.3);
    expect(overall).toBeLessThan(0.4);
  });

  it('keeps later lines consistent with what was written, mistakes included', () => {
    promptSet(task, 'train', 5, 2000).forEach((prompt, i) => {
      const text = chainExample(new Rng(8, i), prompt, { dropTen: 0.5, slip: 0.9 });
      const lines = [...text.matchAll(/(\d+)\+(\d)=(\d+)\./g)];
      const terms = parse(prompt);
      let total = terms[0] as number;
      lines.forEach((line, k) => {
        expect(Number(line[1])).toBe(total);
        expect(Number(line[2])).toBe(terms[k + 1]);
        total = Number(line[3]);
        expect(total).toBeLessThanOrEqual(99);
      });
      expect(lines).toHaveLength(terms.length - 1);
      expect(text.endsWith(`.${total};`)).toBe(true);
    });
  });

  it('has responses of at most 33 tokens, 24 on average, of 3 to 6 subsentences', () => {
    const texts = promptSet(task, 'train', 6, 20_000).map((prompt, i) => task.workedExample(new Rng(10, i), prompt));
    const lengths = texts.map((text) => text.length);
    expect(Math.max(...lengths)).toBe(33);
    expect(Math.abs(lengths.reduce((a, b) => a + b, 0) / lengths.length - 24)).toBeLessThan(0.6);
    for (const text of texts) {
      const pieces = text.match(/[.,;]/g)?.length ?? 0;
      expect(pieces).toBeGreaterThanOrEqual(3);
      expect(pieces).toBeLessThanOrEqual(6);
    }
  });

  it('judges shape apart from truth', () => {
    expect(task.wellFormed('__27+4+3=', '27+4=21.21+3=24.24;')).toBe(true);
    expect(task.verify('__27+4+3=', '27+4=21.21+3=24.24;')).toBe(0);
    expect(task.wellFormed('__27+4+3=', '27+4=31.34;')).toBe(false);
    expect(task.verify('__27+4+3=', '27+4=31.34;')).toBe(1);
  });
});
