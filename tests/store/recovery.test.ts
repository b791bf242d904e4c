import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { createConfigStore } from '../../src/store/configStore';
import { connect } from '../../src/store/connect';
import { createRunStore } from '../../src/store/runStore';
import { markLabels } from '../../src/store/selectors';
import type { Checkpoint, WorkerEvent } from '../../src/worker/protocol';
import { FakeClient } from '../helpers/fakeClient';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const CHECKPOINT: Checkpoint = {
  step: 3, updates: 12, promptCritic: null, tokenCritic: null, calibration: { prompt: [], token: [] }, prompts: [],
  engine: { params: new Float32Array(4), m: new Float32Array(4), v: new Float32Array(4), history: [], updates: 12, iteration: 3 },
};

function session(steps: number) {
  const client = new FakeClient();
  const config = createConfigStore(presetConfig('grpo', 'small'));
  const run = createRunStore();
  const control = connect({ client, config, run, modelsUrl: 'models/', modelGiven: true });
  control.step(steps);
  vi.advanceTimersByTime(60_000);
  control.flush();
  const emit = (event: WorkerEvent) => client.emit(event);
  return { client, run, control, emit, sent: () => client.sent.map((command) => command.type) };
}

const CRASH: WorkerEvent = { type: 'error', kind: 'crashed', message: 'The trainer crashed: boom.', hint: 'Press Reset.', fatal: true };

describe('a run that was put back', () => {
  test('keeps its curves up to there, and a mark says from where it came', () => {
    const { run, emit } = session(7);
    const before = run.getState();
    expect([before.step, before.history.reward.buckets.length]).toEqual([7, 7]);
    emit({ type: 'error', kind: 'notFinite', message: 'The loss is not a finite number.', hint: 'Go back.', fatal: false, rewindTo: 3 });
    expect(run.getState().error).toMatchObject({ kind: 'notFinite', fatal: false, rewindTo: 3 });
    emit({ type: 'rewound', step: 3, updates: 12 });
    const { step, history, recent, batches, error, marks, phase } = run.getState();
    expect([step, history.reward.buckets.at(-1)?.to, recent.at(-1)?.step, batches.at(-1)?.step, error, phase === 'failed']).toEqual([3, 3, 3, 3, null, false]);
    expect(history.updateEntropy.buckets.at(-1)?.to).toBe(11);
    expect(history.clip.token.buckets.at(-1)?.to).toBe(11);
    expect(marks.at(-1)).toEqual({ step: 3, changes: [{ field: 'rewound', from: '7', to: '3' }] });
    expect(markLabels(marks).at(-1)).toEqual({ step: 3, label: 'back from 7 to 3' });
  });

  test('asks the worker for it by one command', () => {
    const { control, sent } = session(2);
    control.rewind();
    expect(sent().at(-1)).toBe('rewind');
  });
});

describe('a worker that died', () => {
  test('is replaced by one that goes on from the last checkpoint, as it was: paused', () => {
    const { client, run, emit } = session(5);
    emit({ type: 'checkpoint', checkpoint: CHECKPOINT });
    emit(CRASH);
    expect(run.getState().error).toMatchObject({ kind: 'crashed', fatal: false, hint: 'A new one goes on from iteration 3; the history up to there is kept.' });
    expect(run.getState().phase).not.toBe('failed');
    vi.advanceTimersByTime(10);
    expect(client.sent.at(-1)).toEqual({ type: 'init', config: presetConfig('grpo', 'small'), modelsUrl: 'models/', resume: { checkpoint: CHECKPOINT, play: false } });
  });

  test('goes on playing if it was', () => {
    const { client, control, emit } = session(5);
    emit({ type: 'checkpoint', checkpoint: CHECKPOINT });
    control.play();
    emit(CRASH);
    vi.advanceTimersByTime(10);
    expect(client.sent.at(-1)).toMatchObject({ type: 'init', resume: { play: true } });
  });

  test('is not replaced twice from the same checkpoint, nor without one', () => {
    const { run, emit, sent } = session(5);
    emit({ type: 'checkpoint', checkpoint: CHECKPOINT });
    emit(CRASH);
    vi.advanceTimersByTime(10);
    const count = sent().length;
    emit(CRASH);
    vi.advanceTimersByTime(10);
    expect(sent()).toHaveLength(count);
    expect(run.getState()).toMatchObject({ phase: 'failed', error: { kind: 'crashed', fatal: true } });
  });

  test('after a reset nothing of the old run is taken up', () => {
    const { control, run, emit, sent } = session(5);
    emit({ type: 'checkpoint', checkpoint: CHECKPOINT });
    control.reset();
    vi.advanceTimersByTime(1000);
    const count = sent().length;
    emit(CRASH);
    vi.advanceTimersByTime(10);
    expect(sent()).toHaveLength(count);
    expect(run.getState().phase).toBe('failed');
  });
});

describe('errors that a run survives', () => {
  const lost: WorkerEvent = { type: 'error', kind: 'deviceLost', message: 'The graphics device was lost: gone.', hint: 'By itself.', fatal: false };
  const nan: WorkerEvent = { type: 'error', kind: 'notFinite', message: 'The loss is not a finite number.', hint: 'Rewind.', fatal: false, rewindTo: 3 };

  test('an old message makes room for the way back, which only what ends the run may hide', () => {
    const { run, emit } = session(5);
    emit(lost);
    emit(nan);
    expect(run.getState().error).toMatchObject({ kind: 'notFinite', rewindTo: 3 });
    emit({ type: 'error', kind: 'badConfig', message: 'No.', hint: 'So.', fatal: false });
    expect(run.getState().error).toMatchObject({ kind: 'notFinite', rewindTo: 3 });
    emit({ ...lost, fatal: true });
    expect(run.getState().error).toMatchObject({ kind: 'deviceLost', fatal: true });
  });

  test('a setting that was changed in what is void stays in force, and its mark moves to where it counts', () => {
    const { run, emit } = session(7);
    emit({ type: 'config', config: presetConfig('grpo', 'small'), step: 6, changes: [{ field: 'epochs', from: '1', to: '2' }] });
    emit({ type: 'rewound', step: 3, updates: 12 });
    expect(run.getState().marks.map(({ step, changes }) => [step, changes[0]?.field])).toEqual([[4, 'epochs'], [3, 'rewound']]);
  });
});

describe('a hidden tab', () => {
  test('holds few events while its timers sleep, and shows them all', () => {
    const { client, run } = session(0);
    const seen: number[] = [];
    run.subscribe(({ step }) => seen.push(step));
    // The page's timers do not run here, but messages arrive.
    client.send({ type: 'step', count: 200 });
    expect(run.getState().step).toBe(200);
    const { buckets } = run.getState().history.reward;
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(200);
    expect(seen.length).toBeGreaterThanOrEqual(3);
  });
});
