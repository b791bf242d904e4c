import { describe, expect, test } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { criticView, knowsCritic, linePieces } from '../../src/store/critic';
import { applyEvents, initialRunState, type RunState } from '../../src/store/runStore';
import { BoundedSeries } from '../../src/store/series';
import type { WorkerEvent } from '../../src/worker/protocol';
import { FakeClient } from '../helpers/fakeClient';

const sppo = presetConfig('sppo', 'small');
const ppo = presetConfig('ppo', 'small');

/** A run of invented iterations: of each configuration in turn, so many. */
function runOf(...parts: [typeof sppo, number][]): RunState {
  const client = new FakeClient();
  const events: WorkerEvent[] = [];
  client.onAny((event) => events.push(event));
  client.send({ type: 'init', config: parts[0]![0], modelsUrl: '' });
  for (const [config, count] of parts) {
    client.send({ type: 'configure', patch: config });
    client.send({ type: 'step', count });
  }
  client.dispose();
  return applyEvents(initialRunState(), events);
}

describe('which critic there is to see', () => {
  test('SPPO knows one even while another baseline has switched it off; GRPO knows none; GAE may serve any objective', () => {
    const off = { ...sppo, baseline: 'batchMean' as const };
    expect([sppo, off, ppo, presetConfig('grpo', 'small'), { ...presetConfig('gspo', 'small'), advantage: 'gae' as const }].map(knowsCritic)).toEqual([true, true, true, false, true]);
    const state = initialRunState();
    expect(criticView(state, off)).toBeNull();
    expect(criticView(state, sppo)).toMatchObject({ level: 'prompt', report: null, step: null });
    expect(criticView(state, ppo)?.level).toBe('token');
  });

  test('each kind keeps its own curves and its own newest report when a run changes between them', () => {
    const state = runOf([sppo, 3], [ppo, 2], [sppo, 1]);
    const prompt = criticView(state, sppo);
    const token = criticView(state, ppo);
    expect([prompt?.step, token?.step]).toEqual([6, 5]);
    expect(prompt?.report).toEqual(state.recent.at(-1)?.critic);
    expect(prompt?.history.loss.buckets.map((bucket) => bucket.from)).toEqual([1, 2, 3, 6]);
    expect(token?.history.loss.buckets.map((bucket) => bucket.from)).toEqual([4, 5]);
    expect([prompt?.history.clippedValues.buckets.length, token?.history.clippedValues.buckets.length]).toEqual([0, 2]);
    expect(token?.history.loss.last).toBe(token?.report?.loss);
    expect(token?.history.explainedVariance.last).toBe(token?.report?.explainedVariance);
  });
});

describe('the pieces of a curve', () => {
  test('end where iterations are missing', () => {
    const state = runOf([sppo, 3], [ppo, 2], [sppo, 2]);
    expect(linePieces(state.history.critic.prompt.loss).map((piece) => piece.map((point) => point.x))).toEqual([[1, 2, 3], [6, 7]]);
    expect(linePieces(new BoundedSeries())).toEqual([]);
  });

  test('stay one, bounded, and keep every extreme in a long run', () => {
    const series = new BoundedSeries(180);
    for (let step = 1; step <= 5000; step++) series.push(step, step === 1234 ? 9 : Math.sin(step));
    const pieces = linePieces(series);
    expect(pieces).toHaveLength(1);
    expect(pieces[0]!.length).toBeLessThanOrEqual(360);
    expect(pieces[0]).toContainEqual({ x: 1234, value: 9 });
  });
});
