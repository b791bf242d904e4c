import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { batchToJsonl, LensSession, lensSettingsOf, parseBatch, TABLE_COLUMNS, tableCsv } from '../../src/lens';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

const source = () => recordOf(randomBatch({ seed: 31, lengths: [4, 9, 1], spread: 0.4, segments: 'random', advantages: [1, -0.5] }), 'sspo');

describe('a batch file', () => {
  it('gives the batch back, every f32 to the last bit', () => {
    const given = source();
    given.record.completions[1].value = 0.3;
    given.record.completions[0].refLogp = null;
    const { source: back, problems } = parseBatch(batchToJsonl(given));
    expect(problems).toEqual([]);
    expect(back).toEqual(given);
    expect(back.record.completions[2].oldLogp).toBeInstanceOf(Float32Array);
  });

  it('writes every f32 with the digits it needs and no more', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: -100, max: 0, noNaN: true }), { minLength: 1, maxLength: 20 }), (column) => {
        const given = recordOf({ oldLogp: [column], newLogp: [column], mask: [column.map(() => 1)], segments: [column.map(() => 0)], advantages: [column.map(() => 1)] });
        const text = batchToJsonl(given);
        // -0 is written as 0, which is the same log-prob.
        expect(parseBatch(text).source.record.completions[0].newLogp).toEqual(Float32Array.from(column, (x) => x + 0));
      }),
      { seed: 99, numRuns: 100 },
    );
    const third = recordOf({ oldLogp: [[-0.1]], newLogp: [[-1 / 3]], mask: [[1]], segments: [[0]], advantages: [[1]] });
    expect(batchToJsonl(third)).toContain('"oldLogp":[-0.1],"newLogp":[-0.33333334]');
  });

  it('takes Windows line ends, a byte order mark and fields that it does not know', () => {
    const text = `\uFEFF${batchToJsonl(source()).replace('"version":1', '"version":1,"later":[1]').replaceAll('\n', '\r\n')}\r\n\r\n`;
    expect(parseBatch(text).source).toEqual(source());
  });

  it('repairs settings of the run that are out of range, and says so', () => {
    const text = batchToJsonl(source()).replace('"clipLowToken":0.2', '"clipLowToken":-3');
    const { source: back, problems } = parseBatch(text);
    expect(back.record.config.clipLowToken).toBe(1e-4);
    expect(problems.map((p) => p.field)).toEqual(['clipLowToken']);
  });

  it('refuses with the line, the field and what to do', () => {
    const good = batchToJsonl(source()).split('\n');
    const line = (i: number, change: Record<string, unknown>) => good.map((text, k) => (k === i ? JSON.stringify({ ...(JSON.parse(text) as object), ...change }) : text)).join('\n');
    const without = (i: number, name: string) => line(i, { [name]: undefined });
    const cases: [string, RegExp][] = [
      ['', /empty/],
      ['\n \n', /empty/],
      ['{', /Line 1 .*not JSON/],
      ['[]', /Line 1 .*not an object/],
      ['{}', /not a batch of Ratioscope/],
      [line(0, { version: 2 }), /version 2/],
      [line(0, { objective: 'ppo9' }), /Line 1 .*"ppo9"/],
      [line(0, { prompts: 'x' }), /Line 1 .*"prompts" is not a list/],
      [line(0, { prompts: [1] }), /"prompts"\[0\] is not text/],
      [line(0, { config: [] }), /Line 1 .*"config" is not an object/],
      [line(0, { meanEntropy: -1 }), /"meanEntropy" is not a number of at least 0/],
      [line(0, { maxTokens: 0 }), /"maxTokens" is not a whole number from 1/],
      [line(0, { step: 1.5 }), /"step"/],
      [good[0], /holds no answers/],
      [`${good[0]}\nnull`, /Line 2 .*not an object/],
      [without(1, 'oldLogp'), /Line 2 .*"oldLogp" is missing/],
      [line(1, { oldLogp: [1, 2] }), /Line 2 .*"oldLogp" has 2 values for 4 tokens/],
      [line(1, { newLogp: [-1, 0.5, -1, -1] }), /Line 2 .*"newLogp"\[1\] is not a number of at most 0.001/],
      [line(2, { entropy: Array(9).fill(null) }), /Line 3 .*"entropy"\[0\]/],
      [line(2, { group: 7 }), /Line 3 .*"group" is 7, but line 1 has 2 prompts/],
      [line(2, { group: -1 }), /Line 3 .*"group"/],
      [line(2, { segments: [1, 0, 0, 0, 0, 0, 0, 0, 0] }), /"segments" falls at token 1/],
      [line(3, { tokens: [] }), /Line 4 .*"tokens" is empty/],
      [line(3, { reward: 'one' }), /Line 4 .*"reward" is not a number/],
      [line(3, { value: 2 }), /Line 4 .*"value" is not a number from 0 to 1/],
    ];
    for (const [text, message] of cases) {
      try {
        parseBatch(text);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        expect((error as UserError).message).toMatch(message);
        expect((error as UserError).hint).not.toBe('');
        continue;
      }
      throw new Error(`was taken: ${String(message)}`);
    }
  });

  it('survives any text: a batch or a UserError', () => {
    const good = batchToJsonl(source());
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.string({ unit: 'binary', maxLength: 5 }), fc.nat(12), (at, put, drop) => {
        const text = good.slice(0, at) + put + good.slice(at + drop);
        try {
          const { record } = parseBatch(text).source;
          for (const row of record.completions) expect(row.newLogp.every(Number.isFinite)).toBe(true);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
      { seed: 12, numRuns: 1000 },
    );
  });
});

describe('the table as CSV', () => {
  it('has a line of heads, the names elsewhere, and the numbers as they are', () => {
    const given = source();
    const { table } = new LensSession(given).answer(lensSettingsOf(given.record.config), { table: true, variants: true, objectives: ['grpo', 'gspo', 'reinforce'] });
    const text = tableCsv(table ?? []);
    expect(text.endsWith('\r\n')).toBe(true);
    const lines = text.trimEnd().split('\r\n').map((line) => line.split(','));
    expect(lines).toHaveLength(3 + (table?.length ?? 0));
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([8 + TABLE_COLUMNS.length]));
    const column = lines[0].indexOf('binding.tokens.both');
    expect([lines[1][column], lines[2][column]]).toEqual(['clip_ratio/region_mean', 'actor/pg_clipfrac']);
    table?.forEach((row, i) => {
      const line = lines[3 + i];
      expect([line[0], line[1], Number(line[column])]).toEqual([row.objective, row.variant ?? 'in force', row.own.binding.tokens.both]);
    });
    const none = lines.find((line) => line[0] === 'reinforce');
    expect([none?.[3], none?.[4]]).toEqual(['', '']);
  });
});
