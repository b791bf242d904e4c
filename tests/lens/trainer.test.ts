import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { LensSession, lensSettingsOf } from '../../src/lens';
import { Trainer } from '../../src/trainer/trainer';
import { FakeEngine } from '../helpers/fakeEngine';
import { fakeTask, habit } from '../helpers/fakeTask';

describe('the lens and the live metrics are one implementation', () => {
  it.each(['grpo', 'gspo', 'sspo', 'lpo', 'sppo', 'ppo'])('%s: each update of a trained batch, recounted from the stored record', async (objective) => {
    const config = {
      ...presetConfig(objective === 'lpo' ? 'sspo' : objective, 'small'),
      objective,
      prompts: ['sppo', 'ppo'].includes(objective) ? 64 : 8,
      groupSize: ['sppo', 'ppo'].includes(objective) ? 1 : 8,
      learningRate: 0.05,
      // Narrow, so that clips act in this tiny run.
      clipLowToken: 0.004, clipHighToken: 0.005, clipLowSegment: 0.004, clipHighSegment: 0.005,
    };
    const trainer = new Trainer(new FakeEngine({ initial: habit }), fakeTask, config, { loadReference: () => Promise.reject(new Error('not expected')) });
    await trainer.runStep();
    const { report, batch } = await trainer.runStep();
    const session = new LensSession({ record: batch, maxTokens: fakeTask.maxNewTokens, eos: fakeTask.eos });
    expect(report.updates.length).toBe(config.minibatches);
    let clipped = 0;
    for (const { minibatch, metrics } of report.updates) {
      const { table } = session.answer({ ...lensSettingsOf(batch.config), minibatch }, { table: true, objectives: [objective] });
      const { levels, ...rest } = metrics;
      // The stored rows stand in the order of the rollout, the update's in a shuffled one: sums differ in their last bits.
      expectAlike(table?.[0].metrics, rest);
      expectAlike(table?.[0].own, levels[table?.[0].level ?? 'token']);
      clipped += metrics.clippedTokens;
    }
    // The comparison would say little if no clip had acted.
    expect(clipped).toBeGreaterThan(0);
  });
});

function expectAlike(got: unknown, want: unknown): void {
  if (typeof want === 'number') {
    if (typeof got !== 'number' || !(Math.abs(got - want) <= 1e-12 * Math.max(1, Math.abs(want)))) throw new Error(`${String(got)} against ${want}`);
    return;
  }
  if (typeof want !== 'object' || want === null) {
    expect(got).toBe(want);
    return;
  }
  if (typeof got !== 'object' || got === null) throw new Error('nothing to compare');
  expect(Object.keys(got)).toEqual(Object.keys(want));
  for (const [key, value] of Object.entries(want)) expectAlike((got as Record<string, unknown>)[key], value);
}
