import { Rng } from '../../src/core/rng';
import type { Objective, ObjectiveBatch } from '../../src/objectives';
import type { PolicyLossInputs } from '../../src/kernels/policyLoss/policyLoss.cpu';

export interface LossBatchOptions {
  seed: number;
  /** Response lengths, tokens. */
  lengths: readonly number[];
  /** Greatest |log ratio| of a token, nats. */
  spread: number;
  /** 'one': one segment a row; 'each': a segment a token; else random cuts. */
  segments: 'one' | 'each' | 'random';
  /** Advantages of the rows, in turn. */
  advantages: readonly number[];
}

/** A random batch, padded with NaN and Infinity. Log ratios are drawn so that few lie near a band's edge. */
export function randomBatch(options: LossBatchOptions): ObjectiveBatch {
  const { seed, lengths, spread, segments, advantages } = options;
  const rng = new Rng(seed, 77);
  const T = Math.max(...lengths) + 2;
  const row = (length: number, draw: (t: number) => number) =>
    Float64Array.from({ length: T }, (_, t) => (t < length ? draw(t) : t % 2 ? NaN : Infinity));
  const oldLogp = lengths.map((n) => row(n, () => -0.05 - 3 * rng.uniform()));
  const newLogp = lengths.map((n, i) => row(n, (t) => Math.min(-1e-3, oldLogp[i][t] + spread * (2 * rng.uniform() - 1))));
  let id = 0;
  return {
    oldLogp,
    newLogp,
    refLogp: lengths.map((n, i) => row(n, (t) => newLogp[i][t] + rng.normal() * 0.3)),
    mask: lengths.map((n) => Uint8Array.from({ length: T }, (_, t) => (t < n ? 1 : 0))),
    segments: lengths.map((n) => {
      id = 0;
      return row(n, (t) => (t === 0 || segments === 'one' ? id : segments === 'each' || rng.uniform() < 0.3 ? ++id : id));
    }),
    entropy: lengths.map((n) => row(n, () => 2 * rng.uniform())),
    advantages: lengths.map((n, i) => row(n, () => advantages[i % advantages.length])),
    maxTokens: Math.max(...lengths),
  };
}

/** Of some hyperparameters, those that an objective has. */
export function known(objective: Objective, given: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => objective.hyperparameters.some((h) => h.name === name)));
}

/** True when the objective's clip can act on a batch whose advantages differ in sign. */
export const hasClip = (objective: Objective): boolean => objective.clipEffect !== 'none';

/** A copy whose numbers are what f32 holds, so that the GPU and the f64 twin start from the same values. */
export function asF32(batch: ObjectiveBatch): ObjectiveBatch {
  const f32 = (rows: ArrayLike<number>[]) => rows.map((r) => Float64Array.from(r, Math.fround));
  return {
    ...batch,
    oldLogp: f32(batch.oldLogp),
    newLogp: f32(batch.newLogp),
    advantages: f32(batch.advantages),
    ...(batch.refLogp && { refLogp: f32(batch.refLogp) }),
    ...(batch.entropy && { entropy: f32(batch.entropy) }),
  };
}

/** Columns of a batch as the engine packs them: `prompt` positions without a target stand before each response. */
export function packColumns(c: import('../../src/objectives').CompactBatch, prompt: number): PolicyLossInputs {
  const N = c.count + prompt * c.rows;
  const at = (token: number) => token + prompt * (c.rowOf[token] + 1);
  const place = (column: ArrayLike<number>) => {
    const out = new Float32Array(N);
    for (let i = 0; i < c.count; i++) out[at(i)] = column[i];
    return out;
  };
  const bounds = (column: ArrayLike<number>, end: boolean) => {
    const out = new Uint32Array(N);
    for (let i = 0; i < c.count; i++) out[at(i)] = end ? at(column[i] - 1) + 1 : at(column[i]);
    return out;
  };
  const targets = new Uint32Array(N).fill(0xffffffff);
  for (let i = 0; i < c.count; i++) targets[at(i)] = 1;
  return {
    newLogp: place(c.logp),
    oldLogp: place(c.oldLogp),
    refLogp: place(c.refLogp),
    advantage: place(c.advantage),
    weight: place(c.weight),
    entropyRatio: place(c.entropyRatio),
    entropy: place(c.entropy ?? new Float64Array(c.count)),
    targets,
    rowStart: Uint32Array.from(c.rowStart, (first, r) => first + prompt * r),
    segStart: bounds(c.segStart, false),
    segEnd: bounds(c.segEnd, true),
    respStart: bounds(c.seqStart, false),
  };
}
