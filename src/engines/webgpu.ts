import { invariant, UserError } from '../core/errors';
import { GPU_USAGE, type GpuContext, type Pipeline } from '../gpu/device';
import { encode, type Dispatch } from '../gpu/program';
import { shaderOf } from '../kernels/kernelSpec';
import { lossSharingFor, policyLossSpec, policyLossThreads } from '../kernels/policyLoss/policyLoss';
import type { ModelConfig } from '../model/config';
import { buildDecoder } from '../model/decoder';
import { buildOptimiser } from '../model/optimiser';
import { createParams, f32Bits, uniform4 } from '../model/parameters';
import { compileModel } from '../model/pipelines';
import { buildTransformer } from '../model/transformer';
import { ropeTable } from '../kernels/rope/rope';
import type { TokenLoss } from '../objectives/types';
import {
  MANTISSA_BITS,
  type LossInputs,
  type PackedBatch,
  type PolicyEngine,
  type RolloutRequest,
  type RolloutResult,
  type ScoreResult,
  type UpdateOptions,
  type ValueNetwork,
} from './engine';
import { RecordStaging } from './recordStaging';
import { StateStaging } from './stateStaging';
import { createWebGpuValueNetwork } from './webgpuValue';

export interface WebGpuEngineOptions {
  /** Most rollout rows, and most packed positions in one update. */
  rolloutRows?: number;
  updatePositions?: number;
  /** How many iterations back the sampler may lag. */
  maxLag?: number;
  onProgress?: (done: number, total: number) => void;
  /** Decode rows whole or in parts; by default what suits the adapter. */
  decode?: 'whole' | 'parts';
}

/** Supervised update: cross-entropy over the targets, weighted. */
export interface SupervisedOptions extends Omit<UpdateOptions, 'hyper'> {
  /** dLoss/dlogp at every position that has a target. */
  coefficient: number;
}

/** The training engine: our WGSL kernels on one GPUDevice. Everything is made here, once; a step only replays lists. */
export interface WebGpuEngine extends PolicyEngine {
  readonly ctx: GpuContext;
  /** One supervised update (pretraining); `collect` returns its log-probs like any other. */
  supervisedUpdate(batch: PackedBatch, options: SupervisedOptions): void;
  /** Logits of the packed positions, [N, V]: for tests and the parity check with the ONNX graph. */
  logits(batch: PackedBatch): Promise<Float32Array>;
  /** Resolves when the GPU has done all that was submitted. */
  idle(): Promise<void>;
  /** Gradient of the last update before clipping, flat: for tests. */
  readGradient(): Promise<Float32Array>;
}

const MAX_LOSS_FLOATS = 8;
const MAX_LOSS_INTS = 4;
const REDUCE_THREADS = 256;

