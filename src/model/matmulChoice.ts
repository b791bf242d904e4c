import { GPU_USAGE, type GpuContext, type Pipeline } from '../gpu/device';
import { encode, type Dispatch } from '../gpu/program';
import { shaderOf } from '../kernels/kernelSpec';
import { MATMUL_VARIANTS, matmulConstants, matmulSpec, matmulThreads, type MatmulVariant } from '../kernels/matmul/matmul';
import { matmulForwardCpu } from '../kernels/matmul/matmul.cpu';
import { readChoice, rememberChoice } from './choiceMemory';
import { uniform4 } from './parameters';

/** The product that variants are tried on: a batch's worth of rows through a layer of the larger models. */
const [M, K, O] = [1024, 64, 192];
/** The last ones: where work is left out, they lack it. */
const ROWS_CHECKED = 33;
/** No further variant is tried once this much time has gone, ms. */
const BUDGET_MS = 300;
const REPEATS = 8;

/** What one variant made of the trial product. */
export interface Trial {
  id: string;
  /** Per product, ms; infinite where the numbers were wrong. */
  ms: number;
  pipeline: Pipeline;
}

export interface MatmulChoice {
  variant: MatmulVariant;
  /** The product's pipeline, where trying has compiled it already. */
  pipeline?: Pipeline;
}

/** Which variants can run at all, best guess first: large pieces where a CPU computes, many small ones on a GPU. */
export function matmulCandidates(facts: { software: boolean; subgroups: boolean }): MatmulVariant[] {
  const able = MATMUL_VARIANTS.filter((v) => facts.subgroups || !v.quads);
  return facts.software ? able.filter((v) => v.forSoftware) : [...able].sort((a, b) => Number(a.forSoftware) - Number(b.forSoftware));
}

/**
 * The variant of the products for this adapter. On a GPU the candidates are timed, once for each adapter and state of the
 * shaders; on a software adapter, where compiling costs more than the choice is worth, the first that computes rightly is
 * taken. A variant that computes wrongly (lanes numbered in another way than quads need) is never taken.
 */
export async function chooseMatmul(ctx: GpuContext): Promise<MatmulChoice> {
  const candidates = matmulCandidates(ctx.facts);
  const { vendor, architecture, device, description } = ctx.facts;
  const key = ['matmul', vendor, architecture, device, description, fingerprint(candidates)].join('/');
  const known = await readChoice(key);
  const remembered = candidates.find((v) => v.id === known);
  if (remembered) return { variant: remembered };
  const trials = await tryMatmuls(ctx, candidates, ctx.facts.software);
  const best = trials.reduce((a, b) => (b.ms < a.ms ? b : a));
  if (!Number.isFinite(best.ms)) throw new Error(`no product kernel computes rightly on this adapter (${trials.map((t) => t.id).join(', ')})`);
  rememberChoice(key, best.id);
  return { variant: candidates.find((v) => v.id === best.id) as MatmulVariant, pipeline: best.pipeline };
}

/** Times the variants in order, each checked against f64 first, until the budget is spent; `firstRight`: stops at the first that is right. */
export async function tryMatmuls(ctx: GpuContext, variants: readonly MatmulVariant[], firstRight: boolean): Promise<Trial[]> {
  const { queue } = ctx.device;
  const x = Float32Array.from({ length: M * K }, (_, i) => Math.sin(i * 0.7));
  const w = Float32Array.from({ length: K * O }, (_, i) => Math.cos(i * 1.3) / 8);
  const want = matmulForwardCpu(x.subarray((M - ROWS_CHECKED) * K), w, K, O);
  const made: GPUBuffer[] = [];
  const buffer = (label: string, floats: number, usage?: number): GPUBuffer => {
    const b = ctx.buffer(`trial.${label}`, floats * 4, usage);
    made.push(b);
    return b;
  };
  const filled = (label: string, data: Float32Array<ArrayBuffer>): GPUBuffer => {
    const b = buffer(label, data.length);
    queue.writeBuffer(b, 0, data);
    return b;
  };
  const y = buffer('y', M * O);
  const checkedAt = (M - ROWS_CHECKED) * O * 4;
  const staging = buffer('read', ROWS_CHECKED * O, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  const dims = uniform4(ctx, 'trial.dims', [M]);
  const shape = uniform4(ctx, 'trial.shape', [K, O]);
  const shared = { dims, shape, x: filled('x', x), w: filled('w', w), gain: filled('gain', new Float32Array(K).fill(1)), extra: buffer('extra', 4), y, activated: buffer('activated', 4), rstd: buffer('rstd', 4) };
  const trials: Trial[] = [];
  const started = performance.now();
  for (const variant of variants) {
    if (trials.some((t) => Number.isFinite(t.ms)) && (firstRight || performance.now() - started > BUDGET_MS)) break;
    const pipeline = await ctx.pipeline(shaderOf(matmulSpec('matmul', variant), matmulConstants(variant)));
    const list: Dispatch[] = [{ pipeline, bindGroup: ctx.bind(pipeline, shared), threads: (rows) => matmulThreads(variant, rows, O) }];
    const submit = (times: number, copy: boolean) => {
      const encoder = ctx.device.createCommandEncoder({ label: 'trial' });
      const pass = encoder.beginComputePass({ label: 'trial' });
      for (let i = 0; i < times; i++) encode(pass, list, M);
      pass.end();
      if (copy) encoder.copyBufferToBuffer(y, checkedAt, staging, 0, ROWS_CHECKED * O * 4);
      queue.submit([encoder.finish()]);
    };
    queue.writeBuffer(y, checkedAt, new Float32Array(ROWS_CHECKED * O));
    submit(1, true);
    await staging.mapAsync(1);
    const got = new Float32Array(staging.getMappedRange());
    const right = want.every((v, i) => Math.abs(v - got[i]) <= 1e-4);
    staging.unmap();
    let ms = Infinity;
    if (right && firstRight) ms = 0;
    else if (right) {
      const before = performance.now();
      submit(REPEATS, false);
      await queue.onSubmittedWorkDone();
      ms = (performance.now() - before) / REPEATS;
    }
    trials.push({ id: variant.id, ms, pipeline });
  }
  ctx.release([...made, dims, shape]);
  return trials;
}

/** Changes with the shaders, so that a new build measures anew. */
function fingerprint(variants: readonly MatmulVariant[]): string {
  let hash = 2166136261;
  for (const variant of variants) {
    const { code } = shaderOf(matmulSpec('matmul', variant), matmulConstants(variant));
    for (let i = 0; i < code.length; i++) hash = Math.imul(hash ^ code.charCodeAt(i), 16777619);
  }
  return (hash >>> 0).toString(16);
}
