import { afterEach, describe, expect, it } from 'vitest';
import { Bench, CONFIG, type EventOf } from '../helpers/runnerBench';

let bench = new Bench();
afterEach(() => {
  bench.runner.handle({ type: 'pause' });
  bench = new Bench();
});

const errors = () => bench.all('error');

describe('a run that failed and has a checkpoint', () => {
  it('a lost device: the run goes on from its checkpoint on another, as if nothing had been', async () => {
    const whole = new Bench();
    await whole.init({ totalSteps: 30, evalEvery: 0, speed: 40 });
    whole.runner.handle({ type: 'play' });
    await whole.settle();

    // Slow enough to be caught in the act, whatever the machine.
    await bench.init({ totalSteps: 30, evalEvery: 0, speed: 40 });
    bench.runner.handle({ type: 'step', count: 8 });
    await bench.settle();
    bench.runner.handle({ type: 'play' });
    await bench.until(() => bench.all('step').length > 8);
    bench.runner.handle({ type: 'loseDevice' });
    await bench.settle();
    expect(errors().map((e) => [e.kind, e.fatal])).toEqual([['deviceLost', false]]);
    expect(errors()[0].hint).toMatch(/put back to iteration (5|10) on a new device/);
    expect(bench.env.gpus).toHaveLength(2);
    expect(bench.phases().at(-1)).toBe('finished');
    const [rewound] = bench.all('rewound');
    const step = rewound.step;
    expect([5, 10]).toContain(step);
    const again = bench.events.slice(bench.events.indexOf(rewound)).filter((e): e is EventOf<'step'> => e.type === 'step');
    const wanted = whole.all('step').filter((e) => e.report.step > step);
    expect(again.map((e) => e.batch)).toEqual(wanted.map((e) => e.batch));
    expect(again.map((e) => e.report.updates)).toEqual(wanted.map((e) => e.report.updates));
  });

  it('a lost device while it stood still: it stands still again', async () => {
    await bench.init({ evalEvery: 0 });
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.settle();
    bench.runner.handle({ type: 'loseDevice' });
    await bench.settle();
    expect([bench.all('rewound').map((e) => e.step), bench.phases().at(-1)]).toEqual([[0], 'paused']);
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step').at(-1)?.report.step).toBe(1);
  });

  it('a device that is lost again and again ends the run; a reset opens another', async () => {
    await bench.init({ totalSteps: 1000, evalEvery: 0 });
    for (let i = 0; i < 3; i++) {
      bench.runner.handle({ type: 'loseDevice' });
      await bench.settle();
    }
    expect(errors().map((e) => [e.kind, e.fatal])).toEqual([['deviceLost', false], ['deviceLost', false], ['deviceLost', true]]);
    expect(bench.phases().at(-1)).toBe('failed');
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(errors().at(-1)?.kind).toBe('badConfig');
    bench.runner.handle({ type: 'reset', config: CONFIG });
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step').at(-1)?.report.step).toBe(1);
    expect(bench.env.gpus).toHaveLength(4);
  });

  it('a number that is not finite pauses the run, which can be put back to its checkpoint', async () => {
    await bench.init({ evalEvery: 0, totalSteps: 40 });
    bench.runner.handle({ type: 'step', count: 6 });
    await bench.settle();
    bench.env.engines[0].poison = { inUpdates: 5, field: 'gradNorm' };
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    expect(errors().map((e) => [e.kind, e.fatal, e.rewindTo])).toEqual([['notFinite', false, 5]]);
    expect(errors()[0].message).toMatch(/gradient norm .* iteration 8, update 2/);
    expect(errors()[0].hint).toMatch(/Rewind to iteration 5/);
    expect(bench.all('step')).toHaveLength(7);
    expect(bench.phases().at(-1)).toBe('paused');
    // Going on as it is would only say the same again.
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(errors()).toHaveLength(2);
    bench.runner.handle({ type: 'configure', patch: { learningRate: 0.001 } });
    bench.runner.handle({ type: 'rewind' });
    await bench.settle();
    expect(bench.all('rewound').map(({ step, updates }) => [step, updates])).toEqual([[5, 20]]);
    expect(bench.phases().at(-1)).toBe('paused');
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.settle();
    expect(bench.all('step').slice(7).map((e) => e.report.step)).toEqual([6, 7]);
    expect(bench.all('step').at(-1)?.report.updates[0].learningRate).toBe(0.001);
    expect(errors()).toHaveLength(2);
  });

  it('poisoned on purpose, it says where, and goes on after a rewind', async () => {
    await bench.init({ evalEvery: 0 });
    bench.runner.handle({ type: 'poison' });
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(errors().map((e) => [e.kind, e.rewindTo])).toEqual([['notFinite', 0]]);
    bench.runner.handle({ type: 'rewind' });
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step')).toHaveLength(1);
  });

  it('takes up another worker’s checkpoint, playing or not', async () => {
    await bench.init({ evalEvery: 0, totalSteps: 9 });
    bench.runner.handle({ type: 'play' });
    await bench.settle();
    const checkpoint = bench.all('checkpoint').at(-1)?.checkpoint;
    expect([bench.all('checkpoint').map((e) => e.checkpoint.step), checkpoint?.updates]).toEqual([[0, 5], 20]);
    if (!checkpoint) throw new Error('no checkpoint');
    const other = new Bench();
    other.runner.handle({ type: 'init', config: { ...CONFIG, evalEvery: 0, totalSteps: 9 }, modelsUrl: 'models/', resume: { checkpoint, play: true } });
    await other.settle();
    expect(other.all('rewound').map((e) => e.step)).toEqual([5]);
    expect(other.all('step').map((e) => e.batch)).toEqual(bench.all('step').slice(5).map((e) => e.batch));
    expect(other.phases().at(-1)).toBe('finished');
    const still = new Bench();
    still.runner.handle({ type: 'init', config: CONFIG, modelsUrl: 'models/', resume: { checkpoint, play: false } });
    await still.settle();
    expect([still.all('step').length, still.phases().at(-1)]).toEqual([0, 'paused']);
  });
});
