import { describe, expect, it } from 'vitest';
import { LensSession, lensSettingsOf, type LensSettings } from '../../src/lens';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

/** CPU time of this process, ms: other work shares this machine's cores, and the clock on the wall counts that too. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

describe('cost of a drag on 128 answers of 64 tokens', () => {
  const source = recordOf(randomBatch({ seed: 1, lengths: Array.from({ length: 128 }, () => 64), spread: 0.3, segments: 'random', advantages: [1, -1] }), 'grpo');
  const session = new LensSession(source);
  const own = lensSettingsOf(source.record.config);
  const objectives = ['grpo', 'sspo', 'gspo', 'sppo', 'lpo'];
  const answer = (settings: LensSettings): number => {
    const started = cpu();
    session.answer(settings, { columns: true, table: true, variants: true, curves: true, scaling: true, objectives });
    return cpu() - started;
  };

  it.each(['token', 'segment', 'sequence'] as const)('%s width: everything is recounted within 30 ms', (level) => {
    const drag = (i: number) => answer({ ...own, widths: { ...own.widths, [level]: { low: 0.01 + i / 1000, high: 0.01 + i / 1000 } } });
    for (let i = 0; i < 10; i++) drag(i);
    const times = Array.from({ length: 8 }, (_, i) => drag(20 + i));
    expect(Math.min(...times), times.map((t) => t.toFixed(1)).join(' ')).toBeLessThan(30);
  });

  it('another cut: within 150 ms, because no width of any subsentence row can be kept', () => {
    const times = Array.from({ length: 6 }, (_, i) => answer({ ...own, rule: { kind: 'everyN', n: 2 + i } }));
    expect(Math.min(...times), times.map((t) => t.toFixed(1)).join(' ')).toBeLessThan(150);
  });
});
