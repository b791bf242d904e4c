import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../cli/eval';
import { UserError } from '../../src/core/errors';
import { OBJECTIVES } from '../../src/objectives';
import golden from '../fixtures/objectives.json';
import { DAMAGE, damaged } from '../helpers/mutate';

/** `eval` on damaged batches: numbers of the batch that stands there, or words that say what is wrong with it. */

const folder = mkdtempSync(join(tmpdir(), 'ratioscope-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { old, new: now, mask, seg, entropy, adv, Lmax } = golden.fixture;
const GOOD = { oldLogp: old, newLogp: now, mask, segments: seg, entropy, advantages: adv, maxTokens: Lmax };
const REWARDS = { oldLogp: old, newLogp: now, mask, tokens: old.map((row) => row.map((_, t) => (t % 2 ? '.' : 'a'))), entropy, rewards: [1, 0], groups: [0, 0], maxTokens: Lmax, set: { clipLow: 0.1, lossAggMode: 'token-mean' } };

interface Answer {
  loss: unknown;
  coefficients: unknown[][];
  ratios: { token: number[][]; segment: number[][]; sequence: number[] };
  clipped: unknown[][];
}

/** What the command prints for a text, or null where it refuses in words. */
async function answer(text: string, objective: string): Promise<Answer[] | null> {
  const file = join(folder, 'batch.json');
  writeFileSync(file, text);
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => (written.push(String(chunk)), true));
  try {
    await run(['--objective', objective, '--input', file]);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.message.length).toBeGreaterThan(10);
    return null;
  } finally {
    spy.mockRestore();
  }
  return written.join('').trim().split('\n').map((line) => JSON.parse(line) as Answer);
}

/** The ratios of a batch, straight from their definition and from nothing of ours. */
function ratiosOf(batch: typeof GOOD): { token: number[][]; sequence: number[] } {
  const clamp = (x: number): number => Math.min(20, Math.max(-20, x));
  const rows = batch.mask.map((row, r) => row.map((m, t) => (m ? clamp(batch.newLogp[r]![t]! - batch.oldLogp[r]![t]!) : null)));
  const exact = batch.mask.map((row, r) => row.flatMap((m, t) => (m ? [batch.newLogp[r]![t]! - batch.oldLogp[r]![t]!] : [])));
  return { token: rows.map((row) => row.map((x) => (x === null ? 0 : Math.exp(x)))), sequence: exact.map((row) => Math.exp(clamp(row.reduce((sum, x) => sum + x, 0) / row.length))) };
}

const near = (a: unknown, b: number): boolean => typeof a === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));

function check(batch: typeof GOOD, result: Answer, text: string): void {
  const finite = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
  if (!finite(result.loss) || !result.coefficients.flat().every(finite) || !result.clipped.flat().every(finite)) throw new Error(`not finite: ${text}`);
  const want = ratiosOf(batch);
  want.token.forEach((row, r) => row.forEach((ratio, t) => {
    if (batch.mask[r]![t] && !near(result.ratios.token[r]![t], ratio)) throw new Error(`ratio [${r}][${t}] is ${result.ratios.token[r]![t]}, not ${ratio}: ${text}`);
  }));
  want.sequence.forEach((ratio, r) => {
    if (!near(result.ratios.sequence[r], ratio)) throw new Error(`sequence ratio ${r} is ${result.ratios.sequence[r]}, not ${ratio}: ${text}`);
  });
}

describe('1,000 damaged batches', () => {
  it('give numbers that are finite and of this very batch, or a refusal', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...OBJECTIVES.map(({ id }) => id)), fc.constantFrom<object>(GOOD, REWARDS), DAMAGE, async (objective, good, damage) => {
        const text = JSON.stringify(damaged(good, damage)) ?? '';
        const results = await answer(text, objective);
        if (results === null) refused++;
        else for (const [i, result] of results.entries()) {
          const value = JSON.parse(text) as typeof GOOD | (typeof GOOD)[];
          check(Array.isArray(value) ? value[i]! : value, result, text);
        }
      }),
      { seed: 20261206, numRuns: 1000 },
    );
    expect(refused).toBeGreaterThan(300);
    expect(refused).toBeLessThan(990);
  }, 60_000);

  it('cut or mistyped as text give the same', async () => {
    const text = JSON.stringify(GOOD);
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.nat(6), fc.oneof(fc.string({ unit: 'binary', maxLength: 3 }), fc.constantFrom('NaN', 'Infinity', '1e400', '-', '[', ']', '{}', 'null', '\n')), async (at, cut, put) => {
        const broken = text.slice(0, at) + put + text.slice(at + cut);
        const results = await answer(broken, 'sspo');
        if (results === null || /NaN|Infinity|\n/.test(put)) return;
        check(JSON.parse(broken) as typeof GOOD, results[0]!, broken);
      }),
      { seed: 20261207, numRuns: 1000 },
    );
  }, 60_000);
});
