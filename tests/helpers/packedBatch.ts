import type { Rng } from '../../src/core/rng';
import { NO_TARGET, type PackedBatch } from '../../src/engines/engine';

/** Packs rows of token ids the way a trainer does: the first `promptLength` - 1 positions predict nothing that counts. */
export function packRows(rows: readonly (readonly number[])[], promptLength: number): PackedBatch {
  const inputs: number[] = [];
  const pos: number[] = [];
  const targets: number[] = [];
  const rowStart = [0];
  for (const row of rows) {
    for (let t = 0; t + 1 < row.length; t++) {
      inputs.push(row[t] as number);
      pos.push(t);
      targets.push(t + 1 < promptLength ? NO_TARGET : (row[t + 1] as number));
    }
    rowStart.push(inputs.length);
  }
  const u32 = (values: number[]) => Uint32Array.from(values);
  return { rows: rows.length, positions: inputs.length, inputs: u32(inputs), pos: u32(pos), targets: u32(targets), rowStart: u32(rowStart) };
}

/** `count` random rows of `shortest` to `longest` tokens, prompt included. */
export function randomRows(rng: Rng, count: number, shortest: number, longest: number, V: number): number[][] {
  return Array.from({ length: count }, () => Array.from({ length: rng.int(shortest, longest) }, () => rng.int(0, V - 1)));
}
