import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { Rng } from '../../src/core/rng';
import { NO_TARGET, type PackedBatch, type ReferencePolicy } from '../../src/engines/engine';
import { createOrtReference, providerFor } from '../../src/engines/ortReference';
import { exclusive } from '../../src/engines/ortSession';
import { padBatch } from '../../src/engines/padBatch';
import { MODEL_CONFIGS } from '../../src/model/config';
import { policyToOnnx } from '../../src/model/onnxGraph';
import { packRows, randomRows } from '../helpers/packedBatch';
import { logSoftmaxAt, randomParams, referenceForward } from '../helpers/referenceForward';

const config = MODEL_CONFIGS.small;
const rng = new Rng(41);
const params = randomParams(config, () => rng.normal());
const modelBytes = policyToOnnx(config, params, { model: 'small', task: 'columnAddition', seed: 1 });
const PROMPT = 8;

/** Log-probs straight from the f64 forward pass, row by row. */
function expected(batch: PackedBatch, temperature: number): number[] {
  const out: number[] = [];
  for (let r = 0; r < batch.rows; r++) {
    const [start, end] = [batch.rowStart[r]!, batch.rowStart[r + 1]!];
    const logits = referenceForward(config, params, batch.inputs.subarray(start, end));
    for (let n = start; n < end; n++) out.push(batch.targets[n] === NO_TARGET ? 0 : logSoftmaxAt(logits[n - start]!, batch.targets[n]!, temperature));
  }
  return out;
}

function expectClose(got: Float32Array, want: number[], tolerance: number): void {
  expect(got).toHaveLength(want.length);
  want.forEach((value, n) => {
    if (!(Math.abs(got[n]! - value) <= tolerance)) throw new Error(`position ${n}: ${got[n]} against ${value}`);
  });
}

describe('padding a packed batch', () => {
  it('puts every position where its source says, zeros on the right', () => {
    const batch = packRows(randomRows(new Rng(1), 9, 10, 31, 32), PROMPT);
    const { rows, length, tokens, source } = padBatch(batch, 64);
    expect(rows).toBe(9);
    expect(length % 8).toBe(0);
    expect(new Set(source).size).toBe(batch.positions);
    source.forEach((at, n) => {
      expect(tokens[at]).toBe(batch.inputs[n]);
      expect(at % length).toBe(batch.pos[n]);
    });
    const used = new Set(source);
    tokens.forEach((token, at) => used.has(at) || expect(token).toBe(0));
  });

  it('stays within the context and refuses a longer row', () => {
    const full = packRows(randomRows(new Rng(2), 1, 64, 64, 32), PROMPT);
    expect(padBatch(full, 64).length).toBe(64);
    expect(padBatch(packRows(randomRows(new Rng(2), 1, 62, 62, 32), PROMPT), 61).length).toBe(61);
    expect(() => padBatch(full, 60)).toThrow(/63 tokens/);
  });
});

describe('the reference policy in onnxruntime-web (WASM)', () => {
  let reference: ReferencePolicy;
  beforeAll(async () => {
    reference = await createOrtReference({ modelBytes, config, provider: 'wasm' });
  });
  afterAll(() => reference.destroy());

  it('says what it is', () => {
    expect(reference.description).toBe('onnxruntime-web, WASM provider');
  });

  it.each([1, 0.7, 1.3])('gives the log-probs of the f64 reference at temperature %d, rows of any length', async (temperature) => {
    const batch = packRows(randomRows(new Rng(3), 7, PROMPT + 1, 52, 32), PROMPT);
    expectClose(await reference.logp(batch, temperature), expected(batch, temperature), 1e-5);
  });

  it('takes more rows than one run holds', async () => {
    const rows = randomRows(new Rng(4), 140, PROMPT + 1, 14, 32);
    const whole = await reference.logp(packRows(rows, PROMPT), 1);
    const batch = packRows(rows.slice(100), PROMPT);
    expectClose(whole.subarray(whole.length - batch.positions), expected(batch, 1), 1e-5);
  });

  it('is not disturbed by calls at the same time', async () => {
    const batches = [5, 6, 7, 8].map((seed) => packRows(randomRows(new Rng(seed), 4, PROMPT + 1, 40, 32), PROMPT));
    const results = await Promise.all(batches.map((batch) => reference.logp(batch, 1)));
    results.forEach((got, i) => expectClose(got, expected(batches[i]!, 1), 1e-5));
  });

  it('reports a failed run and is right again afterwards', async () => {
    const bad = packRows([[...Array(12).keys()]], PROMPT);
    bad.inputs[3] = 32;
    const error = await reference.logp(bad, 1).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(/onnxruntime-web failed/);
    const batch = packRows(randomRows(new Rng(9), 3, PROMPT + 1, 30, 32), PROMPT);
    expectClose(await reference.logp(batch, 1), expected(batch, 1), 1e-5);
  });

  it('gives nothing for an empty batch', async () => {
    expect(await reference.logp(packRows([], PROMPT), 1)).toHaveLength(0);
  });

  it('refuses bytes that are no model, and log-probs that are not finite', async () => {
    await expect(createOrtReference({ modelBytes: new Uint8Array(100), config, provider: 'wasm' })).rejects.toBeInstanceOf(UserError);
    const infinite = params.slice();
    infinite[3] = NaN;
    const broken = policyToOnnx(config, infinite, { model: 'small', task: 'columnAddition', seed: 1 });
    await expect(createOrtReference({ modelBytes: broken, config, provider: 'wasm' })).rejects.toThrow(/not finite/);
  });

  it('does not run after it was destroyed', async () => {
    const other = await createOrtReference({ modelBytes, config, provider: 'wasm' });
    await other.destroy();
    await other.destroy();
    await expect(other.logp(packRows([[1, 2, 3]], 1), 1)).rejects.toThrow(/destroyed/);
  });
});

describe('choosing and queueing', () => {
  it('uses WASM without a browser', () => {
    expect(providerFor({ software: false })).toBe('wasm');
    expect(providerFor({ software: true })).toBe('wasm');
  });

  it('runs queued work one at a time, in order, past failures', async () => {
    const seen: string[] = [];
    const job = (name: string, fails = false) =>
      exclusive(async () => {
        seen.push(`${name} starts`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([job('a'), job('b', true), job('c')]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });
});
