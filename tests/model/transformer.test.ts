import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { MODEL_CONFIGS, paramLayout, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { transformerCpu } from '../../src/model/transformer.cpu';
import { expectGradient, normals, packedLayout } from '../helpers/kernelRun';

const TINY: ModelConfig = { id: 'tiny', C: 16, L: 2, H: 2, V: 8, T: 16, ropeBase: 100, normEps: 1e-5 };

describe('the f64 policy', () => {
  it('has the parameter counts of experiments.md', () => {
    expect(paramLayout(MODEL_CONFIGS.main).count).toBe(61680);
    expect(paramLayout(MODEL_CONFIGS.small).count).toBe(28832);
  });

  it('has a gradient that finite differences confirm to 1e-6, for every weight', () => {
    const { pos, N } = packedLayout([5, 9]);
    const rng = new Rng(3);
    const inputs = {
      tok: Uint32Array.from({ length: N }, () => rng.int(0, TINY.V - 1)),
      pos,
      targets: Uint32Array.from({ length: N }, (_, n) => (pos[n] < 2 ? 0xffffffff : rng.int(0, TINY.V - 1))),
      temperature: 0.9,
    };
    const c = normals(4, N);
    const flat = Float64Array.from(initialParams(TINY, 5));
    const gradient = transformerCpu(TINY, flat, inputs).backward(c);
    for (const spec of paramLayout(TINY).specs) {
      const part = flat.subarray(spec.offset, spec.offset + spec.size);
      const f = () => transformerCpu(TINY, flat, inputs).logp.reduce((s, v, n) => s + v * c[n], 0);
      // The floor keeps entries whose true gradient is 0 (embeddings of absent tokens) from dividing rounding by rounding.
      expectGradient(f, part, gradient.subarray(spec.offset, spec.offset + spec.size), { tolerance: 1e-6, entries: 12, floor: 1e-4 });
    }
  });
});
