import { afterEach, describe, expect, it } from 'vitest';
import { Bench } from '../helpers/runnerBench';

let bench = new Bench();
afterEach(() => {
  bench.runner.handle({ type: 'pause' });
  bench = new Bench();
});

const errors = () => bench.all('error').map(({ kind, fatal }) => [kind, fatal]);

describe('a device that fails', () => {
  it('out of memory: the old one is freed before another is opened, and the run goes on', async () => {
    await bench.init({ evalEvery: 0 });
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.settle();
    bench.env.log.length = 0;
    bench.env.gpus[0]!.onFailure('gpuError', 'Out of memory');
    await bench.settle();
    expect(errors()).toEqual([['internal', false]]);
    expect(bench.all('error')[0]).toMatchObject({ message: 'The graphics device reported an error: Out of memory', hint: expect.stringContaining('put back to iteration 0 on a new device') });
    expect(bench.env.log.slice(0, 2)).toEqual(['destroy gpu', 'openGpu']);
    bench.runner.handle({ type: 'step', count: 1 });
    await bench.settle();
    expect(bench.all('step').map(({ report }) => report.step)).toEqual([1, 2, 1]);
  });

  it('what waited on it fails first: only the loss is told', async () => {
    await bench.init({ evalEvery: 0 });
    const gpu = bench.env.gpus[0]!;
    bench.env.engines[0]!.collect = () => {
      setTimeout(() => gpu.lose(), 20);
      return Promise.reject(new Error('mapAsync: the device is lost'));
    };
    bench.runner.handle({ type: 'step', count: 2 });
    await bench.until(() => bench.all('step').length === 2);
    expect(errors()).toEqual([['deviceLost', false]]);
    expect(bench.all('step').map(({ report }) => report.step)).toEqual([1, 2]);
  });

  it('results that had not been sent yet are, so that the history has no hole', async () => {
    await bench.init({ evalEvery: 0, totalSteps: 40 });
    bench.runner.handle({ type: 'step', count: 5 });
    // At once, while the last results still wait for their message.
    await bench.runner.idle();
    bench.runner.handle({ type: 'loseDevice' });
    await bench.settle();
    expect(bench.all('rewound').map(({ step }) => step)).toEqual([5]);
    expect(bench.all('step').map(({ report }) => report.step)).toEqual([1, 2, 3, 4, 5]);
  });

  it('the base policy’s answers stay those of the base policy', async () => {
    await bench.init({ evalEvery: 0, learningRate: 1, totalSteps: 40 });
    bench.runner.handle({ type: 'step', count: 20 });
    await bench.settle();
    bench.runner.handle({ type: 'loseDevice' });
    await bench.settle();
    const [first, second] = bench.all('base');
    expect(second!.answers).toEqual(first!.answers);
    const { answers } = await (async () => {
      bench.runner.handle({ type: 'configure', patch: { evalEvery: 1 } });
      bench.runner.handle({ type: 'step', count: 1 });
      await bench.settle();
      return bench.all('eval').at(-1)!;
    })();
    // The policy itself answers otherwise by now, or the comparison above would prove nothing.
    expect(answers.map(({ response }) => response)).not.toEqual(first!.answers.map(({ response }) => response));
  });
});
