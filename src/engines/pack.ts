import { NO_TARGET, type PackedBatch } from './engine';

/** Rows of tokens as a rollout or a worked example leaves them. */
export interface TokenRows {
  promptLength: number;
  /** Token ids, prompt included; [R][S]. */
  tokens: Uint32Array;
  /** S. */
  stride: number;
  /** Response tokens of each row, EOS included; [R]. */
  lengths: Uint32Array;
}

/**
 * Packs some rows end to end. Row r takes promptLength + length - 1 positions (the last token predicts nothing);
 * position p of a row predicts token p + 1, and only response tokens are targets.
 */
export function packRows(source: TokenRows, rows: ArrayLike<number>): PackedBatch {
  const { promptLength, tokens, stride, lengths } = source;
  const rowStart = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) rowStart[i + 1] = rowStart[i] + promptLength + lengths[rows[i]] - 1;
  const positions = rowStart[rows.length];
  const inputs = new Uint32Array(positions);
  const pos = new Uint32Array(positions);
  const targets = new Uint32Array(positions);
  for (let i = 0; i < rows.length; i++) {
    const base = rows[i] * stride;
    for (let p = 0, n = rowStart[i]; n < rowStart[i + 1]; p++, n++) {
      inputs[n] = tokens[base + p];
      pos[n] = p;
      targets[n] = p >= promptLength - 1 ? tokens[base + p + 1] : NO_TARGET;
    }
  }
  return { rows: rows.length, positions, inputs, pos, targets, rowStart };
}
