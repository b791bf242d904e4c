import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/fields';
import { validateConfig } from '../../src/config/validate';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { runPolicyLoss } from '../../src/kernels/policyLoss/runPolicyLoss';
import { OBJECTIVES } from '../../src/objectives';
import { isEventList } from '../../src/worker/guards';
import { inspectLoss, type RunTokenLoss } from '../../src/worker/inspectLoss';
import type { WorkerEvent } from '../../src/worker/protocol';
import { Runner } from '../../src/worker/runner';
import { FakeEnvironment } from '../helpers/fakeEnvironment';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
}, 60_000);
afterAll(() => gpu.destroy());

const onDevice: RunTokenLoss = (loss, inputs, hyper) => runPolicyLoss(gpu, loss, inputs, hyper);
const listed = (objective: string) => ({ objective, customObjective: '' });
const typed = { objective: 'custom', customObjective: 'let gate = sigmoid(2 * (segRatio - 1));\n-gate * adv' };

describe('inspectLoss', () => {
  it('gives the shader that is compiled, and finds GPU and f64 agreeing', async () => {
    for (const wanted of [...OBJECTIVES.map((o) => listed(o.id)), typed]) {
      const { wgsl, gpu: check } = await inspectLoss(wanted, onDevice);
      expect(wgsl).toContain('fn tokenLoss(t: Token) -> TokenResult');
      expect(wgsl).toContain('@compute');
      expect(check, wanted.objective).toMatchObject({ ok: true, tokens: 14 });
      expect(check?.maxError).toBeLessThan(1e-5);
    }
  });

  it('notices a device that computes something else, and says so where there is none', async () => {
    const off: RunTokenLoss = async (...args) => (await onDevice(...args)).map((v, i) => (i === 8 ? v * 1.01 + 1e-3 : v));
    expect((await inspectLoss(listed('grpo'), off)).gpu?.ok).toBe(false);
    expect((await inspectLoss(listed('grpo'), async () => new Float32Array(56).fill(NaN))).gpu?.ok).toBe(false);
    expect((await inspectLoss(typed, null)).gpu).toBeNull();
    await expect(inspectLoss(listed('nothing'), null)).rejects.toThrow('There is no objective');
  });

  it('answers through the worker, for texts good and bad, and a typed objective trains there', async () => {
    const events: WorkerEvent[] = [];
    const runner = new Runner(new FakeEnvironment(), (list) => {
      expect(isEventList(list)).toBe(true);
      events.push(...list);
    });
    runner.handle({ type: 'inspectLoss', requestId: 4, ...typed });
    runner.handle({ type: 'inspectLoss', requestId: 5, objective: 'custom', customObjective: 'log(' });
    await expect.poll(() => events.filter((event) => event.type === 'lossInspected').length).toBe(2);
    expect(events).toContainEqual({ type: 'lossInspected', requestId: 4, inspection: { wgsl: expect.stringContaining('gate_'), gpu: null }, problem: '' });
    expect(events).toContainEqual({ type: 'lossInspected', requestId: 5, inspection: null, problem: expect.stringContaining('There is no objective') });

    const { config } = validateConfig({ ...typed, prompts: 4, groupSize: 2, totalSteps: 2, evalEvery: 0 }, defaultConfig());
    runner.handle({ type: 'init', config, modelsUrl: './' });
    runner.handle({ type: 'step', count: 1 });
    await runner.idle();
    const step = events.find((event) => event.type === 'step');
    expect(step?.report.objective).toBe(config.objective);
    // Another text, while it runs.
    runner.handle({ type: 'configure', patch: { objective: 'custom', customObjective: '-ratio * adv' } });
    runner.handle({ type: 'step', count: 1 });
    await runner.idle();
    const last = events.filter((event) => event.type === 'step').at(-1);
    expect(last?.report.objective).not.toBe(config.objective);
    expect(last?.report.objective).toMatch(/^custom:/);
  });
});
