import { createWebGpuEngine } from '../../src/engines/webgpu';
import { presetConfig } from '../../src/config/presets';
import { GPU_USAGE, type GpuContext } from '../../src/gpu/device';
import { encode } from '../../src/gpu/program';
import { shaderOf } from '../../src/kernels/kernelSpec';
import { matmulConstants, matmulSpec, matmulThreads } from '../../src/kernels/matmul/matmul';
import { chooseMatmul } from '../../src/model/matmulChoice';
import { loadPolicy } from '../../src/model/manifest';
import { initialParams } from '../../src/model/parameters';
import { getTask } from '../../src/tasks';
import { Trainer } from '../../src/trainer/trainer';
import { ADAM, DECODE_KEY, firstTokens, matmulError, matrices, modelOf, PARAMS_SEED, repeatsOf, trainTokens } from './work';
import type { CellSpec, Subject, Work } from './types';

export interface OursOptions {
  requestGpu: () => Promise<GpuContext>;
  modelsUrl: string;
  fetchFile?: (url: string) => Promise<Response>;
}

export function adapterName({ facts }: GpuContext): string {
  // Vendor and architecture first: the description, where there is one, differs between a browser and Node on one adapter.
  const name = [facts.vendor, facts.architecture].filter(Boolean).join(' ') || facts.description || facts.device || 'unnamed adapter';
  return facts.software ? `${name} (software)` : name;
}

/** Our engine; the same code in the page and in Node. */
export async function ours(options: OursOptions): Promise<Subject> {
  const probe = await options.requestGpu();
  const adapter = adapterName(probe);
  probe.destroy();
  return {
    adapter,
    open: async (cell) => {
      const ctx = await options.requestGpu();
      if (cell.kind === 'matmul') return openMatmul(ctx, cell.n);
      if (cell.kind === 'train') return openTrain(ctx, cell);
      if (cell.kind === 'decode') return openDecode(ctx, cell);
      return openIteration(ctx, cell, options);
    },
  };
}

async function openMatmul(ctx: GpuContext, n: number): Promise<Work> {
  const { queue } = ctx.device;
  const { variant, pipeline: tried } = await chooseMatmul(ctx);
  const pipeline = tried ?? (await ctx.pipeline(shaderOf(matmulSpec('matmul', variant), matmulConstants(variant))));
  const [a, b] = matrices(n);
  const uniform = (label: string, values: number[]): GPUBuffer => {
    const buffer = ctx.buffer(label, 16, GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST);
    queue.writeBuffer(buffer, 0, Uint32Array.from(values));
    return buffer;
  };
  const bytes = n * n * 4;
  const [x, w, y] = ['x', 'w', 'y'].map((label) => ctx.buffer(label, bytes));
  queue.writeBuffer(x, 0, a);
  queue.writeBuffer(w, 0, b);
  const gain = ctx.buffer('gain', n * 4);
  queue.writeBuffer(gain, 0, new Float32Array(n).fill(1));
  const [extra, activated, rstd] = ['extra', 'activated', 'rstd'].map((label) => ctx.buffer(label, 16));
  const bindGroup = ctx.bind(pipeline, { dims: uniform('dims', [n, 0, 0, 0]), shape: uniform('shape', [n, n, 0, 0]), x, w, gain, extra, y, activated, rstd });
  const list = [{ pipeline, bindGroup, threads: (rows: number) => matmulThreads(variant, rows, n) }];
  const repeats = repeatsOf(n);
  const execute = async (times: number): Promise<number> => {
    const started = performance.now();
    const encoder = ctx.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let i = 0; i < times; i++) encode(pass, list, n);
    pass.end();
    queue.submit([encoder.finish()]);
    await queue.onSubmittedWorkDone();
    return (performance.now() - started) / times;
  };
  await execute(1);
  const read = ctx.buffer('read', bytes, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  const encoder = ctx.device.createCommandEncoder();
  encoder.copyBufferToBuffer(y, 0, read, 0, bytes);
  queue.submit([encoder.finish()]);
  await read.mapAsync(1);
  const value = matmulError(n, a, b, new Float32Array(read.getMappedRange()));
  read.unmap();
  return { proof: { kind: 'error', value }, run: async () => ({ ms: await execute(repeats) }), dispose: () => ctx.destroy() };
}

