import type { PackedBatch } from '../../src/engines/engine';
import { NO_TARGET, type LossInputs } from '../../src/engines/engine';
import { createWebGpuEngine, type WebGpuEngine } from '../../src/engines/webgpu';
import type { GpuContext } from '../../src/gpu/device';
import { MODEL_CONFIGS, paramLayout, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { compileTokenLoss, getObjective, resolveHyperparameters } from '../../src/objectives';
import { ADAM, DECODE_KEY, PARAMS_SEED } from './work';

/** One size of work: answers of a rollout, tokens of each, model, and runs that share the adapter. */
export interface ScalePoint {
  rows: number;
  /** Tokens of every answer. */
  length: number;
  C: number;
  L: number;
  runs: number;
}

export interface ScaleResult extends ScalePoint {
  parameters: number;
  /** Of one update (a quarter of the answers) and of one iteration (rollout, four updates); of each run, while all take turns. */
  updateMs: number;
  iterationMs: number;
  /** Bytes of GPU buffers, all runs together. */
  bytes: number;
}

export type Axis = 'rows' | 'length' | 'C' | 'L' | 'runs';

/** What an axis departs from. */
export const SCALE_BASE: ScalePoint = { rows: 64, length: 24, C: MODEL_CONFIGS.small.C, L: MODEL_CONFIGS.small.L, runs: 1 };

export const SCALE_AXES: Record<Axis, readonly number[]> = {
  rows: [16, 32, 64, 128, 256],
  length: [12, 24, 48, 96],
  C: [32, 48, 64, 96, 128],
  L: [1, 2, 4, 6],
  runs: [1, 2, 4],
};

/** Models of growing size, for the largest that still makes an iteration a second. */
export const LADDER: readonly Pick<ScalePoint, 'C' | 'L'>[] = [
  { C: 32, L: 2 }, { C: 48, L: 2 }, { C: 64, L: 2 }, { C: 64, L: 4 }, { C: 96, L: 4 }, { C: 128, L: 4 }, { C: 128, L: 6 }, { C: 192, L: 6 }, { C: 256, L: 8 },
];

/** Iterations a second that the ladder asks for. */
export const LADDER_MS = 1000;

export const UPDATES = 4;
const PROMPT = 8;
/** No token has this id, so every answer has its full length. */
const NO_EOS = 0xffff;

export function modelFor({ C, L, length }: Pick<ScalePoint, 'C' | 'L' | 'length'>): ModelConfig {
  return { ...MODEL_CONFIGS.small, id: `scale-${C}-${L}`, C, L, H: C / 16, T: Math.max(64, PROMPT + length) };
}

interface Bench {
  engine: WebGpuEngine;
  rollout: () => Promise<unknown>;
  update: () => Promise<unknown>;
  iteration: () => Promise<unknown>;
}

/** An engine with buffers for exactly this work, warmed up. */
async function open(ctx: GpuContext, point: ScalePoint): Promise<Bench> {
  const { rows, length } = point;
  const config = modelFor(point);
  const stride = PROMPT + length - 1;
  const perUpdate = rows / UPDATES;
  const engine = await createWebGpuEngine(ctx, config, { rolloutRows: rows, updatePositions: perUpdate * stride, maxLag: 0 });
  engine.loadParams(initialParams(config, PARAMS_SEED));
  const objective = getObjective('grpo');
  await engine.setTokenLoss(compileTokenLoss(objective));
  const prompts = Uint32Array.from({ length: rows * PROMPT }, (_, i) => 1 + ((i * 7) % (config.V - 1)));
  const options = { learningRate: ADAM.lr, beta1: ADAM.beta1, beta2: ADAM.beta2, adamEps: ADAM.eps, weightDecay: ADAM.decay, maxGradNorm: ADAM.maxNorm, temperature: 1, hyper: resolveHyperparameters(objective, {}) };
  const sample = () => engine.rollout({ ...DECODE_KEY, prompts, rows, promptLength: PROMPT, maxNewTokens: length, temperature: 1, greedy: false, precision: 'f32', lag: 0, eos: NO_EOS });
  let sampled = await sample();
  const rollout = async (): Promise<void> => {
    sampled = await sample();
  };
  const step = (k: number): void => {
    const { batch, inputs } = packed(sampled, { first: k * perUpdate, rows: perUpdate, length });
    engine.update(batch, inputs, options);
  };
  const update = async (): Promise<void> => {
    step(0);
    await engine.collect();
  };
  const iteration = async (): Promise<void> => {
    await rollout();
    for (let k = 0; k < UPDATES; k++) step(k);
    const records = await engine.collect();
    engine.endIteration();
    if (!records.every((record) => Number.isFinite(record.gradNorm))) throw new Error('a gradient is not finite');
  };
  await iteration();
  return { engine, rollout, update, iteration };
}

/** Some rows of a rollout, end to end, with the loss's inputs: advantages of alternating sign, the whole answer one subsentence. */
function packed({ tokens, logp }: { tokens: Uint32Array; logp: Float32Array }, { first, rows, length }: { first: number; rows: number; length: number }): { batch: PackedBatch; inputs: LossInputs } {
  const S = PROMPT + length;
  const stride = S - 1;
  const n = rows * stride;
  const batch: PackedBatch = { rows, positions: n, inputs: new Uint32Array(n), pos: new Uint32Array(n), targets: new Uint32Array(n).fill(NO_TARGET), rowStart: Uint32Array.from({ length: rows + 1 }, (_, r) => r * stride) };
  const column = (value = 0) => new Float32Array(n).fill(value);
  const inputs: LossInputs = { oldLogp: column(), refLogp: column(), advantage: column(), weight: column(1 / (rows * length)), entropyRatio: column(1), entropy: column(), segStart: new Uint32Array(n), segEnd: new Uint32Array(n), respStart: new Uint32Array(n) };
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < stride; i++) {
      const at = r * stride + i;
      batch.inputs[at] = tokens[(first + r) * S + i];
      batch.pos[at] = i;
      inputs.advantage[at] = r % 2 ? -1 : 1;
      inputs.segStart[at] = inputs.respStart[at] = r * stride + PROMPT - 1;
      inputs.segEnd[at] = (r + 1) * stride;
      if (i < PROMPT - 1) continue;
      batch.targets[at] = tokens[(first + r) * S + i + 1];
      inputs.oldLogp[at] = logp[(first + r) * length + i - PROMPT + 1];
    }
  }
  return { batch, inputs };
}

