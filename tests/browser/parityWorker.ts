import { Rng } from '../../src/core/rng';
import type { PackedBatch, ReferencePolicy } from '../../src/engines/engine';
import { createOrtReference } from '../../src/engines/ortReference';
import { OrtSession, exclusive, loadOrt } from '../../src/engines/ortSession';
import { padBatch } from '../../src/engines/padBatch';
import { createWebGpuEngine } from '../../src/engines/webgpu';
import { browserGpu, requestGpu, type GpuContext } from '../../src/gpu/device';
import { MODEL_CONFIGS, type ModelConfig, type ModelId } from '../../src/model/config';
import { loadManifest, loadPolicy } from '../../src/model/manifest';
import { policyToOnnx } from '../../src/model/onnxGraph';
import { promptSet } from '../../src/tasks/corpus';
import { getTask } from '../../src/tasks/index';
import { encode } from '../../src/tasks/tokenizer';
import { packRows } from '../helpers/packedBatch';
import { logSoftmaxAt, randomParams, referenceForward } from '../helpers/referenceForward';

/**
 * Runs one policy in every implementation that the product has, in a module worker as the product does, and hands the
 * numbers to the test (tests/e2e/onnxParity.e2e.ts), which compares them.
 */

/** Logits at packed positions [N * V] and log-probs of the targets [N]. */
export interface ParityNumbers {
  adapter: string;
  /** In f64, from the definition. */
  expected: { logits: number[]; logp: number[] };
  /** Our WGSL engine. */
  engine: { logits: number[]; logp: number[] };
  /** onnxruntime-web, as the product uses it; `logits` by a session of its own. */
  wasm: { logits: number[]; logp: number[]; description: string };
  webgpu: { logits: number[]; logp: number[]; description: string; secondsToStart: number; secondsPerRun: number };
}

const TEMPERATURE = 0.8;

async function policyOf(id: string): Promise<{ config: ModelConfig; params: Float32Array<ArrayBuffer>; bytes: Uint8Array<ArrayBuffer>; task: string }> {
  const [task, model] = id.split('-') as [string, ModelId];
  const config = MODEL_CONFIGS[model];
  if (task !== 'random') return { config, task, ...(await loadPolicy('../models/', model, task)) };
  const rng = new Rng(61, config.C);
  const params = randomParams(config, () => rng.normal());
  return { config, params, bytes: policyToOnnx(config, params, { model, task, seed: 61 }), task: 'columnAddition' };
}

/** Worked examples on held-out prompts: rows of several lengths. */
function examples(taskId: string): PackedBatch {
  const task = getTask(taskId);
  const rows = promptSet(task, 'heldOut', 5, 6).map((prompt, i) => [...encode(prompt + task.workedExample(new Rng(62, i), prompt))]);
  return packRows(rows, task.promptLength);
}

function reference(config: ModelConfig, params: Float32Array, batch: PackedBatch): ParityNumbers['expected'] {
  const logits: number[] = [];
  const logp: number[] = [];
  for (let r = 0; r < batch.rows; r++) {
    const [start, end] = [batch.rowStart[r]!, batch.rowStart[r + 1]!];
    referenceForward(config, params, batch.inputs.subarray(start, end)).forEach((row, t) => {
      const target = batch.targets[start + t]!;
      logits.push(...row);
      logp.push(target < config.V ? logSoftmaxAt(row, target, TEMPERATURE) : 0);
    });
  }
  return { logits, logp };
}

/** The graph's own output, padding removed. */
function graphLogits(provider: 'wasm' | 'webgpu', config: ModelConfig, bytes: Uint8Array, batch: PackedBatch, gpu: GpuContext): Promise<number[]> {
  return exclusive(async () => {
    const ort = await loadOrt(provider);
    const executionProviders = provider === 'wasm' ? ['wasm' as const] : [{ name: 'webgpu' as const, device: gpu.device }];
    const session = new OrtSession(ort, bytes, { executionProviders });
    const padded = padBatch(batch, config.T);
    const { logits } = await session.run({ tokens: new ort.Tensor('int32', padded.tokens, [padded.rows, padded.length]) });
    const data = logits!.data as Float32Array;
    const out: number[] = [];
    for (const at of padded.source) out.push(...data.subarray(at * config.V, (at + 1) * config.V));
    await session.release();
    return out;
  });
}

