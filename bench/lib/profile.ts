import { UserError } from '../../src/core/errors';
import { createWebGpuEngine } from '../../src/engines/webgpu';
import { presetConfig } from '../../src/config/presets';
import { requestGpu, type GpuContext } from '../../src/gpu/device';
import { loadPolicy } from '../../src/model/manifest';
import { getTask } from '../../src/tasks';
import { Trainer } from '../../src/trainer/trainer';
import { traceGpu, type TimedDispatch } from './gpuTrace';
import { adapterName, openTrain } from './ours';
import type { KernelTime, ProfileResult } from './types';
import { modelOf } from './work';

// Dawn's instance must outlive its devices.
let instance: GPU | undefined;

/** A Dawn device whose timestamps are not rounded to 0.1 ms, as a browser's are. */
async function preciseGpu(): Promise<GpuContext> {
  const { create } = (await import('webgpu')) as unknown as { create(flags: string[]): GPU };
  instance ??= create(['disable-dawn-features=timestamp_quantization']);
  return requestGpu(instance);
}

/** Repetitions; of each dispatch the least is kept, since other work on the machine only ever adds. */
const REPEATS = 7;

/** Where the time of one GRPO iteration goes, kernel by kernel, and how many commands it takes. */
export async function profileIteration(model: 'main' | 'small', options: { modelsUrl: string; fetchFile: (url: string) => Promise<Response> }): Promise<ProfileResult> {
  const ctx = await preciseGpu();
  if (!ctx.facts.timestamps) throw new UserError('This adapter has no timestamps, so kernels cannot be timed.');
  const trace = traceGpu(ctx.device);
  const engine = await createWebGpuEngine(ctx, modelOf(model));
  const config = { ...presetConfig('grpo', model), evalEvery: 0 };
  const task = getTask(config.task);
  const { params } = await loadPolicy(options.modelsUrl, model, config.task, { fetchFile: options.fetchFile });
  engine.loadParams(params);
  const trainer = new Trainer(engine, task, config, { loadReference: () => Promise.reject(new Error('no reference')) });
  await trainer.prepare();
  await trainer.runStep();

  trace.resetCounts();
  const { report } = await trainer.runStep();
  const iteration = { ...trace.counts, updates: report.updates.length };

  // The engine's own calls are caught on their way, so that the profile is of a real batch.
  const { rollout, update } = engine;
  const wall: Record<'rollout' | 'update', number[]> = { rollout: [], update: [] };
  const kernels: Record<'rollout' | 'update', TimedDispatch[][]> = { rollout: [], update: [] };
  let positions = 0;
  let tokens = 0;
  let profiled = false;
  const plain = (): void => {
    engine.rollout = async (request) => {
      const started = performance.now();
      const result = await rollout(request);
      wall.rollout.push(performance.now() - started);
      tokens = result.lengths.reduce((a, n) => a + n, 0);
      return result;
    };
  };
  plain();
  for (let i = 0; i < REPEATS; i++) wall.update.push((await trainer.runStep()).report.ms.update / report.updates.length);
  const pending: Promise<unknown>[] = [];
  engine.rollout = async (request) => {
    trace.start();
    const result = await rollout(request);
    kernels.rollout.push(await trace.stop());
    return result;
  };
  engine.update = (batch, inputs, o) => {
    if (profiled) return update(batch, inputs, o);
    profiled = true;
    positions = batch.positions;
    trace.start();
    update(batch, inputs, o);
    pending.push(trace.stop().then((times) => kernels.update.push(times)));
  };
  for (let i = 0; i < REPEATS; i++) {
    profiled = false;
    await trainer.runStep();
    await Promise.all(pending);
  }
  const result: ProfileResult = {
    model,
    adapter: adapterName(ctx),
    update: { positions, wallMs: Math.min(...wall.update), kernels: byKernel(kernels.update) },
    rollout: { tokens, wallMs: Math.min(...wall.rollout), kernels: byKernel(kernels.rollout) },
    training: await profileTraining(),
    iteration,
  };
  engine.destroy();
  return result;
}

const TRAINING_ROWS = 16;

async function profileTraining(): Promise<ProfileResult['training']> {
  const ctx = await preciseGpu();
  const trace = traceGpu(ctx.device);
  const work = await openTrain(ctx, { kind: 'train', model: 'gpt', rows: TRAINING_ROWS });
  const wall: number[] = [];
  const runs: TimedDispatch[][] = [];
  for (let i = 0; i < REPEATS; i++) {
    wall.push((await work.run()).ms);
    trace.start();
    await work.run();
    runs.push(await trace.stop());
  }
  work.dispose();
  return { positions: TRAINING_ROWS * modelOf('gpt').T, wallMs: Math.min(...wall), kernels: byKernel(runs) };
}

/** Sums by kernel of the least time of each dispatch over all repetitions, which run the same list. */
export function byKernel(runs: readonly (readonly TimedDispatch[])[]): KernelTime[] {
  const sums = new Map<string, KernelTime>();
  runs[0]?.forEach(({ kernel }, i) => {
    const times = runs.map((run) => run[i]);
    if (times.some((t) => t?.kernel !== kernel)) throw new Error('two repetitions ran different dispatches');
    const entry = sums.get(kernel) ?? { kernel, dispatches: 0, ms: 0 };
    sums.set(kernel, { kernel, dispatches: entry.dispatches + 1, ms: entry.ms + Math.min(...times.map((t) => t.ms)) });
  });
  return [...sums.values()].sort((a, b) => b.ms - a.ms);
}