/** The least of `rounds` timings, or of those that fit into `enoughMs`; all runs go at once. */
async function timed(benches: readonly Bench[], part: 'update' | 'iteration', rounds: number, enoughMs: number): Promise<number> {
  const times: number[] = [];
  const began = performance.now();
  while (times.length < rounds && (times.length === 0 || performance.now() - began < enoughMs)) {
    const start = performance.now();
    await Promise.all(benches.map((bench) => bench[part]()));
    times.push(performance.now() - start);
  }
  // Whatever else the machine does only adds time.
  return Math.min(...times);
}

/** Measures one point on devices of its own. */
export async function measurePoint(requestGpu: () => Promise<GpuContext>, point: ScalePoint, { rounds = 5, enoughMs = 1500 } = {}): Promise<ScaleResult> {
  const benches: Bench[] = [];
  try {
    for (let i = 0; i < point.runs; i++) benches.push(await open(await requestGpu(), point));
    const bytes = benches.reduce((sum, { engine }) => sum + engine.ctx.bufferBytes, 0);
    const updateMs = await timed(benches, 'update', rounds, enoughMs);
    const iterationMs = await timed(benches, 'iteration', rounds, enoughMs);
    return { ...point, parameters: paramLayout(modelFor(point)).count, updateMs, iterationMs, bytes };
  } finally {
    for (const { engine } of benches) engine.destroy();
  }
}
