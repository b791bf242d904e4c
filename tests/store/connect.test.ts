import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApi } from '../../src/store/api';
import { createConfigStore } from '../../src/store/configStore';
import { connect } from '../../src/store/connect';
import { createRunStore, KEPT } from '../../src/store/runStore';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { FakeClient, type FakeOptions } from '../helpers/fakeClient';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function session({ modelGiven = true, patch = {}, ...options }: FakeOptions & { modelGiven?: boolean; patch?: Partial<RunConfig> } = {}) {
  const client = new FakeClient(options);
  const config = createConfigStore({ ...presetConfig('grpo', 'small'), ...patch });
  const run = createRunStore();
  const control = connect({ client, config, run, modelsUrl: 'models/', modelGiven });
  return { client, config, run, control, api: createApi(config, run, control), sent: () => client.sent.map((command) => command.type) };
}

describe('start', () => {
  test('a given model is initialised at once', () => {
    const { client, run } = session();
    expect(client.sent).toEqual([{ type: 'init', config: presetConfig('grpo', 'small'), modelsUrl: 'models/' }]);
    expect(run.getState().phase).toBe('ready');
  });

  test('else the adapter decides: main with its learning rate on hardware, small on software', () => {
    const hardware = session({ modelGiven: false });
    expect(hardware.sent()).toEqual(['probe', 'init']);
    expect(hardware.client.sent[1]).toMatchObject({ config: presetConfig('grpo', 'main') });
    expect(hardware.config.getState().notices).toEqual([]);
    const software = session({ modelGiven: false, software: true });
    expect(software.client.sent[1]).toMatchObject({ config: presetConfig('grpo', 'small') });
  });

  test('without WebGPU a step starts with half the prompts, but never against a number that was given', () => {
    const fallback = { title: 'tfjs WASM', reason: 'This browser has no WebGPU.' };
    const usual = presetConfig('grpo', 'small');
    expect(session({ modelGiven: false, software: true, fallback }).client.sent[1]).toMatchObject({ config: { ...usual, prompts: usual.prompts / 2 } });
    expect(session({ modelGiven: false, software: true, fallback, patch: { prompts: 12 } }).client.sent[1]).toMatchObject({ config: { ...usual, prompts: 12 } });
    expect(session({ modelGiven: true, software: true, fallback }).client.sent[0]).toMatchObject({ config: usual });
  });
});

