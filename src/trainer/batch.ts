import { NO_TARGET } from '../engines/engine';
import type { LossInputs, PackedBatch } from '../engines/engine';
import type { TokenImportance } from './mismatch';

/** Rows of token ids, as a rollout holds them: [R][stride], prompt first. */
export interface TokenRows {
  tokens: Uint32Array;
  /** Response tokens of each row; [R]. */
  lengths: ArrayLike<number>;
  promptLength: number;
  maxNewTokens: number;
}

/**
 * Packs some rows end to end. Position p of a row holds its token p and predicts token p + 1, so a row takes
 * promptLength + length - 1 positions and the response's targets begin at position promptLength - 1.
 */
export function packRows(source: TokenRows, rows: readonly number[]): PackedBatch {
  const { tokens, lengths, promptLength, maxNewTokens } = source;
  const stride = promptLength + maxNewTokens;
  const rowStart = new Uint32Array(rows.length + 1);
  rows.forEach((r, i) => {
    rowStart[i + 1] = (rowStart[i] as number) + promptLength + (lengths[r] as number) - 1;
  });
  const positions = rowStart[rows.length] as number;
  const inputs = new Uint32Array(positions);
  const pos = new Uint32Array(positions);
  const targets = new Uint32Array(positions).fill(NO_TARGET);
  rows.forEach((r, i) => {
    const start = rowStart[i] as number;
    const count = (rowStart[i + 1] as number) - start;
    for (let p = 0; p < count; p++) {
      inputs[start + p] = tokens[r * stride + p] as number;
      pos[start + p] = p;
      if (p >= promptLength - 1) targets[start + p] = tokens[r * stride + p + 1] as number;
    }
  });
  return { rows: rows.length, positions, inputs, pos, targets, rowStart };
}

/** What the loss reads, by row, over its response tokens. */
export interface RowData {
  oldLogp: ArrayLike<number>;
  /** Null when no reference policy takes part. */
  refLogp: ArrayLike<number> | null;
  advantages: ArrayLike<number>;
  /** Subsentence of each token, rising from 0. */
  segments: ArrayLike<number>;
  entropy: ArrayLike<number>;
  /** Detached factors on the aggregation weight, over response tokens; 1 without. */
  importance?: TokenImportance;
}

/**
 * Spreads row data over packed positions. `weights` [rows] are the aggregation weights of each row's tokens, `meanEntropy` (nats) the
 * mean over the whole rollout batch; below 1e-6 the entropy ratio is 1 (algorithms.md section 8, point 4).
 */
export function packLossInputs(batch: PackedBatch, promptLength: number, rows: readonly RowData[], weights: ArrayLike<number>, meanEntropy: number): LossInputs {
  const N = batch.positions;
  const out: LossInputs = {
    oldLogp: new Float32Array(N), refLogp: new Float32Array(N), advantage: new Float32Array(N), weight: new Float32Array(N),
    entropyRatio: new Float32Array(N).fill(1), entropy: new Float32Array(N), segStart: new Uint32Array(N), segEnd: new Uint32Array(N), respStart: new Uint32Array(N),
  };
  rows.forEach((row, i) => {
    const start = (batch.rowStart[i] as number) + promptLength - 1;
    const length = row.oldLogp.length;
    let from = 0;
    for (let t = 0; t < length; t++) {
      const at = start + t;
      out.oldLogp[at] = row.oldLogp[t] as number;
      if (row.refLogp) out.refLogp[at] = row.refLogp[t] as number;
      out.advantage[at] = row.advantages[t] as number;
      out.weight[at] = (weights[i] as number) * (row.importance ? (row.importance.applied[t] as number) : 1);
      out.entropy[at] = row.entropy[t] as number;
      out.respStart[at] = start;
      // At a segment's last token its extent and mean entropy are known; write them back over the segment.
      if (t + 1 < length && row.segments[t + 1] === row.segments[t]) continue;
      let entropy = 0;
      for (let k = from; k <= t; k++) entropy += row.entropy[k] as number;
      const ratio = meanEntropy < 1e-6 ? 1 : entropy / (t + 1 - from) / meanEntropy;
      for (let k = from; k <= t; k++) {
        out.segStart[start + k] = start + from;
        out.segEnd[start + k] = start + t + 1;
        out.entropyRatio[start + k] = ratio;
      }
      from = t + 1;
    }
  });
  return out;
}

/** The response's part of an array over packed positions, for row i of the batch: a view. */
export function responseOf(batch: PackedBatch, promptLength: number, packed: Float32Array, i: number): Float32Array {
  return packed.subarray((batch.rowStart[i] as number) + promptLength - 1, batch.rowStart[i + 1] as number);
}

/**
 * Copies rows into one buffer of just their size and returns views on it. Rows that were cut from larger buffers would
 * otherwise take all of those along when they are posted or kept.
 */
export function compactRows(rows: readonly Float32Array[]): Float32Array[] {
  const all = new Float32Array(rows.reduce((n, row) => n + row.length, 0));
  let at = 0;
  return rows.map((row) => {
    all.set(row, at);
    at += row.length;
    return all.subarray(at - row.length, at);
  });
}
