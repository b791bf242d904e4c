import { registerFrom } from '../config/custom';
import type { RunConfig } from '../config/runConfig';
import { shaderOf } from '../kernels/kernelSpec';
import { policyLossSpec } from '../kernels/policyLoss/policyLoss';
import { policyLossCpu, type PolicyLossInputs } from '../kernels/policyLoss/policyLoss.cpu';
import { compactBatch, compileTokenLoss, getObjective, resolveHyperparameters, tokenLossReference } from '../objectives';
import { checkBatch } from '../objectives/custom';
import type { Hyperparameters, TokenLoss } from '../objectives/types';

/** Runs a token loss once on a device; [N, 4] as policyLoss.wgsl writes it. */
export type RunTokenLoss = (loss: TokenLoss, inputs: PolicyLossInputs, hyper: Hyperparameters) => Promise<Float32Array>;

/** The kernel of an objective, and how it compares with the f64 reference. */
export interface LossInspection {
  /** The whole shader as it is compiled for training. */
  wgsl: string;
  /** Null where there is no WebGPU device to run it on. */
  gpu: { ok: boolean; tokens: number; /** Largest difference of a coefficient over the largest coefficient. */ maxError: number } | null;
}

/** f32 keeps about 3e-6 through the built-in objectives; a typed one may cancel more, a wrong shader is off by about 1. */
const TOLERANCE = 1e-4;

/** The same with its failure in words; it never rejects. */
export async function tryInspectLoss(...args: Parameters<typeof inspectLoss>): Promise<{ inspection: LossInspection | null; problem: string }> {
  try {
    return { inspection: await inspectLoss(...args), problem: '' };
  } catch (error) {
    return { inspection: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The shader of an objective, run on a small seeded batch and compared with f64 where there is a device.
 * Throws UserError on an unknown objective; whatever the device throws passes through.
 */
export async function inspectLoss(config: Pick<RunConfig, 'objective' | 'customObjective'>, run: RunTokenLoss | null): Promise<LossInspection> {
  const objective = getObjective(registerFrom(config) ?? config.objective);
  const loss = compileTokenLoss(objective);
  const wgsl = shaderOf(policyLossSpec(loss, 'rows')).code;
  if (!run) return { wgsl, gpu: null };
  const c = compactBatch(checkBatch(), objective.lossAggMode);
  const f32 = (column: Float64Array) => column.map(Math.fround);
  const inputs: PolicyLossInputs = {
    newLogp: f32(c.logp), oldLogp: f32(c.oldLogp), refLogp: f32(c.refLogp), advantage: f32(c.advantage), weight: f32(c.weight), entropyRatio: f32(c.entropyRatio), entropy: f32(c.entropy ?? new Float64Array(c.count)),
    targets: new Uint32Array(c.count), rowStart: c.rowStart, segStart: c.segStart, segEnd: c.segEnd, respStart: c.seqStart,
  };
  const hyper = Object.fromEntries(Object.entries(resolveHyperparameters(objective)).map(([name, value]) => [name, Math.fround(value)]));
  const got = await run(loss, inputs, hyper);
  const want = policyLossCpu(tokenLossReference(objective), inputs, hyper);
  let [maxError, scale] = [0, 1e-12];
  for (let t = 0; t < c.count; t++) {
    scale = Math.max(scale, Math.abs(want[t * 4]));
    const error = Math.abs(got[t * 4] - want[t * 4]);
    maxError = Number.isNaN(error) ? Infinity : Math.max(maxError, error);
  }
  return { wgsl, gpu: { ok: maxError / scale <= TOLERANCE, tokens: c.count, maxError: maxError / scale } };
}