async function parity(id: string): Promise<ParityNumbers> {
  const { config, params, bytes, task } = await policyOf(id);
  const batch = examples(task);
  const gpu = await requestGpu(browserGpu());
  const engine = await createWebGpuEngine(gpu, config, { rolloutRows: 8, updatePositions: 512 });
  engine.loadParams(params);
  const engineLogits = await engine.logits(batch);
  const { logp: engineLogp } = await engine.score(batch, TEMPERATURE);

  const wasm = await createOrtReference({ modelBytes: bytes, config, provider: 'wasm' });
  const start = performance.now();
  const webgpu = await createOrtReference({ modelBytes: bytes, config, provider: 'webgpu', gpu });
  const started = performance.now();
  const webgpuLogp = await webgpu.logp(batch, TEMPERATURE);
  const ran = performance.now();
  const numbers: ParityNumbers = {
    adapter: `${gpu.facts.vendor} ${gpu.facts.architecture}`,
    expected: reference(config, params, batch),
    engine: { logits: [...engineLogits].slice(0, batch.positions * config.V), logp: [...engineLogp].slice(0, batch.positions) },
    wasm: { logits: await graphLogits('wasm', config, bytes, batch, gpu), logp: [...(await wasm.logp(batch, TEMPERATURE))], description: wasm.description },
    webgpu: {
      logits: await graphLogits('webgpu', config, bytes, batch, gpu),
      logp: [...webgpuLogp],
      description: webgpu.description,
      secondsToStart: (started - start) / 1000,
      secondsPerRun: (ran - started) / 1000,
    },
  };
  await Promise.all([wasm.destroy(), webgpu.destroy()]);
  return numbers;
}

/** One reference policy on the GPU through rough treatment; resolves to the log-probs of the same batch at each stage. */
async function hardship(): Promise<{ stages: Record<string, number[]>; failure: string; expected: number[]; uncaptured: string[] }> {
  const { config, params, bytes } = await policyOf('random-small');
  const gpu = await requestGpu(browserGpu());
  const uncaptured: string[] = [];
  gpu.onFailure = (kind, message) => uncaptured.push(`${kind}: ${message}`);
  // A context longer than the graph's own, so that a row can reach the runtime which the graph cannot take.
  const policy: ReferencePolicy = await createOrtReference({ modelBytes: bytes, config: { ...config, T: 96 }, provider: 'webgpu', gpu });
  const batch = examples('columnAddition');
  const larger = packRows(Array.from({ length: 20 }, (_, i) => Array.from({ length: 30 }, (_, t) => (i + t) % 26)), 8);
  const stages: Record<string, number[]> = {};
  const note = async (name: string) => (stages[name] = [...(await policy.logp(batch, TEMPERATURE))]);
  await note('first');
  const [, again] = await Promise.all([policy.logp(larger, 1), policy.logp(batch, TEMPERATURE)]);
  stages['beside a larger batch'] = [...again];
  const tooLong = packRows([Array.from({ length: 80 }, () => 1)], 8);
  const failure = await policy.logp(tooLong, 1).then(
    () => 'none',
    (error: unknown) => String(error),
  );
  await note('after a failure');
  await policy.destroy();
  return { stages, failure, expected: reference(config, params, batch).logp, uncaptured };
}

const api = {
  parity,
  hardship,
  shipped: async () => (await loadManifest('../models/')).policies.map((policy) => policy.id),
};
export type ParityApi = typeof api;

addEventListener('message', (event: MessageEvent<{ call: keyof ParityApi; argument: string }>) => {
  const { call, argument } = event.data;
  api[call](argument).then(
    (result) => postMessage({ result }),
    (error: unknown) => postMessage({ error: String(error) }),
  );
});