describe('settings on the way to the worker', () => {
  test('a dragged slider sends few commands, the last value last', () => {
    const { client, config, run } = session();
    run.setState({ step: 3 });
    for (let i = 1; i <= 30; i++) {
      config.getState().patch({ clipLowToken: 0.1 + i / 1000 });
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(500);
    const configures = client.sent.filter((command) => command.type === 'configure');
    expect(configures.length).toBeLessThan(10);
    expect(configures.at(-1)).toEqual({ type: 'configure', patch: { clipLowToken: 0.13 } });
  });

  test('before the first iteration a change that needs a reset gets one by itself', () => {
    const { config, sent, client } = session();
    config.getState().patch({ seed: 5 });
    vi.advanceTimersByTime(1000);
    expect(sent()).toEqual(['init', 'reset']);
    expect(client.sent[1]).toMatchObject({ config: { seed: 5 } });
  });

  test('after it the change waits, and reset takes it', () => {
    const { config, control, run, sent, client } = session();
    control.step(1);
    control.flush();
    config.getState().patch({ seed: 5, epochs: 2 });
    vi.advanceTimersByTime(5000);
    expect(sent()).toEqual(['init', 'step', 'configure']);
    expect(client.sent[2]).toEqual({ type: 'configure', patch: { epochs: 2 } });
    expect(run.getState().inForce?.seed).toBe(1);
    control.reset();
    expect(run.getState().inForce?.seed).toBe(5);
    expect(run.getState().step).toBe(0);
  });

  test('play never overtakes a setting made before it', () => {
    const { config, control, sent } = session();
    config.getState().patch({ seed: 5 });
    control.play();
    expect(sent()).toEqual(['init', 'reset', 'play']);
    control.pause();
    const later = session();
    later.control.step(1);
    later.config.getState().patch({ epochs: 2 });
    later.control.play();
    expect(later.sent()).toEqual(['init', 'step', 'configure', 'play']);
    later.control.pause();
  });

  test('what the worker repairs shows in the controls, with its words', () => {
    const { client, config, run } = session();
    run.setState({ step: 1 });
    config.getState().patch({ epochs: 8 });
    vi.advanceTimersByTime(40);
    client.emit({ type: 'notice', problems: [{ field: 'epochs', message: 'at most 4 here' }] });
    client.emit({ type: 'config', config: { ...config.getState().config, epochs: 4 }, step: 1, changes: [] });
    expect(config.getState().config.epochs).toBe(4);
    expect(config.getState().notices.map((notice) => notice.text)).toEqual(['at most 4 here']);
  });

  test('an echo of an older setting does not pull a control back', () => {
    const { client, config, run } = session();
    run.setState({ step: 1 });
    const before = config.getState().config;
    config.getState().patch({ epochs: 4 });
    client.emit({ type: 'config', config: { ...before, epochs: 2 }, step: 1, changes: [] });
    expect(config.getState().config.epochs).toBe(4);
  });
});

describe('events on the way to the page', () => {
  test('many iterations make few repaints', () => {
    const { client, control, run } = session();
    let repaints = 0;
    run.subscribe(() => repaints++);
    client.emit({ type: 'phase', phase: 'running', message: 'x', progress: null });
    repaints = 0;
    for (let i = 0; i < 100; i++) {
      client.emit({ type: 'phase', phase: 'running', message: `iteration ${i}`, progress: 0 });
      vi.advanceTimersByTime(10);
    }
    expect(repaints).toBeLessThanOrEqual(11);
    expect(repaints).toBeGreaterThan(5);
    control.dispose();
  });

  test('history is bounded whatever the length of the run', () => {
    const { control, run, config } = session();
    config.getState().patch({ evalEvery: 1, totalSteps: 400, minibatches: 1 });
    control.step(400);
    control.flush();
    const state = run.getState();
    expect(state.step).toBe(400);
    expect(state.batches.length).toBe(KEPT.batches);
    expect(state.recent.length).toBe(KEPT.rollouts);
    expect(state.evals.length).toBeLessThanOrEqual(KEPT.evals);
    expect(state.history.reward.outline().length).toBeLessThanOrEqual(600);
    expect(state.history.clip.token.buckets.length).toBeLessThanOrEqual(512);
    expect(state.batches.at(-1)?.step).toBe(400);
  });

  test('results of the old run that arrive after a reset are dropped', () => {
    const { client, control, run } = session();
    control.step(2);
    control.flush();
    const report = run.getState().recent[0]!;
    const batch = run.getState().batches[0]!;
    const { config } = batch;
    // The worker has not answered yet.
    client.send = (command) => void client.sent.push(command);
    control.reset();
    client.emit({ type: 'step', report, batch });
    client.emit({ type: 'phase', phase: 'paused', message: 'Paused', progress: null });
    control.flush();
    expect(run.getState().step).toBe(0);
    expect(run.getState().phase).toBe('starting');
    client.emit({ type: 'config', config, step: 0, changes: [] });
    client.emit({ type: 'step', report, batch });
    control.flush();
    expect(run.getState().step).toBe(1);
  });

  test('compiling in the middle of a run is part of running', () => {
    const { client, run } = session();
    client.emit({ type: 'phase', phase: 'running', message: 'Iteration 1', progress: 0 });
    client.emit({ type: 'phase', phase: 'compiling', message: 'Compiling GSPO', progress: null });
    expect(run.getState()).toMatchObject({ phase: 'running', message: 'Compiling GSPO' });
    client.emit({ type: 'phase', phase: 'paused', message: 'Paused', progress: null });
    client.emit({ type: 'phase', phase: 'compiling', message: 'Compiling SSPO', progress: null });
    expect(run.getState().phase).toBe('compiling');
  });

  test('a lost device explains the failure that came just before it; a fatal error outranks one that only paused', () => {
    const { client, run } = session();
    const error = (kind: 'internal' | 'deviceLost' | 'reference', fatal: boolean) => client.emit({ type: 'error', kind, message: kind, hint: '', fatal });
    error('reference', false);
    error('internal', true);
    expect(run.getState().error?.kind).toBe('internal');
    error('deviceLost', true);
    error('internal', true);
    expect(run.getState().error?.kind).toBe('deviceLost');
  });

  test('an error keeps the history and the first message; reset clears it', () => {
    const { client, control, run } = session();
    control.step(3);
    client.emit({ type: 'error', kind: 'notFinite', message: 'The loss is not a number.', hint: 'Lower the learning rate.', fatal: true });
    client.emit({ type: 'error', kind: 'internal', message: 'echo', hint: '', fatal: true });
    const state = run.getState();
    expect(state.error?.kind).toBe('notFinite');
    expect(state.phase).toBe('failed');
    expect(state.history.reward.outline()).toHaveLength(3);
    expect(state.batches).toHaveLength(3);
    control.reset();
    expect(run.getState().error).toBeNull();
    expect(run.getState().baseAnswers.length).toBeGreaterThan(0);
  });
});

describe('window.ratioscope', () => {
  test('ready, step, snapshot as plain JSON', async () => {
    const { api } = session();
    await api.ready;
    await api.step(3);
    const snapshot = api.snapshot();
    expect(snapshot.step).toBe(3);
    expect(snapshot.reward.map((point) => point.step)).toEqual([1, 2, 3]);
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    const batch = snapshot.batch as { completions: { newLogp: number[] }[] };
    expect(Array.isArray(batch.completions[0]?.newLogp)).toBe(true);
    expect(snapshot.critic.token.loss).toEqual([]);
  });

  test('the snapshot holds what the critic has learnt, V before each token as lists', async () => {
    const { api } = session();
    await api.ready;
    api.config({ objective: 'ppo', groupSize: 1 });
    await api.step(2);
    const { critic, report, batch } = JSON.parse(JSON.stringify(api.snapshot())) as ReturnType<typeof api.snapshot>;
    expect(critic.token.loss.map((point) => point.step)).toEqual([1, 2]);
    expect(critic.token.explainedVariance.at(-1)?.value).toBe(report?.critic?.explainedVariance);
    expect(critic.prompt.loss).toEqual([]);
    const [row] = (batch as { completions: { tokens: string[]; values: number[] }[] }).completions;
    expect(row?.values.length).toBe(row?.tokens.length);
  });

  test('config takes a patch, validates it and returns the whole', () => {
    const { api } = session();
    expect(api.config({ epochs: 99 }).epochs).toBe(8);
    expect(api.config().epochs).toBe(8);
  });

  test('more steps than planned lengthen the plan', async () => {
    const { api, config } = session();
    config.getState().patch({ totalSteps: 2 });
    await api.step(5);
    expect(api.snapshot().step).toBe(5);
    expect(api.config().totalSteps).toBe(5);
    expect(api.snapshot().phase).toBe('finished');
  });

  test('on() hears events until it is stopped; a failure rejects with message and hint', async () => {
    const { api, client } = session({ failWith: { type: 'error', kind: 'badModel', message: 'The file is damaged.', hint: 'Load again.', fatal: true } });
    await expect(api.ready).rejects.toThrow('The file is damaged. Load again.');
    const seen: string[] = [];
    const stop = api.on('error', (event) => seen.push(event.message));
    client.emit({ type: 'error', kind: 'internal', message: 'one', hint: '', fatal: false });
    stop();
    client.emit({ type: 'error', kind: 'internal', message: 'two', hint: '', fatal: false });
    expect(seen).toEqual(['one']);
  });

  test('reset resolves when the run is ready again', async () => {
    const { api } = session();
    await api.step(2);
    await api.reset();
    expect(api.snapshot()).toMatchObject({ step: 0, phase: 'ready', report: null, batch: null });
  });
});

test('after a failed probe, reset looks for a GPU again and then starts as if for the first time', () => {
  const client = new FakeClient();
  const answer = client.send.bind(client);
  client.send = (command) => {
    if (command.type !== 'probe') return answer(command);
    client.sent.push(command);
    client.emit({ type: 'error', kind: 'noWebGpu', message: 'No WebGPU.', hint: '', fatal: true });
  };
  const run = createRunStore();
  const control = connect({ client, config: createConfigStore(presetConfig('grpo', 'small')), run, modelsUrl: 'models/', modelGiven: false });
  expect(run.getState().error?.kind).toBe('noWebGpu');
  client.send = answer;
  control.reset();
  expect(client.sent.map((command) => command.type)).toEqual(['probe', 'probe', 'init']);
  expect(client.sent[2]).toMatchObject({ modelsUrl: 'models/' });
  expect(run.getState().phase).toBe('ready');
});
