import { rowWeights, type LossBatchTotals } from './aggregation';
import type { LossAggMode, ObjectiveBatch, TokenColumns } from './types';

/** A batch without its masked slots: n counted tokens end to end, row after row. */
export interface CompactBatch extends TokenColumns {
  rows: number;
  logp: Float64Array;
  oldLogp: Float64Array;
  /** Equal to `logp` (so that KL is 0) where none was given. */
  refLogp: Float64Array;
  hasRef: boolean;
  /** Share of the importance weight that was applied, weighted as the loss is (ObjectiveBatch.importance); 1 without any. */
  weightKept: number;
  advantage: Float64Array;
  weight: Float64Array;
  entropyRatio: Float64Array;
  /** Entropy of the old policy, nats; [n]; null when not given. */
  entropy: Float64Array | null;
  segStart: Uint32Array;
  segEnd: Uint32Array;
  seqStart: Uint32Array;
  seqEnd: Uint32Array;
  /** Row and column in [B][T] of each token; [n]. */
  rowOf: Uint32Array;
  columnOf: Uint32Array;
  /** Row r holds tokens rowStart[r] .. rowStart[r + 1]; [rows + 1]. */
  rowStart: Uint32Array;
}

/** Below this mean entropy (nats) the batch is all but deterministic, and entropy scaling is off. */
const LOWEST_MEAN_ENTROPY = 1e-6;

/** Copies the counted tokens of a batch into columns; masked slots are never read (except their mask). */
export function compactBatch(batch: ObjectiveBatch, mode: LossAggMode): CompactBatch {
  const rows = batch.mask.length;
  const rowStart = new Uint32Array(rows + 1);
  for (let r = 0; r < rows; r++) {
    const mask = batch.mask[r];
    let length = 0;
    for (let t = 0; t < mask.length; t++) if (mask[t]) length++;
    rowStart[r + 1] = rowStart[r] + length;
  }
  const n = rowStart[rows];
  const hasRef = batch.refLogp !== undefined;
  const c: CompactBatch = {
    count: n,
    rows,
    hasRef,
    weightKept: 1,
    logp: new Float64Array(n),
    oldLogp: new Float64Array(n),
    refLogp: new Float64Array(n),
    advantage: new Float64Array(n),
    weight: new Float64Array(n),
    entropyRatio: new Float64Array(n).fill(1),
    entropy: batch.entropy ? new Float64Array(n) : null,
    segStart: new Uint32Array(n),
    segEnd: new Uint32Array(n),
    seqStart: new Uint32Array(n),
    seqEnd: new Uint32Array(n),
    rowOf: new Uint32Array(n),
    columnOf: new Uint32Array(n),
    rowStart,
  };
  const weights = rowWeights(
    Uint32Array.from({ length: rows }, (_, r) => rowStart[r + 1] - rowStart[r]),
    mode,
    totalsOf(batch),
  );
  for (let r = 0; r < rows; r++) fillRow(c, batch, r, weights[r]);
  fillEntropyRatios(c, batch.meanEntropy);
  if (batch.importance) applyImportance(c, batch.importance);
  return c;
}

function applyImportance(c: CompactBatch, { applied, whole }: NonNullable<ObjectiveBatch['importance']>): void {
  let kept = 0;
  let all = 0;
  for (let i = 0; i < c.count; i++) {
    const [r, t] = [c.rowOf[i], c.columnOf[i]];
    kept += c.weight[i] * applied[r][t];
    all += c.weight[i] * whole[r][t];
    c.weight[i] *= applied[r][t];
  }
  c.weightKept = all > 0 ? kept / all : 1;
}

function totalsOf(batch: ObjectiveBatch): LossBatchTotals {
  return {
    ...(batch.maxTokens !== undefined && { maxTokens: batch.maxTokens }),
    ...(batch.totalTokens !== undefined && { totalTokens: batch.totalTokens }),
    ...(batch.totalSequences !== undefined && { totalSequences: batch.totalSequences }),
  };
}

function fillRow(c: CompactBatch, batch: ObjectiveBatch, r: number, weight: number): void {
  const mask = batch.mask[r];
  const first = c.rowStart[r];
  const end = c.rowStart[r + 1];
  const source = {
    logp: batch.newLogp[r],
    oldLogp: batch.oldLogp[r],
    refLogp: batch.refLogp?.[r] ?? batch.newLogp[r],
    advantage: batch.advantages[r],
    segments: batch.segments[r],
    entropy: batch.entropy?.[r],
  };
  let segmentStart = first;
  let at = first;
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    c.logp[at] = source.logp[t];
    c.oldLogp[at] = source.oldLogp[t];
    c.refLogp[at] = source.refLogp[t];
    c.advantage[at] = source.advantage[t];
    c.weight[at] = weight;
    if (c.entropy && source.entropy) c.entropy[at] = source.entropy[t];
    c.rowOf[at] = r;
    c.columnOf[at] = t;
    c.seqStart[at] = first;
    c.seqEnd[at] = end;
    if (at > first && source.segments[t] !== source.segments[c.columnOf[at - 1]]) {
      c.segEnd.fill(at, segmentStart, at);
      segmentStart = at;
    }
    c.segStart[at] = segmentStart;
    at++;
  }
  c.segEnd.fill(end, segmentStart, end);
}

/** H_k / mean H per token (algorithms.md section 8, item 4); 1 without entropy. */
function fillEntropyRatios(c: CompactBatch, meanEntropy: number | undefined): void {
  if (!c.entropy || c.count === 0) return;
  const overall = meanEntropy ?? c.entropy.reduce((sum, h) => sum + h, 0) / c.count;
  if (!(overall >= LOWEST_MEAN_ENTROPY)) return;
  for (let start = 0; start < c.count; ) {
    const end = c.segEnd[start];
    let sum = 0;
    for (let t = start; t < end; t++) sum += c.entropy[t];
    c.entropyRatio.fill(sum / (end - start) / overall, start, end);
    start = end;
  }
}

/** Puts a column back into [B][T], with `blank` at masked slots. */
export function scatter(c: CompactBatch, column: ArrayLike<number>, mask: ArrayLike<number>[], blank: number): Float64Array[] {
  const out = mask.map((row) => new Float64Array(row.length).fill(blank));
  // Adding 0 turns -0 into 0.
  for (let i = 0; i < c.count; i++) out[c.rowOf[i]][c.columnOf[i]] = column[i] + 0;
  return out;
}
