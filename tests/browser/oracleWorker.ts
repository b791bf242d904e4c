import * as tf from '@tensorflow/tfjs-core';
import { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { Rng } from '../../src/core/rng';
import { NO_TARGET, type LossInputs, type PackedBatch, type RolloutRequest, type UpdateOptions } from '../../src/engines/engine';
import { padBatch } from '../../src/engines/padBatch';
import { openTfjs } from '../../src/engines/tfjsBackend';
import { createTfjsEngine } from '../../src/engines/tfjsEngine';
import { forwardRows, logProbs, named, oneHotRows, targetLogp, weightTensors } from '../../src/engines/tfjsTransformer';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import { browserGpu, requestGpu } from '../../src/gpu/device';
import { sampleTokenCpu } from '../../src/kernels/decode/decode.cpu';
import { policyLossCpu } from '../../src/kernels/policyLoss/policyLoss.cpu';
import { roundMantissaCpu } from '../../src/kernels/roundMantissa/roundMantissa.cpu';
import { MODEL_CONFIGS, paramLayout } from '../../src/model/config';
import { loadPolicy } from '../../src/model/manifest';
import { compileTokenLoss, getObjective, resolveHyperparameters, rowWeights, segmentTokens } from '../../src/objectives';
import { getTask } from '../../src/tasks';
import { decodeToken, encode } from '../../src/tasks/tokenizer';
import { packLossInputs, packRows, type RowData } from '../../src/trainer/batch';
import { referenceForward } from '../helpers/referenceForward';
import { oracleBatch, oracleLoss } from './oracleLoss';

/** Our WebGPU engine, tfjs's automatic differentiation and the fallback engine on the same batch (tests/e2e/tfjsOracle.e2e.ts). */

const CONFIG = MODEL_CONFIGS.small;
const TASK = getTask('columnAddition');
const TEMPERATURE = 0.9;
const OPTIONS: Omit<UpdateOptions, 'hyper'> = { learningRate: 1e-3, beta1: 0.9, beta2: 0.99, adamEps: 1e-8, weightDecay: 0.01, maxGradNorm: 0.5, temperature: TEMPERATURE };
const S = TASK.promptLength + TASK.maxNewTokens;

const uncaptured: string[] = [];
const engine: Promise<WebGpuEngine> = requestGpu(browserGpu()).then((gpu) => {
  gpu.onFailure = (kind, message) => uncaptured.push(`${kind}: ${message}`);
  return createWebGpuEngine(gpu, CONFIG, { rolloutRows: 16, updatePositions: 1024 });
});
const policy = loadPolicy('../models/', 'small', 'columnAddition').then(({ params }) => params);
const wasm = openTfjs(['wasm']);

function request(rows: number, over: Partial<RolloutRequest> = {}): RolloutRequest {
  const prompts = Uint32Array.from(Array.from({ length: rows }, (_, r) => [...encode(TASK.samplePrompt(new Rng(71, r), 'train'))]).flat());
  return { prompts, rows, promptLength: TASK.promptLength, maxNewTokens: TASK.maxNewTokens, eos: encode(TASK.eos)[0]!, temperature: TEMPERATURE, greedy: false, seed: 72, iteration: 3, precision: 'f32', lag: 0, ...over };
}

interface Batch {
  batch: PackedBatch;
  rows: RowData[];
  meanEntropy: number;
}

/** Answers of the shipped policy; their old log-probs are moved away so that every objective clips some and keeps some. */
async function sampledBatch(count: number): Promise<Batch> {
  const gpu = await engine;
  gpu.loadParams(await policy);
  const { tokens, lengths, logp, entropy } = await gpu.rollout(request(count));
  const rng = new Rng(73);
  const rows = Array.from({ length: count }, (_, r): RowData => {
    const from = r * TASK.maxNewTokens;
    const length = lengths[r]!;
    const [whole, characters] = [0.03 * rng.normal(), Array.from(tokens.subarray(r * S + TASK.promptLength, r * S + TASK.promptLength + length), decodeToken)];
    // One answer brings ratios that even SPPO's dual clip holds.
    const spread = r === 1 ? 1.5 : 0.2;
    return {
      oldLogp: logp.subarray(from, from + length).map((v) => v + whole + spread * rng.normal()),
      refLogp: logp.subarray(from, from + length).map((v) => v + 0.2 * rng.normal()),
      advantages: new Float64Array(length).fill(r === 0 ? 0 : r === 1 ? -1.3 : Math.fround(rng.normal())),
      segments: segmentTokens(characters, { delimiters: TASK.delimiters, eos: TASK.eos }),
      entropy: entropy.slice(from, from + length),
    };
  });
  const all = rows.flatMap((row) => Array.from(row.entropy));
  const batch = packRows({ tokens, lengths, promptLength: TASK.promptLength, maxNewTokens: TASK.maxNewTokens }, [...rows.keys()]);
  return { batch, rows, meanEntropy: all.reduce((a, b) => a + b, 0) / all.length };
}

/** What the trainer would hand to an engine. */
function lossOf(id: string, { batch, rows, meanEntropy }: Batch): { inputs: LossInputs; hyper: Record<string, number> } {
  const objective = getObjective(id);
  const weights = rowWeights(rows.map((row) => row.oldLogp.length), objective.lossAggMode, { maxTokens: TASK.maxNewTokens });
  return { inputs: packLossInputs(batch, TASK.promptLength, rows, weights, meanEntropy), hyper: resolveHyperparameters(objective, { beta: 0.04 }) };
}

function relativeError(got: ArrayLike<number>, want: ArrayLike<number>, from = 0, to = want.length): number {
  let [difference, size] = [0, 0];
  for (let i = from; i < to; i++) {
    difference += (got[i]! - want[i]!) ** 2;
    size += want[i]! ** 2;
  }
  return Math.sqrt(difference / size);
}

/** tfjs's gradient of the loss as the paper writes it, flat; on whichever backend is set. */
async function autodiff(id: string, data: Batch, hyper: Record<string, number>): Promise<{ loss: number; gradient: Float64Array }> {
  const padded = padBatch(data.batch, CONFIG.T);
  const targets = new Uint32Array(padded.rows * padded.length).fill(NO_TARGET);
  padded.source.forEach((to, n) => (targets[to] = data.batch.targets[n]!));
  const params = await policy;
  let [value, gradients]: [tf.Tensor | null, tf.Tensor[]] = [null, []];
  tf.tidy(() => {
    const { names, tensors } = weightTensors(CONFIG, params);
    const b = oracleBatch(data.batch, padded, data.rows, data.meanEntropy, TASK.maxNewTokens);
    gradients = tf.grads((...weights: tf.Tensor[]) => {
      const all = logProbs(forwardRows(CONFIG, named(names, weights), padded.tokens, padded.rows, 0, null).logits, TEMPERATURE);
      const loss = oracleLoss(id, tf.reshape(targetLogp(all, oneHotRows(targets, CONFIG.V)), [padded.rows, padded.length]), b, hyper);
      value = tf.keep(loss.clone());
      return loss;
    })(tensors).map((g) => tf.keep(g));
  });
  const gradient = new Float64Array(params.length);
  const { specs } = paramLayout(CONFIG);
  for (const [i, g] of gradients.entries()) gradient.set(await g.data(), specs[i]!.offset);
  const loss = (await (value as unknown as tf.Tensor).data())[0]!;
  tf.dispose([...gradients, value as unknown as tf.Tensor]);
  return { loss, gradient };
}

export interface GradientNumbers {
  backend: string;
  adapter: string;
  tokens: number;
  /** Relative error of the whole gradient, and the worst weight's (its own norm). */
  relativeError: number;
  worst: { name: string; relativeError: number };
  norm: number;
  /** As the paper writes it, in f32, and by our expressions, in f64. */
  loss: { oracle: number; ours: number };
  /** Tokens with A other than 0: how many have a policy gradient, and how many lost theirs to the clip (beta 0). */
  live: number;
  cut: number;
  /** What its clip does to a token, by its definition. */
  clipEffect: string;
  uncaptured: string[];
}

/** Our engine's gradient of one update. */
async function ours(id: string, data: Batch, hyper: Record<string, number>): Promise<{ gradient: Float32Array; coefficient: Float32Array }> {
  const gpu = await engine;
  gpu.loadParams(await policy);
  await gpu.setTokenLoss(compileTokenLoss(getObjective(id)));
  gpu.update(data.batch, lossOf(id, data).inputs, { ...OPTIONS, hyper });
  const [record] = await gpu.collect();
  return { gradient: await gpu.readGradient(), coefficient: record!.coefficient };
}

async function compareGradients(id: string, count: number): Promise<GradientNumbers> {
  const data = await sampledBatch(count);
  const { hyper, inputs } = lossOf(id, data);
  const { gradient: got } = await ours(id, data, hyper);
  const { coefficient } = await ours(id, data, { ...hyper, beta: 0 });
  (await engine).loadParams(await policy);
  const newLogp = (await (await engine).score(data.batch, TEMPERATURE)).logp;
  const columns = policyLossCpu(compileTokenLoss(getObjective(id)).reference, { newLogp, targets: data.batch.targets, rowStart: data.batch.rowStart, ...inputs }, hyper);
  const { loss, gradient: want } = await autodiff(id, data, hyper);
  const perWeight = paramLayout(CONFIG).specs.map((spec) => ({ name: spec.name, relativeError: relativeError(got, want, spec.offset, spec.offset + spec.size) }));
  const counted = [...data.batch.targets.keys()].filter((n) => data.batch.targets[n] !== NO_TARGET);
  const pushed = counted.filter((n) => inputs.advantage[n] !== 0);
  return {
    backend: tf.getBackend(), adapter: (await engine).ctx.facts.description || (await engine).ctx.facts.architecture, tokens: counted.length,
    relativeError: relativeError(got, want),
    // A NaN would lose every comparison: it counts as the worst.
    worst: perWeight.reduce((a, b) => (b.relativeError <= a.relativeError ? a : b)),
    norm: Math.sqrt(want.reduce((a, g) => a + g * g, 0)), loss: { oracle: loss, ours: columns.reduce((sum, v, i) => (i % 4 === 1 ? sum + v : sum), 0) },
    live: pushed.filter((n) => coefficient[n] !== 0).length, cut: pushed.filter((n) => coefficient[n] === 0).length, clipEffect: getObjective(id).clipEffect, uncaptured,
  };
}

async function gradient(id: string): Promise<GradientNumbers> {
  await tf.setBackend(await wasm);
  return compareGradients(id, 12);
}

/** The same with tfjs on WebGPU, on the device that our own kernels use. */
async function gradientOnOurDevice(id: string): Promise<GradientNumbers> {
  const { device } = (await engine).ctx;
  await wasm;
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  tf.removeBackend('webgpu');
  tf.registerBackend('webgpu', () => new WebGPUBackend(device, device.adapterInfo));
  await tf.setBackend('webgpu');
  return compareGradients(id, 3);
}

export interface UpdateNumbers {
  /** Per update: largest distance of log-probs, entropies (nats) and coefficients, and the two gradient norms. */
  records: { logp: number; entropy: number; coefficient: number; gradNorm: [number, number] }[];
  /** Distance of the parameters over how far they moved. */
  relativeError: number;
  moved: number;
}

/** The fallback engine's updates against the WebGPU engine's. */
async function updates(id: string): Promise<UpdateNumbers> {
  await tf.setBackend(await wasm);
  const data = await sampledBatch(12);
  const { inputs, hyper } = lossOf(id, data);
  const params = await policy;
  const [gpu, fallback] = [await engine, createTfjsEngine(CONFIG)];
  for (const e of [gpu, fallback]) {
    e.loadParams(params);
    await e.setTokenLoss(compileTokenLoss(getObjective(id)));
    for (let k = 0; k < 3; k++) e.update(data.batch, inputs, { ...OPTIONS, hyper });
  }
  const [want, got] = [await gpu.collect(), await fallback.collect()];
  const far = (a: Float32Array, b: Float32Array) => a.reduce((worst, v, i) => (Math.abs(v - b[i]!) <= worst ? worst : Math.abs(v - b[i]!)), 0);
  const [after, afterFallback] = [await gpu.readParams(), await fallback.readParams()];
  const displacement = (to: Float32Array) => Float64Array.from(to, (v, i) => v - params[i]!);
  return {
    records: want.map((w, k) => ({
      logp: far(w.newLogp, got[k]!.newLogp), entropy: far(w.entropy, got[k]!.entropy), coefficient: far(w.coefficient, got[k]!.coefficient), gradNorm: [w.gradNorm, got[k]!.gradNorm],
    })),
    relativeError: relativeError(displacement(afterFallback), displacement(after)),
    moved: Math.sqrt(displacement(after).reduce((a, v) => a + v * v, 0)),
  };
}

export interface RolloutNumbers {
  tokens: number;
  /** Rows in which the two engines part, and how far the noise was from a boundary at that token (f64). */
  parted: { row: number; margin: number }[];
  /** Largest distances over tokens before a parting, nats. */
  logp: number;
  entropy: number;
}

/** The fallback engine's rollout against the WebGPU engine's; `kind`: f32, e5m2 or greedy. */
async function rollout(kind: string): Promise<RolloutNumbers> {
  await tf.setBackend(await wasm);
  const params = await policy;
  const [gpu, fallback] = [await engine, createTfjsEngine(CONFIG)];
  const wanted = request(16, { greedy: kind === 'greedy', ...(kind === 'e5m2' && { precision: 'e5m2' as const }) });
  gpu.loadParams(params);
  fallback.loadParams(params);
  const [a, b] = [await gpu.rollout(wanted), await fallback.rollout(wanted)];
  const weights = kind === 'e5m2' ? roundMantissaCpu(params, 2) : params;
  const numbers: RolloutNumbers = { tokens: 0, parted: [], logp: 0, entropy: 0 };
  for (let r = 0; r < wanted.rows; r++) {
    for (let t = 0; t < a.lengths[r]!; t++) {
      const at = r * S + TASK.promptLength + t;
      if (a.tokens[at] !== b.tokens[at]) {
        const logits = referenceForward(CONFIG, weights, a.tokens.subarray(r * S, at)).at(-1)!;
        const sorted = [...logits].sort((x, y) => y - x);
        const key = { seed: wanted.seed, iteration: wanted.iteration, row: r, position: TASK.promptLength + t };
        numbers.parted.push({ row: r, margin: wanted.greedy ? sorted[0]! - sorted[1]! : sampleTokenCpu(Float64Array.from(logits), TEMPERATURE, key, false).margin });
        break;
      }
      numbers.tokens++;
      const i = r * TASK.maxNewTokens + t;
      numbers.logp = Math.max(numbers.logp, Math.abs(a.logp[i]! - b.logp[i]!));
      numbers.entropy = Math.max(numbers.entropy, Math.abs(a.entropy[i]! - b.entropy[i]!));
    }
  }
  return numbers;
}

const api = { gradient, gradientOnOurDevice, updates, rollout };
export type OracleApi = typeof api;

addEventListener('message', (event: MessageEvent<{ call: keyof OracleApi; argument: string }>) => {
  const { call, argument } = event.data;
  (api[call](argument) as Promise<unknown>).then(
    (result) => postMessage({ result }),
    (error: unknown) => postMessage({ error: error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : String(error) }),
  );
});
