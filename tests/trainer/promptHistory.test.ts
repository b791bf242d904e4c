import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { groupAdvantages } from '../../src/objectives';
import { PromptHistory } from '../../src/trainer/promptHistory';
import { Trainer } from '../../src/trainer/trainer';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';

describe('what prompts have earned', () => {
  it('is kept by prompt, over all groups that answer it; the prompt that has been away longest goes first', () => {
    const history = new PromptHistory(2);
    history.add({ prompts: ['a', 'b', 'a'], groupSize: 2 }, [1, 0, 1, 1, 0, 0]);
    expect(history.of('a')).toMatchObject({ visits: 2, answers: 4, mean: 0.25 });
    expect(history.of('c')).toBe(null);
    history.add({ prompts: ['c', 'a'], groupSize: 2 }, [NaN, 1, NaN, NaN]);
    expect([history.size, history.of('b'), history.of('c')?.answers]).toEqual([2, null, 1]);
    history.add({ prompts: ['b', 'a'], groupSize: 1 }, [0, 1]);
    expect([history.size, history.of('c'), history.of('a')?.visits, history.of('b')?.visits]).toEqual([2, null, 3, 1]);
  });

  it('smooths the advantages of a run from a prompt\u2019s second visit on, and the report counts those', async () => {
    const engine = new FakeEngine({ initial: habit });
    const trainer = new Trainer(engine, fakeTask, { ...presetConfig('dcpo', 'small'), prompts: 8, learningRate: 0.05 }, { loadReference: () => Promise.reject(new Error('not expected')) });
    const first = await trainer.runStep();
    const own = (batch: typeof first.batch) => groupAdvantages(batch.completions.map((c) => c.reward), batch.completions.map((c) => c.group));
    expect(first.report.groups.revisited).toBe(0);
    expect(first.batch.completions.map((c) => c.advantage)).toEqual([...own(first.batch)].map((a) => expect.closeTo(a, 9)));
    const second = await trainer.runStep();
    // There are five prompts in all.
    const before = new Set(first.batch.prompts);
    const isOld = second.batch.prompts.map((prompt) => before.has(prompt));
    expect(second.report.groups.revisited).toBe(isOld.filter(Boolean).length);
    expect(isOld.filter(Boolean).length).toBeGreaterThan(0);
    const alone = own(second.batch);
    const differs = second.batch.prompts.map((_, group) => second.batch.completions.some((c, r) => c.group === group && Math.abs(c.advantage - alone[r]) > 1e-6));
    expect(differs.filter((d, group) => d && !isOld[group])).toEqual([]);
    expect(differs.filter(Boolean).length).toBeGreaterThan(0);
    trainer.configure({ advantage: 'groupMeanStd' });
    expect((await trainer.runStep()).report.groups.revisited).toBe(null);
  });
});
