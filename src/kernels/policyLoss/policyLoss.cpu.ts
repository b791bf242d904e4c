import type { Hyperparameters, TokenColumns, TokenLossReference } from '../../objectives/types';

/** The kernel's inputs by position; [N] but for rowStart [rows + 1]. Names as in policyLoss.wgsl. */
export interface PolicyLossInputs {
  newLogp: ArrayLike<number>;
  /** At 0xffffffff there is nothing to predict; the other inputs are not read there. */
  targets: Uint32Array;
  rowStart: ArrayLike<number>;
  oldLogp: ArrayLike<number>;
  refLogp: ArrayLike<number>;
  advantage: ArrayLike<number>;
  weight: ArrayLike<number>;
  entropyRatio: ArrayLike<number>;
  entropy: ArrayLike<number>;
  segStart: ArrayLike<number>;
  segEnd: ArrayLike<number>;
  respStart: ArrayLike<number>;
}

const NO_TARGET = 0xffffffff;

/**
 * The f64 twin of policyLoss.wgsl: [N, 4] = (coefficient, weight * loss, log ratio, clipped), zeros where there is no target.
 * `reference` is the objective's own interpreter; this twin only knows the packed layout.
 */
export function policyLossCpu(reference: TokenLossReference, inputs: PolicyLossInputs, hyper: Hyperparameters): Float64Array {
  const N = inputs.targets.length;
  const positions: number[] = [];
  const tokenAt = new Uint32Array(N + 1);
  for (let p = 0; p < N; p++) {
    tokenAt[p] = positions.length;
    if (inputs.targets[p] !== NO_TARGET) positions.push(p);
  }
  tokenAt[N] = positions.length;
  const pick = (column: ArrayLike<number>) => Float64Array.from(positions, (p) => column[p]);
  const bounds = (column: ArrayLike<number>) => Uint32Array.from(positions, (p) => tokenAt[column[p]]);
  const rowEnd = new Uint32Array(N);
  for (let r = 0; r + 1 < inputs.rowStart.length; r++) rowEnd.fill(inputs.rowStart[r + 1], inputs.rowStart[r], inputs.rowStart[r + 1]);
  const columns: TokenColumns = {
    count: positions.length,
    logp: pick(inputs.newLogp),
    oldLogp: pick(inputs.oldLogp),
    refLogp: pick(inputs.refLogp),
    advantage: pick(inputs.advantage),
    weight: pick(inputs.weight),
    entropyRatio: pick(inputs.entropyRatio),
    entropy: pick(inputs.entropy),
    segStart: bounds(inputs.segStart),
    segEnd: bounds(inputs.segEnd),
    seqStart: bounds(inputs.respStart),
    seqEnd: bounds(rowEnd),
  };
  const result = reference(columns, hyper);
  const out = new Float64Array(N * 4);
  positions.forEach((p, i) => out.set([result.coefficient[i], result.loss[i], result.logRatio[i], result.clipped[i]], p * 4));
  return out;
}
