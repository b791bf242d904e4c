import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { Rng } from '../../src/core/rng';
import { sftBatch, promptSet } from '../../src/tasks/corpus';
import { TASKS, getTask } from '../../src/tasks/index';
import type { Task } from '../../src/tasks/task';
import { decode, encode } from '../../src/tasks/tokenizer';

/** What holds for every task, the ones to come included. */

const draws = (task: Task, split: 'train' | 'heldOut', count: number) => promptSet(task, split, 5, count);

describe.each(TASKS.map((task) => [task.id, task] as const))('task %s', (_, task) => {
  it('fits the context, the alphabet and the interface', () => {
    expect(task.promptLength + task.maxNewTokens).toBeLessThanOrEqual(64);
    expect(task.eos).toBe(';');
    expect([...task.delimiters].sort()).toEqual([',', '.', ';']);
    expect(getTask(task.id)).toBe(task);
    for (const prompt of [...draws(task, 'train', 300), ...draws(task, 'heldOut', 300)]) {
      expect(prompt).toHaveLength(task.promptLength);
      expect(encode(prompt)).toHaveLength(task.promptLength);
    }
  });

  it('keeps the two splits apart', () => {
    const heldOut = new Set(draws(task, 'heldOut', 4000));
    expect(heldOut.size).toBeGreaterThan(300);
    for (const prompt of draws(task, 'train', 4000)) expect(heldOut.has(prompt)).toBe(false);
  });

  it('draws the same prompt and example for the same key', () => {
    const one = () => {
      const rng = new Rng(9, 3);
      const prompt = task.samplePrompt(rng, 'train');
      return prompt + task.workedExample(rng, prompt);
    };
    expect(one()).toBe(one());
  });

  it('writes examples that are well formed, within the budget, and right or wrong by the final number alone', () => {
    let right = 0;
    for (let i = 0; i < 2000; i++) {
      const rng = new Rng(4, i);
      const prompt = task.samplePrompt(rng, 'train');
      const example = task.workedExample(rng, prompt);
      expect(task.wellFormed(prompt, example)).toBe(true);
      expect(example.length).toBeLessThanOrEqual(task.maxNewTokens);
      const answer = example.slice(Math.max(example.lastIndexOf('.'), example.lastIndexOf(',')) + 1, -1);
      expect(task.verify(prompt, example)).toBe(answer === task.expectedAnswer(prompt) ? 1 : 0);
      right += task.verify(prompt, example);
    }
    expect(right).toBeGreaterThan(0);
    expect(right).toBeLessThan(2000);
  });

  it('earns nothing for a malformed answer', () => {
    for (const prompt of draws(task, 'heldOut', 50)) {
      const answer = task.expectedAnswer(prompt);
      const malformed = [
        '', ';', ';;', '.;', ',;', answer, `${answer};;`, `;${answer};`, `${answer};1`, `${answer}; `, `${answer}.;`, `${answer},;`,
        `0${answer};`, `00${answer};`, ` ${answer};`, `${answer} ;`, `+${answer};`, `-${answer};`, `=${answer};`, `${answer}0;`,
        `u=${answer};`, `ok ${answer};`, `${answer}.0;`, `${answer},0;`, `${[...answer].join(' ')};`, `${[...answer].join('_')};`,
        `1.${answer}`, `1;${answer};`, `${answer};.${answer};`, `${answer}\n;`, `${answer};\n`, `\u0661${answer};`, `${answer}e0;`, `0x${Number(answer).toString(16)};`,
        `${Number(answer) + 1};`, `${Number(answer) - 1};`, '9'.repeat(100_000) + ';', ';'.repeat(100_000), `${'.'.repeat(100_000)}${answer}`,
      ];
      for (const response of malformed) {
        expect(task.verify(prompt, response), JSON.stringify(response.slice(0, 40))).toBe(0);
        expect(task.wellFormed(prompt, response), JSON.stringify(response.slice(0, 40))).toBe(false);
      }
    }
  });

  it('earns 1 for the right number at the end, whatever the lines before it say', () => {
    for (const prompt of draws(task, 'heldOut', 50)) {
      const answer = task.expectedAnswer(prompt);
      for (const before of ['', 'nonsense.', 'u0+0=7.', 'hm,', '.,.,', '=+__.']) expect(task.verify(prompt, `${before}${answer};`)).toBe(1);
    }
  });

  it('never throws while judging, for any prompt and any text', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0123456789+=.,;_uth'), maxLength: 60 }));
    const [good] = draws(task, 'train', 1) as [string];
    fc.assert(
      fc.property(text, text, (prompt, response) => {
        for (const p of [prompt, good]) {
          expect([0, 1]).toContain(task.verify(p, response));
          expect(typeof task.wellFormed(p, response)).toBe('boolean');
          expect(typeof task.expectedAnswer(p)).toBe('string');
        }
        expect(task.verify(prompt, `${task.expectedAnswer(good)};`) === 1).toBe(task.expectedAnswer(prompt) === task.expectedAnswer(good));
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it('refuses to write an example for a foreign prompt', () => {
    for (const bad of ['', '1+1=', `${'_'.repeat(task.promptLength)}`, 'x'.repeat(task.promptLength)]) {
      expect(() => task.workedExample(new Rng(1), bad)).toThrow(UserError);
      expect(task.verify(bad, '0;')).toBe(0);
      expect(task.verify(bad, ';')).toBe(0);
      expect(task.verify(bad, 'NaN;')).toBe(0);
    }
  });

  it('shows prompts on which the habit comes up and costs the reward', () => {
    expect(task.showcase.length).toBeGreaterThanOrEqual(2);
    expect(task.showcase.length).toBeLessThanOrEqual(3);
    for (const prompt of task.showcase) {
      expect(prompt).toHaveLength(task.promptLength);
      let wrong = 0;
      for (let i = 0; i < 500; i++) wrong += 1 - task.verify(prompt, task.workedExample(new Rng(8, i), prompt));
      expect(wrong / 500).toBeGreaterThan(0.8);
    }
  });
});

describe('corpus', () => {
  const [task] = TASKS as [Task];

  it('lays examples out as rollouts are, zeros past the end', () => {
    const batch = sftBatch(task, 1, 7, 16);
    const S = task.promptLength + task.maxNewTokens;
    expect(batch).toMatchObject({ rows: 16, promptLength: task.promptLength });
    expect(batch.tokens).toHaveLength(16 * S);
    for (let row = 0; row < 16; row++) {
      const end = task.promptLength + (batch.lengths[row] as number);
      const tokens = batch.tokens.subarray(row * S, (row + 1) * S);
      const text = decode(tokens.subarray(0, end));
      expect(text.endsWith(';')).toBe(true);
      expect(task.wellFormed(text.slice(0, task.promptLength), text.slice(task.promptLength))).toBe(true);
      expect(tokens.subarray(end).every((id) => id === 0)).toBe(true);
    }
  });

  it('depends on seed, step and row alone', () => {
    expect(sftBatch(task, 1, 7, 16)).toEqual(sftBatch(task, 1, 7, 16));
    const wide = sftBatch(task, 1, 7, 16);
    const narrow = sftBatch(task, 1, 7, 4);
    expect(wide.tokens.subarray(0, narrow.tokens.length)).toEqual(narrow.tokens);
    expect(sftBatch(task, 2, 7, 4).tokens).not.toEqual(narrow.tokens);
    expect(sftBatch(task, 1, 8, 4).tokens).not.toEqual(narrow.tokens);
  });

  it('uses no held-out prompt', () => {
    const heldOut = new Set(promptSet(task, 'heldOut', 1, 20_000));
    const { tokens, rows } = sftBatch(task, 3, 0, 3000);
    const S = tokens.length / rows;
    for (let row = 0; row < rows; row++) expect(heldOut.has(decode(tokens.subarray(row * S, row * S + task.promptLength)))).toBe(false);
  });

  it('gives the same evaluation prompts for the same seed', () => {
    expect(promptSet(task, 'heldOut', 1, 20)).toEqual(promptSet(task, 'heldOut', 1, 20));
    expect(promptSet(task, 'heldOut', 2, 20)).not.toEqual(promptSet(task, 'heldOut', 1, 20));
  });

  it('names the tasks there are when asked for another', () => {
    expect(() => getTask('sorting')).toThrow(/sorting/);
  });
});
