import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { benchMarkdown, bestPeer, iterationFloor, timeOf, ratios } from '../../bench/lib/document';
import type { BenchResult, CellResult, Outcome } from '../../bench/lib/types';
import { keptResults, merged } from '../../cli/bench';

const ok = (...ms: number[]): Outcome => ({ status: 'ok', firstMs: 1000, runs: ms.map((m) => ({ ms: m })), proof: '' });

const measured = { date: '2026-01-01 00:00', load1: 0.1, commit: 'abc', limitSeconds: 60 };

const matmul = (outcomes: CellResult['outcomes']): CellResult => ({ id: 'matmul 512', measured, spec: { kind: 'matmul', n: 512 }, outcomes });

const result = (cells: CellResult[]): BenchResult => ({
  date: '2026-01-01 00:00', adapter: 'test adapter (software)', software: true, browser: '1', machine: { cores: 2, load1: 0.1, node: '20' },
  versions: { peer: '1.0.0' }, options: { rounds: 3, limitSeconds: 60, quick: false }, cells,
});

describe('ratios', () => {
  test('are medians over our median; the nearest library is the one with the least', () => {
    const cell = matmul({ ours: ok(10, 12, 11), jax: ok(33, 30, 40), tfjs: ok(110) });
    expect(ratios(cell)).toEqual({ jax: { times: 3, atLeast: false }, tfjs: { times: 10, atLeast: false } });
    expect(bestPeer(cell)).toEqual({ id: 'jax', times: 3 });
  });

  test('a library faster than ours counts as the nearest', () => {
    expect(bestPeer(matmul({ ours: ok(10), jax: ok(5), tfjs: ok(20) }))).toEqual({ id: 'jax', times: 0.5 });
  });

  test('a stop while running is a lower bound and never the nearest; a stop while compiling is no ratio', () => {
    const stopped = (stage: string): Outcome => ({ status: 'overLimit', stage, atLeastMs: 1000, reason: '' });
    expect(ratios(matmul({ ours: ok(10), tfjs: stopped('a run') }))).toEqual({ tfjs: { times: 100, atLeast: true } });
    expect(bestPeer(matmul({ ours: ok(10), tfjs: stopped('a run') }))).toBeNull();
    expect(ratios(matmul({ ours: ok(10), tfjs: stopped('compiling and the first run') }))).toEqual({});
  });

  test('without a result of ours there is none', () => {
    const cell = matmul({ ours: { status: 'failed', reason: 'lost' }, jax: ok(3) });
    expect(ratios(cell)).toEqual({});
    expect(timeOf(cell.outcomes.ours)).toBeNull();
  });
});

describe('the page', () => {
  test('a missed aim is called missed, a met one met, and a failure stands with its reason', () => {
    const missed = benchMarkdown([{ file: 'a.json', result: result([matmul({ ours: ok(10), jax: ok(15), tfjs: { status: 'failed', reason: 'no device' } })]) }], '');
    expect(missed).toContain('measured 1.5x (matmul 512, jax-js; 1.5x by the least times): missed by a factor of 1.33');
    expect(missed).toContain('TensorFlow.js, failed: no device (matmul 512)');
    const met = benchMarkdown([{ file: 'a.json', result: result([matmul({ ours: ok(10), jax: ok(25) })]) }], '');
    expect(met).toContain('measured 2.5x (matmul 512, jax-js; 2.5x by the least times): met');
  });

  test('says so when the machine was busy', () => {
    const busy = result([matmul({ ours: ok(10) })]);
    busy.cells[0].measured = { ...measured, load1: 9 };
    expect(benchMarkdown([{ file: 'a.json', result: busy }], '')).toContain('Other work ran on the machine');
    expect(benchMarkdown([{ file: 'a.json', result: result([]) }], '')).not.toContain('Other work ran on the machine');
  });

  test("an iteration's floor is its arithmetic at the best rate of the same run", () => {
    const iteration: CellResult = {
      id: 'iteration small', measured, spec: { kind: 'iteration', model: 'small' },
      outcomes: { ours: { status: 'ok', firstMs: 1, proof: '', runs: [{ ms: 500, counts: { positions: 1000, meanRow: 0, epochs: 1 } }] } },
    };
    const run = result([matmul({ ours: ok(100) }), iteration]);
    const floor = iterationFloor(run, iteration);
    const rate = (2 * 512 ** 3) / 100 / 1e6;
    expect(floor?.rate).toBeCloseTo(rate, 9);
    expect(floor?.floorMs).toBeCloseTo((4 * 1000 * 2 * (2 * 12 * 32 * 32 + 32 * 32)) / rate / 1e6, 9);
  });

  test('a cell measured again replaces the kept one and says when', () => {
    const again = matmul({ ours: ok(5) });
    again.measured = { ...measured, commit: 'def' };
    const both = merged(result([matmul({ ours: ok(10) }), { ...matmul({ ours: ok(1) }), id: 'other' }]), result([again]));
    expect(both.cells.map((c) => [c.id, c.measured.commit])).toEqual([['matmul 512', 'def'], ['other', 'abc']]);
    const page = benchMarkdown([{ file: 'a.json', result: both }], '');
    expect(page).toContain('build def, 60 s for a library in a cell: matmul 512');
  });

  test('docs/bench.md is what the kept results give', () => {
    const kept = keptResults();
    expect(kept.length).toBeGreaterThan(0);
    expect(readFileSync('docs/bench.md', 'utf8')).toBe(benchMarkdown(kept, readFileSync('bench/notes.md', 'utf8')));
  });
});
