import type { PackedBatch } from './engine';

/** A packed batch as rows of one length, the form that a graph with inputs [B, T] takes. */
export interface PaddedBatch {
  rows: number;
  /** Positions per row: the longest row, rounded up. */
  length: number;
  /** Token ids, zeros on the right; [rows][length]. */
  tokens: Int32Array;
  /** Row of the padded batch, seen as [rows * length], in which each packed position lies; [N]. */
  source: Uint32Array;
}

/** Rows lengths are rounded up to this many tokens, so that a run meets few different shapes. */
const LENGTH_STEP = 8;

/**
 * Pads on the right, which a causal model never sees. `maxLength`: the model's context.
 * @throws Error when a row is longer than `maxLength`.
 */
export function padBatch(batch: PackedBatch, maxLength: number): PaddedBatch {
  let longest = 0;
  for (let r = 0; r < batch.rows; r++) longest = Math.max(longest, (batch.rowStart[r + 1] as number) - (batch.rowStart[r] as number));
  if (longest > maxLength) throw new Error(`a row of ${longest} tokens is longer than the context of ${maxLength}`);
  const length = Math.min(maxLength, Math.ceil(Math.max(1, longest) / LENGTH_STEP) * LENGTH_STEP);
  const tokens = new Int32Array(batch.rows * length);
  const source = new Uint32Array(batch.positions);
  for (let r = 0; r < batch.rows; r++) {
    const start = batch.rowStart[r] as number;
    const end = batch.rowStart[r + 1] as number;
    for (let n = start; n < end; n++) {
      source[n] = r * length + n - start;
      tokens[r * length + n - start] = batch.inputs[n] as number;
    }
  }
  return { rows: batch.rows, length, tokens, source };
}
