import { afterEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { Bench, CONFIG, type EventOf } from '../helpers/runnerBench';

let bench = new Bench();
afterEach(() => {
  bench.runner.handle({ type: 'pause' });
  bench = new Bench();
});

describe('set-up', () => {
  it('answers a probe with the adapter, before any run', async () => {
    bench.runner.handle({ type: 'probe' });
    await bench.settle();
    expect(bench.events.map((e) => e.type)).toEqual(['phase', 'capability']);
    bench.runner.handle({ type: 'probe' });
    await bench.settle();
    expect(bench.all('capability')).toHaveLength(2);
    expect(bench.env.log).toEqual(['openGpu']);
  });

  it('loads, compiles, shows the base policy’s answers and is ready', async () => {
    await bench.init();
    expect(bench.phases()).toEqual(['starting', 'loadingModel', 'compiling', 'ready']);
    expect(bench.all('base')[0]).toEqual({
      type: 'base', manifest: { passRate: 0.3, greedy: 0.4, parameters: 8192, bytes: 10 },
      answers: [
        { step: 0, prompt: '1=', response: '2,;', correct: false, expected: '1' },
        { step: 0, prompt: '3=', response: '2,;', correct: false, expected: '1' },
      ],
    });
    expect(bench.all('config')).toEqual([{ type: 'config', config: CONFIG, step: 1, changes: [] }]);
    expect(bench.all('error')).toEqual([]);
  });

  it('repairs a bad configuration and says so', async () => {
    await bench.init({ minibatches: 5, temperature: 9 });
    expect(bench.all('notice')[0].problems.map((p) => p.field).sort()).toEqual(['minibatches', 'temperature']);
    expect(bench.all('config')[0].config).toMatchObject({ minibatches: 4, temperature: 2 });
  });

  it('takes a change that comes while it loads', async () => {
    bench.runner.handle({ type: 'init', config: CONFIG, modelsUrl: 'models/' });
    bench.runner.handle({ type: 'configure', patch: { epochs: 3 } });
    await bench.settle();
    expect(bench.all('config').at(-1)?.config.epochs).toBe(3);
    expect(bench.all('phase').filter((e) => e.phase === 'ready')).toHaveLength(1);
  });
});

describe('running', () => {
  it('plays to the planned end, evaluating on the way', async () => {
    await bench.init();
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(bench.all('step').map((e) => e.report.step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(bench.all('eval').map((e) => e.report.step)).toEqual([0, 2, 4, 6]);
    expect(bench.phases().slice(-2)).toEqual(['running', 'finished']);
    // Play again does nothing until the plan is longer.
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(bench.all('step')).toHaveLength(6);
    bench.runner.handle({ type: 'configure', patch: { totalSteps: 8 } });
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(bench.all('step')).toHaveLength(8);
  });

  it('takes the steps it was asked for, past the plan too', async () => {
    await bench.init({ totalSteps: 2, evalEvery: 0 });
    bench.runner.handle({ type: 'step', count: 3 });
    await bench.settle();
    expect(bench.all('step').map((e) => e.report.step)).toEqual([1, 2, 3]);
    expect(bench.all('eval')).toEqual([]);
  });

  it('pauses between iterations and goes on', async () => {
    await bench.init({ totalSteps: 1000 });
    bench.runner.handle({ type: 'play' });
    await bench.until(() => bench.all('step').length > 3);
    bench.runner.handle({ type: 'pause' });
    await bench.settle();
    const steps = bench.all('step').length;
    expect(steps).toBeLessThan(1000);
    expect(bench.phases().at(-1)).toBe('paused');
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step').map((e) => e.report.step)).toEqual(Array.from({ length: steps + 1 }, (_, i) => i + 1));
  });

  it('keeps to the speed limit, and a pause does not wait for it', async () => {
    await bench.init({ speed: 0.5, totalSteps: 10 });
    bench.runner.handle({ type: 'play' });
    await bench.until(() => bench.env.sleeps.length === 1);
    expect(bench.env.sleeps[0]).toBeGreaterThan(1000);
    // The wait that is under way would end by itself only after more than a second; settling at once needs the pause to end it.
    bench.runner.handle({ type: 'pause' });
    await bench.settle();
    expect(bench.phases().at(-1)).toBe('paused');
    expect(bench.all('step')).toHaveLength(1);
  });

  it('sends many quick iterations in few messages, in order', async () => {
    await bench.init({ totalSteps: 40, evalEvery: 0, prompts: 2 });
    const before = bench.messages.length;
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    const messages = bench.messages.slice(before).filter((m) => m.some((e) => e.type === 'step'));
    expect(messages.length).toBeLessThan(30);
    expect(bench.all('step').map((e) => e.report.step)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  it('marks live changes with the iteration from which they hold', async () => {
    await bench.init({ totalSteps: 1000 });
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.settle();
    bench.runner.handle({ type: 'configure', patch: { epochs: 2, seed: 7 } });
    const { config, step, changes } = bench.all('config')[1];
    expect([config.epochs, step, changes]).toEqual([2, 3, [{ field: 'epochs', from: '1', to: '2' }]]);
    expect(bench.all('notice')[0].problems.map((p) => p.field)).toEqual(['seed']);
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step')[2].report.updates).toHaveLength(8);
    // During an iteration the change holds from the next one on.
    bench.runner.handle({ type: 'play' });
    await bench.until(() => bench.all('step').length > 4);
    bench.runner.handle({ type: 'configure', patch: { epochs: 1 } });
    await bench.until(() => bench.all('step').length > 8);
    bench.runner.handle({ type: 'pause' });
    await bench.settle();
    const from = bench.all('config')[2].step;
    for (const { report } of bench.all('step').slice(2)) expect(report.updates.length, `iteration ${report.step} of ${from}`).toBe(report.step < from ? 8 : 4);
  });

  it('answers a snapshot with the latest iteration', async () => {
    await bench.init();
    bench.runner.handle({ type: 'snapshot', requestId: 1 });
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.settle();
    bench.runner.handle({ type: 'snapshot', requestId: 2 });
    const [empty, full] = bench.all('snapshot');
    expect([empty.requestId, empty.report, empty.batch]).toEqual([1, null, null]);
    expect([full.requestId, full.report?.step, full.batch?.step, full.batch?.completions.length]).toEqual([2, 2, 2, 32]);
  });
});

describe('reset', () => {
  it('gives the same run again, without loading or compiling again', async () => {
    await bench.init();
    bench.runner.handle({ type: 'step', count: 3 });
    await bench.settle();
    const first = bench.all('step').map((e) => e.report.updates.map((u) => u.gradNorm));
    bench.runner.handle({ type: 'reset', config: CONFIG });
    bench.runner.handle({ type: 'step', count: 3 });
    await bench.settle();
    expect(bench.all('step').slice(3).map((e) => e.report.updates.map((u) => u.gradNorm))).toEqual(first);
    expect(bench.env.log).toEqual(['openGpu', 'loadPolicy', 'policy columnAddition small', 'createEngine']);
  });

  it('in the middle of a run drops what the old run still brings', async () => {
    await bench.init({ totalSteps: 1000 });
    bench.runner.handle({ type: 'play' });
    await bench.until(() => bench.all('step').length > 3);
    bench.runner.handle({ type: 'reset', config: { ...CONFIG, seed: 2 } });
    const at = bench.events.length;
    await bench.settle();
    expect(bench.events.slice(at).some((e) => e.type === 'step' || e.type === 'eval')).toBe(false);
    expect(bench.phases().at(-1)).toBe('ready');
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    const last = bench.all('step').at(-1);
    expect([last?.report.step, last?.batch.config.seed]).toEqual([1, 2]);
  });

  it('to another task loads its policy on the same engine; to another model takes a new device', async () => {
    await bench.init();
    bench.runner.handle({ type: 'reset', config: { ...CONFIG, task: 'chainSum' } });
    await bench.settle();
    expect(bench.env.log.slice(4)).toEqual(['loadPolicy', 'policy chainSum small']);
    bench.runner.handle({ type: 'reset', config: { ...CONFIG, model: 'main' } });
    await bench.settle();
    expect(bench.env.log.slice(6)).toEqual(['destroy gpu', 'openGpu', 'loadPolicy', 'policy columnAddition main', 'createEngine']);
    expect(bench.env.engines[0].calls.at(-1)).toBe('destroy');
    expect(bench.all('base')).toHaveLength(3);
  });

  it('while loading compiles one engine only', async () => {
    // Compiling lasts until the reset has arrived, however slow the machine is.
    let compiled = () => {};
    const held = new Promise<void>((resolve) => (compiled = resolve));
    const createEngine = bench.env.createEngine.bind(bench.env);
    bench.env.createEngine = async (...args) => {
      await held;
      return createEngine(...args);
    };
    bench.runner.handle({ type: 'init', config: CONFIG, modelsUrl: 'models/' });
    await bench.until(() => bench.phases().includes('compiling'));
    bench.runner.handle({ type: 'reset', config: { ...CONFIG, seed: 3 } });
    compiled();
    await bench.settle();
    expect(bench.env.engines).toHaveLength(1);
    expect(bench.all('config').map((e) => e.config.seed)).toEqual([3]);
  });
});

describe('failures', () => {
  const errors = (): Omit<EventOf<'error'>, 'type'>[] => bench.all('error');

  it('no WebGPU: says so, and a later reset tries again', async () => {
    bench.env.failures.openGpu = new UserError('This browser has no WebGPU.', 'Use another.');
    await bench.init();
    expect(errors()).toEqual([{ type: 'error', kind: 'noWebGpu', message: 'This browser has no WebGPU.', hint: 'Use another.', fatal: true }]);
    expect(bench.phases().at(-1)).toBe('failed');
    bench.runner.handle({ type: 'reset', config: CONFIG });
    await bench.settle();
    expect(bench.phases().at(-1)).toBe('ready');
  });

  it('a damaged model file', async () => {
    bench.env.failures.loadPolicy = new UserError('The base policy has 3 bytes.', 'Reload.');
    await bench.init();
    expect(errors().map((e) => [e.kind, e.hint, e.fatal])).toEqual([['badModel', 'Reload.', true]]);
  });

  it('shaders that do not compile are a fault of ours', async () => {
    bench.env.failures.createEngine = new Error('shader matmul');
    await bench.init();
    expect(errors().map((e) => [e.kind, e.message])).toEqual([['internal', 'Something unexpected went wrong: shader matmul']]);
  });

  it('a lost device whose promises never end does not hang the next run', async () => {
    await bench.init();
    bench.env.engines[0].collect = () => new Promise(() => {});
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.until(() => bench.env.engines[0].calls.includes('endIteration'));
    bench.runner.handle({ type: 'loseDevice' });
    bench.runner.handle({ type: 'reset', config: CONFIG });
    await bench.until(() => bench.phases().at(-1) === 'ready');
    expect(errors().map((e) => e.kind)).toEqual(['deviceLost']);
    expect(bench.all('rewound')).toEqual([]);
  });

  it('a reference that does not load pauses the run, which goes on without KL', async () => {
    await bench.init();
    bench.env.failures.loadReference = new Error('no wasm');
    bench.runner.handle({ type: 'configure', patch: { beta: 0.1 } });
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(errors().map((e) => [e.kind, e.fatal])).toEqual([['reference', false]]);
    expect(bench.phases().at(-1)).toBe('paused');
    bench.runner.handle({ type: 'configure', patch: { beta: 0 } });
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step')).toHaveLength(1);
  });

  it('a reference wanted from the start and missing still leaves a run that is ready', async () => {
    bench.env.failures.loadReference = new Error('no wasm');
    await bench.init({ beta: 0.1 });
    expect(errors().map((e) => [e.kind, e.fatal])).toEqual([['reference', false]]);
    expect(bench.phases()).toEqual(['starting', 'loadingModel', 'compiling', 'loadingReference', 'ready']);
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step')[0].report.updates[0].metrics.refK3).toBeGreaterThan(0);
  });

  it.each([
    [undefined], ['play'], [{ type: 'dance' }], [{ type: 'step' }], [{ type: 'step', count: -1 }], [{ type: 'step', count: 1, extra: 0 }],
    [{ type: 'configure', patch: { epochs: 'two' } }], [{ type: 'configure', patch: { colour: 1 } }], [{ type: 'init', config: {}, modelsUrl: '' }],
    [{ type: 'init', config: { ...CONFIG, seed: NaN }, modelsUrl: '' }],
  ])('refuses the message %j', async (message) => {
    bench.runner.handle(message);
    await bench.settle();
    expect(errors().map((e) => [e.kind, e.fatal])).toEqual([['internal', false]]);
    expect(bench.env.log).toEqual([]);
  });

  it.each(['play', 'step', 'reset', 'configure'] as const)('%s before a run is refused', async (type) => {
    bench.runner.handle({ play: { type }, step: { type, count: 1 }, reset: { type, config: CONFIG }, configure: { type, patch: {} } }[type]);
    await bench.settle();
    expect(errors().map((e) => e.kind)).toEqual(['badConfig']);
  });
});
