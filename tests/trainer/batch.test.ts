import { describe, expect, it } from 'vitest';
import { NO_TARGET } from '../../src/engines/engine';
import { compactBatch, rowWeights } from '../../src/objectives';
import { packLossInputs, packRows, responseOf } from '../../src/trainer/batch';
import type { RowData } from '../../src/trainer/batch';

// Two rows of prompt length 2 and budget 4: responses 5 6 7 and 8.
const source = { tokens: Uint32Array.from([1, 2, 5, 6, 7, 0, 3, 4, 8, 0, 0, 0]), lengths: [3, 1], promptLength: 2, maxNewTokens: 4 };
const rows: RowData[] = [
  { oldLogp: [-1, -2, -3], refLogp: [-1.5, -2.5, -3.5], advantages: [0.5, 0.25, -1], segments: [0, 0, 1], entropy: [0.2, 0.4, 0.9] },
  { oldLogp: [-4], refLogp: [-4.5], advantages: [-2], segments: [0], entropy: [0.1] },
];

describe('packRows', () => {
  it('puts rows end to end, each position predicting the next token of its row', () => {
    const packed = packRows(source, [0, 1]);
    expect(packed).toEqual({
      rows: 2, positions: 6,
      inputs: Uint32Array.from([1, 2, 5, 6, 3, 4]),
      pos: Uint32Array.from([0, 1, 2, 3, 0, 1]),
      targets: Uint32Array.from([NO_TARGET, 5, 6, 7, NO_TARGET, 8]),
      rowStart: Uint32Array.from([0, 4, 6]),
    });
  });

  it('takes rows in the order asked for', () => {
    const packed = packRows(source, [1, 0]);
    expect([...packed.targets]).toEqual([NO_TARGET, 8, NO_TARGET, 5, 6, 7]);
    expect(responseOf(packed, 2, Float32Array.from([9, 10, 11, 12, 13, 14]), 1)).toEqual(Float32Array.from([12, 13, 14]));
  });
});

describe('packLossInputs', () => {
  it('spreads row data over the positions that have a target', () => {
    const packed = packRows(source, [0, 1]);
    const meanEntropy = 0.4;
    const inputs = packLossInputs(packed, 2, rows, rowWeights([3, 1], 'seq-mean-token-mean'), meanEntropy);
    const at = [1, 2, 3, 5];
    const pick = (x: ArrayLike<number>) => at.map((p) => x[p]);
    expect(pick(inputs.oldLogp)).toEqual([-1, -2, -3, -4]);
    expect(pick(inputs.refLogp)).toEqual([-1.5, -2.5, -3.5, -4.5]);
    expect(pick(inputs.advantage)).toEqual([0.5, 0.25, -1, -2]);
    expect(pick(inputs.weight)).toEqual([1 / 6, 1 / 6, 1 / 6, 1 / 2].map(Math.fround));
    expect(pick(inputs.segStart)).toEqual([1, 1, 3, 5]);
    expect(pick(inputs.segEnd)).toEqual([3, 3, 4, 6]);
    expect(pick(inputs.respStart)).toEqual([1, 1, 1, 5]);
    expect(pick(inputs.entropyRatio)).toEqual([0.3 / 0.4, 0.3 / 0.4, 0.9 / 0.4, 0.1 / 0.4].map(Math.fround).map((x) => expect.closeTo(x, 6)));
  });

  it('agrees with the objectives’ own columns of the same batch', () => {
    const packed = packRows(source, [0, 1]);
    const inputs = packLossInputs(packed, 2, rows, rowWeights([3, 1], 'token-mean'), 0.4);
    const columns = compactBatch(
      {
        oldLogp: rows.map((r) => r.oldLogp), newLogp: rows.map((r) => r.oldLogp), mask: [[1, 1, 1], [1]],
        segments: rows.map((r) => r.segments), entropy: rows.map((r) => r.entropy),
        advantages: rows.map((r) => r.advantages), meanEntropy: 0.4,
      },
      'token-mean',
    );
    const at = [1, 2, 3, 5];
    at.forEach((p, k) => {
      expect(inputs.entropyRatio[p]).toBeCloseTo(columns.entropyRatio[k], 6);
      expect(inputs.weight[p]).toBeCloseTo(columns.weight[k], 7);
      expect(inputs.segEnd[p] - inputs.segStart[p]).toBe(columns.segEnd[k] - columns.segStart[k]);
      expect(packed.rowStart[k < 3 ? 1 : 2] - inputs.respStart[p]).toBe(columns.seqEnd[k] - columns.seqStart[k]);
    });
  });

  it('turns entropy scaling off when the whole batch is certain', () => {
    const packed = packRows(source, [0, 1]);
    const inputs = packLossInputs(packed, 2, rows, [1, 1], 1e-7);
    expect([...inputs.entropyRatio]).toEqual([1, 1, 1, 1, 1, 1]);
  });
});
