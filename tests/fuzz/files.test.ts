import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { MODEL_CONFIGS, paramLayout } from '../../src/model/config';
import { loadPolicy, manifestEntry, parseManifest, type Manifest } from '../../src/model/manifest';
import { onnxToParams, policyToOnnx } from '../../src/model/onnxGraph';
import { DAMAGE, damaged } from '../helpers/mutate';

/** Model files and their list, damaged: what comes is sound, or words for the person. */

const RUNS = { seed: 20261202, numRuns: 1000 };
const config = MODEL_CONFIGS.small;
const params = Float32Array.from({ length: paramLayout(config).flatSize }, (_, i) => Math.sin(i));
for (const { offset, size } of paramLayout(config).specs) params.fill(0, offset + size, Math.ceil((offset + size) / 64) * 64);
const file = policyToOnnx(config, params, { model: 'small', task: 'chainSum', seed: 3 });
const entry = await manifestEntry(file, {
  model: 'small', task: 'chainSum', seed: 3,
  recipe: { steps: 3000, batch: 64, learningRate: 3e-3, warmupSteps: 50, weightDecay: 0.01, beta1: 0.9, beta2: 0.98, maxGradNorm: 1 },
  measured: { passRate: 0.35, greedy: 0.41, formatRate: 1, prompts: 512 },
});
const manifest: Manifest = { version: 1, policies: [entry] };

const NOTHING = new Uint8Array(0);

function joined(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (out.set(part, at), at + part.length), 0);
  return out;
}

/** Runs `read`; true when it gave something, false when it refused in words. Anything else fails the test. */
function reads(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.hint.length).toBeGreaterThan(0);
    return false;
  }
}

describe('1,000 damaged files', () => {
  it('of a model, several bytes changed, cut or put in, end in finite weights or a refusal', () => {
    const change = fc.record({ at: fc.double({ min: 0, max: 0.999999, noNaN: true }), nearStart: fc.boolean(), bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }), kind: fc.constantFrom('write', 'insert', 'cut', 'truncate') });
    let refused = 0;
    fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      let bytes: Uint8Array = file.slice();
      for (const { at, nearStart, bytes: put, kind } of changes) {
        const place = Math.floor(at * (nearStart ? Math.min(2000, bytes.length) : bytes.length));
        if (kind === 'write') bytes.set(put.subarray(0, bytes.length - place), place);
        else bytes = joined(bytes.subarray(0, place), kind === 'insert' ? put : NOTHING, kind === 'truncate' ? NOTHING : bytes.subarray(place + (kind === 'cut' ? put.length : 0)));
      }
      if (!reads(() => expect(onnxToParams(config, bytes).every(Number.isFinite)).toBe(true))) refused++;
    }), RUNS);
    // Weights that were changed to other finite weights are what the SHA-256 is for.
    expect(refused).toBeGreaterThan(600);
  });

  it('of the list give what is written in it, or a refusal', () => {
    let refused = 0;
    fc.assert(fc.property(DAMAGE, (damage) => {
      const json = damaged(manifest, damage);
      const ok = reads(() => {
        const { policies } = parseManifest(json);
        for (const [i, policy] of policies.entries()) {
          expect(policy).toMatchObject({ file: `${policy.task}-${policy.model}.onnx`, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
          const given = (json as Manifest).policies[i]!;
          for (const part of ['recipe', 'measured'] as const) for (const [key, value] of Object.entries(policy[part])) expect([key, value]).toEqual([key, (given[part] as unknown as Record<string, number>)[key]]);
          for (const key of ['bytes', 'seed', 'parameters'] as const) expect(Number.isFinite(policy[key]) && policy[key] === given[key]).toBe(true);
        }
      });
      if (!ok) refused++;
    }), RUNS);
    expect(refused).toBeGreaterThan(400);
  });

  it('of a site give the policy bit for bit, or a refusal: the check sum leaves nothing between', async () => {
    await fc.assert(fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), DAMAGE, async (at, flip, ofList, damage) => {
      const bytes = file.slice();
      if (!ofList) bytes[at]! ^= flip;
      const list = ofList ? damaged(manifest, damage) : manifest;
      const fetchFile = (url: string) => Promise.resolve(new Response(url.endsWith('.json') ? JSON.stringify(list) ?? '' : bytes));
      try {
        const loaded = await loadPolicy('models/', 'small', 'chainSum', { fetchFile });
        expect(ofList).toBe(true);
        expect(loaded.params).toEqual(params);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
      }
    }), { seed: 20261203, numRuns: 200 });
  });
});
