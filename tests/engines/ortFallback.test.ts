import { expect, it, vi } from 'vitest';
import { Rng } from '../../src/core/rng';
import { createOrtReference } from '../../src/engines/ortReference';
import type { GpuContext } from '../../src/gpu/device';
import { MODEL_CONFIGS } from '../../src/model/config';
import { policyToOnnx } from '../../src/model/onnxGraph';
import { packRows } from '../helpers/packedBatch';
import { logSoftmaxAt, randomParams, referenceForward } from '../helpers/referenceForward';

const broken = vi.hoisted(() => () => {
  throw new Error('no such file on this host');
});
vi.mock('onnxruntime-web/jspi', broken);
vi.mock('onnxruntime-web/webgpu', broken);

const config = MODEL_CONFIGS.small;
const rng = new Rng(71);
const params = randomParams(config, () => rng.normal());
const modelBytes = policyToOnnx(config, params, { model: 'small', task: 'columnAddition', seed: 1 });

it('falls back to WASM where the WebGPU provider does not start, and says so', async () => {
  const reference = await createOrtReference({ modelBytes, config, provider: 'webgpu', gpu: {} as GpuContext });
  expect(reference.description).toMatch(/^onnxruntime-web, WASM provider \(the WebGPU provider did not start: .+\)$/);
  const tokens = [1, 2, 3, 4, 5];
  const [, second] = await reference.logp(packRows([tokens], 1), 1);
  const want = logSoftmaxAt(referenceForward(config, params, tokens)[1]!, 3);
  if (!(Math.abs(second! - want) <= 1e-5)) throw new Error(`${second} against ${want}`);
  await reference.destroy();
});