/** Compiles the kernels for one model size on `ctx` and allocates every buffer. Throws UserError when the device is too small for the limits. */
export async function createWebGpuEngine(ctx: GpuContext, config: ModelConfig, options: WebGpuEngineOptions = {}): Promise<WebGpuEngine> {
  const { rolloutRows = 512, updatePositions = 8192, maxLag = 8 } = options;
  const { device } = ctx;
  const queue = device.queue;
  const pipelines = await compileModel(ctx, config, options);
  const N = updatePositions;
  const splits = ctx.facts.software ? 4 : 16;
  if (N * 16 * config.C > ctx.device.limits.maxStorageBufferBindingSize) {
    throw new UserError(`This GPU binds at most ${ctx.device.limits.maxStorageBufferBindingSize} bytes at once, too few for ${N} positions.`, 'Choose a smaller batch.');
  }

  const table = ctx.buffer('ropeTable', config.T * (config.C / config.H) * 4);
  queue.writeBuffer(table, 0, ropeTable(config.T, config.C / config.H, config.ropeBase));
  const params = createParams(ctx, config, 'params');
  const flatSize = params.layout.flatSize;
  const sampler = createParams(ctx, config, 'samplerParams');
  const samplerSource = ctx.buffer('samplerSource', flatSize * 4);
  const history = Array.from({ length: maxLag + 1 }, (_, i) => ctx.buffer(`history${i}`, flatSize * 4));
  const shapeOptions = { capacity: N, splits, reduceThreads: REDUCE_THREADS };
  const transformer = buildTransformer(ctx, pipelines, config, params, table, shapeOptions);
  const optimiser = buildOptimiser(ctx, pipelines, params, transformer.grads, transformer.split, REDUCE_THREADS);
  const decoder = buildDecoder(ctx, pipelines, config, sampler, table, rolloutRows);
  const roundShape = uniform4(ctx, 'roundShape', [23]);
  const round: Dispatch[] = [
    {
      pipeline: pipelines.roundMantissa,
      bindGroup: ctx.bind(pipelines.roundMantissa, { dims: uniform4(ctx, 'roundDims', [flatSize]), shape: roundShape, source: samplerSource, result: sampler.buffer }),
      threads: () => flatSize,
    },
  ];

  const lossFloats = ctx.buffer('lossFloats', N * MAX_LOSS_FLOATS * 4);
  const lossInts = ctx.buffer('lossInts', N * MAX_LOSS_INTS * 4);
  const lossScratch = ctx.buffer('lossScratch', N * 16 * 4);
  const hyper = ctx.buffer('lossHyper', 64, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
  const rowStarts = ctx.buffer('rowStarts', (N + 1) * 4);
  const staging = new RecordStaging(ctx);
  const state = new StateStaging(ctx, [params.buffer, optimiser.moments.m, optimiser.moments.v, ...history], flatSize);
  const rolloutBytes = rolloutRows * config.T * 12;
  const rolloutRead = ctx.buffer('rolloutRead', rolloutBytes, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  const readback = ctx.buffer('readback', Math.max(N * 8, flatSize * 4, N * config.V * 4), GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);

  // Host-side scratch of one update, allocated once.
  const rowEnd = new Uint32Array(N);
  const floats = new Float32Array(N * MAX_LOSS_FLOATS);
  const ints = new Uint32Array(N * MAX_LOSS_INTS);
  const coefficients = new Float32Array(N * 4);

  const losses = new Map<string, { loss: TokenLoss; list: Dispatch[] }>();
  let active: { loss: TokenLoss; list: Dispatch[] } | undefined;
  let optimiserStep = 0;
  let iteration = 0;
  let temperature = 1;
  let valueNetwork: Promise<ValueNetwork> | undefined;

  const copyParams = (target: GPUBuffer) => {
    const encoder = device.createCommandEncoder({ label: 'copyParams' });
    encoder.copyBufferToBuffer(params.buffer, 0, target, 0, flatSize * 4);
    queue.submit([encoder.finish()]);
  };

  const upload = (batch: PackedBatch, t: number) => {
    const n = batch.positions;
    invariant(n <= N, `an update of ${n} positions is over the engine's ${N}`);
    if (t !== temperature) {
      queue.writeBuffer(transformer.logpShape, 0, Uint32Array.of(config.V, f32Bits(1 / t)));
      temperature = t;
    }
    for (let r = 0; r < batch.rows; r++) rowEnd.fill(batch.rowStart[r + 1], batch.rowStart[r], batch.rowStart[r + 1]);
    queue.writeBuffer(transformer.dims, 0, Uint32Array.of(n, batch.rows, 0, 0));
    queue.writeBuffer(transformer.inputs.tok, 0, batch.inputs, 0, n);
    queue.writeBuffer(transformer.inputs.pos, 0, batch.pos, 0, n);
    queue.writeBuffer(transformer.inputs.targets, 0, batch.targets, 0, n);
    queue.writeBuffer(transformer.inputs.rowEnd, 0, rowEnd, 0, n);
  };

  const runForward = (batch: PackedBatch, t: number) => {
    upload(batch, t);
    const encoder = device.createCommandEncoder({ label: 'forward' });
    const pass = encoder.beginComputePass({ label: 'forward' });
    encode(pass, transformer.forward, batch.positions);
    pass.end();
    return encoder;
  };

  const runUpdate = (batch: PackedBatch, lossList: Dispatch[], o: Omit<UpdateOptions, 'hyper'>) => {
    const n = batch.positions;
    optimiser.writeHyper({ lr: o.learningRate, beta1: o.beta1, beta2: o.beta2, eps: o.adamEps, decay: o.weightDecay, maxNorm: o.maxGradNorm, step: ++optimiserStep });
    const first = runForward(batch, o.temperature);
    const lossPass = first.beginComputePass({ label: 'loss' });
    encode(lossPass, lossList, batch.rows);
    lossPass.end();
    queue.submit([first.finish()]);
    const second = device.createCommandEncoder({ label: 'backward' });
    const pass = second.beginComputePass({ label: 'backward' });
    encode(pass, transformer.backward, n);
    encode(pass, optimiser.list, n);
    pass.end();
    staging.record(second, n, transformer.outputs.logp, transformer.outputs.entropy, transformer.coefficients, optimiser.norm);
    queue.submit([second.finish()]);
  };

  const read = async (encoder: GPUCommandEncoder, source: GPUBuffer, bytes: number): Promise<Float32Array> => {
    encoder.copyBufferToBuffer(source, 0, readback, 0, bytes);
    queue.submit([encoder.finish()]);
    await readback.mapAsync(1, 0, bytes);
    const data = new Float32Array(readback.getMappedRange(0, bytes).slice(0));
    readback.unmap();
    return data;
  };

  const engine: WebGpuEngine = {
    ctx,
    config,
    limits: { rolloutRows, updateRows: N, updatePositions: N, updatesPerIteration: 256 },
    loadParams(flat) {
      invariant(flat.length === flatSize, `${flat.length} parameters for a model of ${flatSize}`);
      queue.writeBuffer(params.buffer, 0, flat as Float32Array<ArrayBuffer>);
      for (const buffer of history) queue.writeBuffer(buffer, 0, flat as Float32Array<ArrayBuffer>);
      optimiser.reset();
      optimiserStep = 0;
      iteration = 0;
    },
    async readParams() {
      return read(device.createCommandEncoder({ label: 'readParams' }), params.buffer, flatSize * 4);
    },
    async setTokenLoss(loss) {
      let entry = losses.get(loss.id);
      if (!entry || entry.loss.wgsl !== loss.wgsl) {
        const sharing = lossSharingFor(ctx.facts);
        const pipeline: Pipeline = await ctx.pipeline(shaderOf(policyLossSpec(loss, sharing)));
        const buffers: Parameters<GpuContext['bind']>[1] = {
          dims: transformer.dims,
          newLogp: transformer.outputs.logp,
          lossFloats,
          lossInts,
          targets: transformer.inputs.targets,
          hyper,
          outputs: transformer.coefficients,
          scratch: lossScratch,
          rowStart: rowStarts,
        };
        const wanted = Object.fromEntries(pipeline.shader.bindings.map((b) => [b.name, buffers[b.name]]));
        entry = { loss, list: [{ pipeline, bindGroup: ctx.bind(pipeline, wanted), threads: (rows) => policyLossThreads(sharing, rows) }] };
        losses.set(loss.id, entry);
      }
      active = entry;
    },
    async rollout(request: RolloutRequest): Promise<RolloutResult> {
      const { rows, promptLength, maxNewTokens } = request;
      const S = promptLength + maxNewTokens;
      invariant(rows <= rolloutRows && S <= config.T && request.temperature > 0, `a rollout of ${rows} rows by ${S} positions at temperature ${request.temperature}`);
      invariant(request.lag <= maxLag, `a lag of ${request.lag} iterations`);
      const source = request.lag === 0 || iteration === 0 ? params.buffer : history[Math.max(0, iteration - request.lag) % history.length];
      const encoder = device.createCommandEncoder({ label: 'samplerParams' });
      encoder.copyBufferToBuffer(source, 0, samplerSource, 0, flatSize * 4);
      queue.writeBuffer(roundShape, 0, Uint32Array.of(MANTISSA_BITS[request.precision]));
      const pass = encoder.beginComputePass({ label: 'samplerParams' });
      encode(pass, round, flatSize);
      pass.end();
      queue.submit([encoder.finish()]);

      const tokens = new Uint32Array(rows * S);
      for (let r = 0; r < rows; r++) tokens.set(request.prompts.subarray(r * promptLength, (r + 1) * promptLength), r * S);
      queue.writeBuffer(decoder.tokens, 0, tokens);
      decoder.run(request);

      const tokenBytes = rows * S * 4;
      const pairBytes = rows * maxNewTokens * 8;
      const copy = device.createCommandEncoder({ label: 'rolloutRead' });
      copy.copyBufferToBuffer(decoder.tokens, 0, rolloutRead, 0, tokenBytes);
      copy.copyBufferToBuffer(decoder.logpEntropy, 0, rolloutRead, tokenBytes, pairBytes);
      queue.submit([copy.finish()]);
      await rolloutRead.mapAsync(1, 0, tokenBytes + pairBytes);
      const mapped = rolloutRead.getMappedRange(0, tokenBytes + pairBytes);
      tokens.set(new Uint32Array(mapped, 0, rows * S));
      const pairs = new Float32Array(mapped, tokenBytes, rows * maxNewTokens * 2);
      const logp = new Float32Array(rows * maxNewTokens);
      const entropy = new Float32Array(rows * maxNewTokens);
      for (let i = 0; i < logp.length; i++) {
        logp[i] = pairs[2 * i];
        entropy[i] = pairs[2 * i + 1];
      }
      rolloutRead.unmap();
      const lengths = new Uint32Array(rows);
      for (let r = 0; r < rows; r++) {
        const end = tokens.subarray(r * S + promptLength, (r + 1) * S).indexOf(request.eos);
        lengths[r] = end < 0 ? maxNewTokens : end + 1;
      }
      return { tokens, lengths, logp, entropy };
    },
    async score(batch, t): Promise<ScoreResult> {
      const n = batch.positions;
      const encoder = runForward(batch, t);
      encoder.copyBufferToBuffer(transformer.outputs.logp, 0, readback, 0, n * 4);
      encoder.copyBufferToBuffer(transformer.outputs.entropy, 0, readback, n * 4, n * 4);
      queue.submit([encoder.finish()]);
      await readback.mapAsync(1, 0, n * 8);
      const data = new Float32Array(readback.getMappedRange(0, n * 8).slice(0));
      readback.unmap();
      return { logp: data.subarray(0, n), entropy: data.subarray(n) };
    },
    update(batch: PackedBatch, inputs: LossInputs, o: UpdateOptions) {
      invariant(active, 'update before setTokenLoss');
      const n = batch.positions;
      for (let i = 0; i < n; i++) {
        const f = i * MAX_LOSS_FLOATS;
        floats[f] = inputs.oldLogp[i];
        floats[f + 1] = inputs.refLogp[i];
        floats[f + 2] = inputs.advantage[i];
        floats[f + 3] = inputs.weight[i];
        floats[f + 4] = inputs.entropyRatio[i];
        floats[f + 5] = inputs.entropy[i];
      }
      for (let r = 0; r < batch.rows; r++) {
        for (let i = batch.rowStart[r]; i < batch.rowStart[r + 1]; i++) {
          ints[i * MAX_LOSS_INTS] = inputs.segStart[i];
          ints[i * MAX_LOSS_INTS + 1] = inputs.segEnd[i];
          ints[i * MAX_LOSS_INTS + 2] = inputs.respStart[i];
          ints[i * MAX_LOSS_INTS + 3] = batch.rowStart[r + 1];
        }
      }
      const values = new Float32Array(16);
      for (const [name, slot] of Object.entries(active.loss.slots)) {
        const value = o.hyper[name];
        invariant(value !== undefined && Number.isFinite(value), `hyperparameter ${name} of ${active.loss.id} is ${value}`);
        values[slot] = value;
      }
      queue.writeBuffer(lossFloats, 0, floats, 0, n * MAX_LOSS_FLOATS);
      queue.writeBuffer(lossInts, 0, ints, 0, n * MAX_LOSS_INTS);
      queue.writeBuffer(hyper, 0, values);
      queue.writeBuffer(rowStarts, 0, batch.rowStart, 0, batch.rows + 1);
      runUpdate(batch, active.list, o);
    },
    supervisedUpdate(batch, o) {
      const n = batch.positions;
      for (let i = 0; i < n; i++) coefficients[4 * i] = batch.targets[i] < config.V ? o.coefficient : 0;
      queue.writeBuffer(transformer.coefficients, 0, coefficients, 0, n * 4);
      runUpdate(batch, [], o);
    },
    collect: () => staging.collect(),
    async saveState() {
      const [saved, m, v, ...past] = await state.read();
      return { params: saved, m, v, history: past, updates: optimiserStep, iteration };
    },
    loadState(saved) {
      invariant(saved.params.length === flatSize && saved.history.length === history.length, `a state of ${saved.params.length} parameters for a model of ${flatSize}`);
      const write = (buffer: GPUBuffer, data: ArrayLike<number>) => queue.writeBuffer(buffer, 0, Float32Array.from(data));
      write(params.buffer, saved.params);
      write(optimiser.moments.m, saved.m);
      write(optimiser.moments.v, saved.v);
      saved.history.forEach((data, i) => write(history[i], data));
      optimiserStep = saved.updates;
      iteration = saved.iteration;
    },
    openValueNetwork: () => (valueNetwork ??= createWebGpuValueNetwork(ctx, pipelines, config, table, shapeOptions)),
    endIteration() {
      iteration++;
      copyParams(history[iteration % history.length]);
    },
    async logits(batch) {
      return read(runForward(batch, 1), transformer.outputs.logits, batch.positions * config.V * 4);
    },
    async readGradient() {
      return read(device.createCommandEncoder({ label: 'readGradient' }), transformer.grads, flatSize * 4);
    },
    idle: () => queue.onSubmittedWorkDone(),
    destroy: () => ctx.destroy(),
  };
  return engine;
}
