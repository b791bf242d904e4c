import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import type { GpuContext } from '../../src/gpu/device';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { valueBackward, valueForward } from '../../src/kernels/value/value';
import { valueBackwardCpu, valueForwardCpu, valueLossCpu } from '../../src/kernels/value/value.cpu';
import { f32Bits } from '../../src/model/parameters';
import { expectClose, normals, runKernel } from '../helpers/kernelRun';

let gpu: GpuContext;
beforeAll(async () => {
  gpu = await requestNodeGpu();
});
afterAll(() => gpu.destroy());

const NONE = 0xffffffff;

describe('value', () => {
  it.each([
    [1, 8, 0],
    [33, 32, 0.2],
    [100, 32, 0.5],
  ])('forward and backward: N=%i, V=%i, clip %d', async (N, V, clip) => {
    const logits = normals(1, N * V, 0.5);
    const rng = new Rng(2);
    const targets = Uint32Array.from({ length: N }, (_, n) => (n % 5 === 3 ? NONE : rng.int(0, V - 1)));
    const dims = Uint32Array.of(N, 0, 0, 0);
    const shape = Uint32Array.of(V, f32Bits(clip), 0, 0);
    const { values } = await runKernel(gpu, valueForward, {}, { dims, shape, logits, targets, values: N }, N);
    expectClose(values, valueForwardCpu(logits, targets, V), 0, 'values');

    const [olds, returns] = [normals(3, N, 0.5), normals(4, N, 0.7)];
    const items = Array.from({ length: N }, (_, n) => ({ oldValue: olds[n], target: returns[n], weight: (1 + (n % 3)) / N }));
    const packed = Float32Array.from(items.flatMap(({ oldValue, target, weight }, n) => (targets[n] === NONE ? [NaN, NaN, NaN, NaN] : [oldValue, target, weight, NaN])));
    const back = await runKernel(gpu, valueBackward, {}, { dims, shape, targets, values: Float32Array.from(values), items: packed, logits }, (N * V) / 4);
    const want = valueBackwardCpu(values, targets, items, V, clip);
    expectClose(back.logits, want, 1e-6, 'dlogits');
    if (clip > 0) {
      const held = items.map((item, n) => targets[n] !== NONE && valueLossCpu(values[n], item.oldValue, item.target, item.weight, clip).held);
      expect(held.filter(Boolean).length).toBeGreaterThan(N / 10);
      held.forEach((h, n) => h && expect(back.logits[n * V]).toBe(0));
    }
  });

  it('has a twin that finite differences confirm away from the kinks', () => {
    const rng = new Rng(5);
    let counted = 0;
    for (let i = 0; i < 200; i++) {
      const [value, old, target] = [rng.normal(), rng.normal(), rng.normal()];
      const at = (x: number) => valueLossCpu(x, old, target, 0.3, 0.4);
      const h = 1e-6;
      if (at(value + h).held !== at(value - h).held) continue;
      counted++;
      const numeric = (at(value + h).loss - at(value - h).loss) / (2 * h);
      expect(Math.abs(numeric - at(value).gradient) <= 1e-7).toBe(true);
    }
    expect(counted).toBeGreaterThan(190);
  });

  it('is the larger of the two squared errors, worked by hand', () => {
    // V has moved from .5 to .9 towards 1; held at .7 it is .3 away: loss .045, no push.
    const towards = valueLossCpu(0.9, 0.5, 1, 1, 0.2);
    expectClose([towards.loss, towards.gradient], [0.045, 0], 1e-12);
    // Away from the return the plain error is the larger one and still pushes back.
    const away = valueLossCpu(0.1, 0.5, 1, 1, 0.2);
    expectClose([away.loss, away.gradient], [0.405, -0.9], 1e-12);
    // Without a clip the first pushes on.
    expectClose([valueLossCpu(0.9, 0.5, 1, 2, 0).loss, valueLossCpu(0.9, 0.5, 1, 2, 0).gradient], [0.01, -0.2], 1e-12);
  });
});