export async function openTrain(ctx: GpuContext, cell: Extract<CellSpec, { kind: 'train' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const positions = cell.rows * config.T;
  const engine = await createWebGpuEngine(ctx, config, { rolloutRows: 8, updatePositions: positions, maxLag: 0 });
  engine.loadParams(initialParams(config, PARAMS_SEED));
  const { inputs, targets } = trainTokens(config, cell.rows);
  const batch = {
    rows: cell.rows,
    positions,
    inputs: Uint32Array.from(inputs),
    targets: Uint32Array.from(targets),
    pos: Uint32Array.from(inputs, (_, i) => i % config.T),
    rowStart: Uint32Array.from({ length: cell.rows + 1 }, (_, r) => r * config.T),
  };
  const options = { coefficient: -1 / positions, learningRate: ADAM.lr, beta1: ADAM.beta1, beta2: ADAM.beta2, adamEps: ADAM.eps, weightDecay: ADAM.decay, maxGradNorm: ADAM.maxNorm, temperature: 1 };
  const step = async (): Promise<number> => {
    engine.supervisedUpdate(batch, options);
    const [record] = await engine.collect();
    return -record.newLogp.reduce((a, v) => a + v, 0) / positions;
  };
  const values = [await step(), await step()];
  const run = async () => {
    const started = performance.now();
    await step();
    return { ms: performance.now() - started };
  };
  return { proof: { kind: 'losses', values }, run, dispose: () => engine.destroy() };
}

async function openDecode(ctx: GpuContext, cell: Extract<CellSpec, { kind: 'decode' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const engine = await createWebGpuEngine(ctx, config, { rolloutRows: cell.rows, updatePositions: 64, maxLag: 0 });
  engine.loadParams(initialParams(config, PARAMS_SEED));
  const prompts = Uint32Array.from(firstTokens(config, cell.rows));
  const rollout = () =>
    engine.rollout({
      ...DECODE_KEY, prompts, rows: cell.rows, promptLength: 1, maxNewTokens: cell.tokens, temperature: 1, greedy: false, precision: 'f32', lag: 0,
      // No token has this id, so every row runs to the end.
      eos: 0xffff,
    });
  const { tokens } = await rollout();
  const S = cell.tokens + 1;
  const run = async () => {
    const started = performance.now();
    await rollout();
    return { ms: performance.now() - started, counts: { tokens: cell.rows * cell.tokens } };
  };
  return { proof: { kind: 'tokens', values: [...tokens].filter((_, i) => i % S !== 0) }, run, dispose: () => engine.destroy() };
}

async function openIteration(ctx: GpuContext, cell: Extract<CellSpec, { kind: 'iteration' }>, options: OursOptions): Promise<Work> {
  const engine = await createWebGpuEngine(ctx, modelOf(cell.model));
  const config = { ...presetConfig('grpo', cell.model), evalEvery: 0 };
  const task = getTask(config.task);
  const { params } = await loadPolicy(options.modelsUrl, cell.model, config.task, options.fetchFile ? { fetchFile: options.fetchFile } : {});
  engine.loadParams(params);
  const trainer = new Trainer(engine, task, config, { loadReference: () => Promise.reject(new Error('the benchmark uses no reference policy')) });
  await trainer.prepare();
  await trainer.runStep();
  const run = async () => {
    const { report } = await trainer.runStep();
    const { total, ...phases } = report.ms;
    const meanRow = task.promptLength + report.meanLength - 1;
    const rows = config.prompts * config.groupSize;
    const { meanLength } = report;
    const parts = { ...phases, rest: total - Object.values(phases).reduce((a, v) => a + v, 0) };
    return { ms: total, phases: parts, counts: { rows, tokens: rows * meanLength, meanRow, positions: rows * meanRow, epochs: config.epochs, updates: report.updates.length } };
  };
  return { proof: { kind: 'none', why: 'no other library does this' }, run, dispose: () => engine.destroy() };
}
