import * as ort from 'onnxruntime-web/wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { MODEL_CONFIGS } from '../../src/model/config';
import { policyToOnnx } from '../../src/model/onnxGraph';
import { randomParams, referenceForward } from '../helpers/referenceForward';

beforeAll(() => {
  ort.env.wasm.numThreads = 1;
});

describe.each(Object.values(MODEL_CONFIGS).map((config) => [config.id, config] as const))('the ONNX graph of %s in onnxruntime-web (WASM)', (_, config) => {
  const rng = new Rng(11, config.C);
  const params = randomParams(config, () => rng.normal());

  it.each([
    [3, 20],
    [1, 1],
    [2, 64],
  ])('gives the logits of the f64 reference, B=%i T=%i', async (B, T) => {
    const session = await ort.InferenceSession.create(policyToOnnx(config, params, { model: config.id, task: 'columnAddition', seed: 1 }), { executionProviders: ['wasm'] });
    const tokens = Int32Array.from({ length: B * T }, () => rng.int(0, config.V - 1));
    const { logits } = await session.run({ tokens: new ort.Tensor('int32', tokens, [B, T]) });
    expect(logits?.dims).toEqual([B, T, config.V]);
    const got = logits?.data as Float32Array;
    let spread = 0;
    for (let b = 0; b < B; b++) {
      referenceForward(config, params, tokens.subarray(b * T, (b + 1) * T)).forEach((row, t) => {
        row.forEach((want, v) => {
          const diff = Math.abs((got[(b * T + t) * config.V + v] as number) - want);
          if (!(diff <= 5e-6)) throw new Error(`row ${b}, position ${t}, token ${v}: ${got[(b * T + t) * config.V + v]} against ${want}`);
          spread = Math.max(spread, Math.abs(want));
        });
      });
    }
    // The comparison means something only if the logits are not all alike.
    expect(spread).toBeGreaterThan(0.5);
    await session.release();
  });
});
