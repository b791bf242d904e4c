import { describe, expect, it } from 'vitest';
import { LensSession, lensSettingsOf, type LensSettings } from '../../src/lens';
import { registerCustom } from '../../src/objectives/custom';
import { expectClose } from '../helpers/expectClose';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

const GRPO = `title "Mine"
param clipLow = 0.2 in 0.01..0.5;
param clipHigh = 0.2 in 0.01..0.5;
-min(ratio * adv, clip(ratio, 1 - clipLow, 1 + clipHigh) * adv)`;

const batch = randomBatch({ seed: 21, lengths: [12, 9, 14, 3], spread: 0.5, segments: 'random', advantages: [1, -1, 0.4, 0] });

/** The lens on a batch that a typed objective trained on. */
function lens(text: string, patch: Partial<LensSettings> = {}) {
  const { objective } = registerCustom(text);
  const source = recordOf(batch, objective.id, { config: { customObjective: text } });
  const answer = new LensSession(source).answer({ ...lensSettingsOf(source.record.config), ...patch }, { table: true, curves: true, objectives: ['grpo', 'sspo', objective.id] });
  const of = (id: string) => ({ curve: answer.curves?.find((c) => c.objective === id), row: answer.table?.find((r) => r.objective === id) });
  return { own: of(objective.id), grpo: of('grpo') };
}

const widths = (low: number, high: number): LensSettings['widths'] => ({ token: { low, high }, segment: { low: 0.05, high: 0.05 }, sequence: { low: 0.01, high: 0.01 } });

describe('the curve of a typed objective over epsilon', () => {
  it('is that of the built-in which it imitates, within its declared bounds, at a third of the points', () => {
    const { own, grpo } = lens(GRPO);
    expect(own.curve?.epsilon).toHaveLength(41);
    let compared = 0;
    own.curve?.epsilon.forEach((epsilon, i) => {
      const at = grpo.curve?.epsilon.indexOf(epsilon) ?? -1;
      expectClose([own.curve?.tokens[i] ?? NaN, own.curve?.gradient[i] ?? NaN], [grpo.curve?.tokens[at] ?? NaN, grpo.curve?.gradient[at] ?? NaN], 1e-12, `epsilon ${epsilon}`);
      compared++;
    });
    expect(compared).toBe(41);
    expect([own.curve?.count, own.curve?.live]).toEqual([38, 35]);
    expect(own.curve?.tokens[0]).toBeGreaterThan(own.curve?.tokens[40] ?? NaN);
  });

  it('has the widths in force on it, as its level\u2019s slider sets them and its declaration bounds them', () => {
    const { own, grpo } = lens(GRPO, { widths: widths(0.12, 0.3) });
    expect(own.row?.widths).toEqual({ low: 0.12, high: 0.3 });
    const current = own.curve?.marks.find((mark) => mark.kind === 'current');
    expect([current?.tokens, current?.gradient]).toEqual([own.row?.metrics.clippedTokens, own.row?.metrics.gradientClipped]);
    expect(own.row?.metrics.clippedTokens).toBe(grpo.row?.metrics.clippedTokens);
    expect(own.row?.metrics.clippedTokens).toBeGreaterThan(0);
    expect(lens(GRPO, { widths: widths(0.002, 0.9) }).own.row?.widths).toEqual({ low: 0.01, high: 0.5 });
  });

  it('is drawn for bands of another kind too', () => {
    const log = GRPO.replace('1 - clipLow', 'exp(-clipLow)').replace('1 + clipHigh', 'exp(clipHigh)').replace('-min', 'band 1 - exp(-clipLow), exp(clipHigh) - 1;\n-min');
    const { own } = lens(log);
    const { own: plain } = lens(GRPO);
    expect(own.curve?.tokens.some((share, i) => share !== plain.curve?.tokens[i])).toBe(true);
    expect(own.curve?.tokens.every((share, i, all) => i === 0 || share <= all[i - 1])).toBe(true);
  });

  it('is not there without a pair of clip widths', () => {
    const { own } = lens('title "Plain"\nparam cap = 1.2 in 1..10;\n-min(ratio, cap) * adv');
    expect(own.row).toMatchObject({ title: 'Plain', widths: null });
    expect(own.curve).toBeUndefined();
  });
});
