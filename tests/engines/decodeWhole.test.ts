import { describe, expect, it } from 'vitest';
import type { RolloutRequest } from '../../src/engines/engine';
import { createWebGpuEngine } from '../../src/engines/webgpu';
import { requestNodeGpu } from '../../src/gpu/nodeGpu';
import { sampleTokenCpu } from '../../src/kernels/decode/decode.cpu';
import { MODEL_CONFIGS, type ModelConfig } from '../../src/model/config';
import { decodesWhole } from '../../src/model/decodeWhole';
import { initialParams } from '../../src/model/parameters';
import { transformerCpu } from '../../src/model/transformer.cpu';
import { traceGpu } from '../../bench/lib/gpuTrace';
import { packRows } from '../../src/trainer/batch';

const TINY: ModelConfig = { id: 'tiny', C: 16, L: 1, H: 2, V: 8, T: 16, ropeBase: 100, normEps: 1e-5 };

describe('decoding whole rows', () => {
  it.each([
    ['tiny', TINY, 5, 3, 13],
    ['main', MODEL_CONFIGS.main, 6, 9, 30],
  ] as const)('samples %s by its f64 twin, with the log-probs of the training pass, in few dispatches', async (_, config, rows, promptLength, maxNewTokens) => {
    const ctx = await requestNodeGpu();
    const trace = traceGpu(ctx.device);
    const engine = await createWebGpuEngine(ctx, config, { rolloutRows: 8, updatePositions: 512, maxLag: 0, decode: 'whole' });
    const flat = initialParams(config, 3);
    engine.loadParams(flat);
    const eos = config.V - 2;
    const request: RolloutRequest = {
      prompts: Uint32Array.from({ length: rows * promptLength }, (__, i) => (i * 5) % (config.V - 3)),
      rows, promptLength, maxNewTokens, eos, temperature: 0.8, greedy: false, seed: 4, iteration: 2, precision: 'f32', lag: 0,
    };
    const S = promptLength + maxNewTokens;
    trace.resetCounts();
    const result = await engine.rollout(request);
    // One for the sampler's weights, then one for each submit of 8 positions.
    expect(trace.counts.dispatches).toBe(1 + Math.ceil((S - 1) / 8));
    const batch = packRows({ tokens: result.tokens, lengths: result.lengths, promptLength, maxNewTokens }, [...result.lengths.keys()]);
    const scored = await engine.score(batch, 0.8);
    const cpu = transformerCpu(config, Float64Array.from(flat), { tok: batch.inputs, pos: batch.pos, targets: batch.targets, temperature: 0.8 });
    let compared = 0;
    for (let r = 0; r < rows; r++) {
      const length = result.lengths[r];
      for (let t = 0; t < length; t++) {
        const at = batch.rowStart[r] + promptLength - 1 + t;
        expect(Math.abs(result.logp[r * maxNewTokens + t] - scored.logp[at])).toBeLessThan(2e-5);
        expect(Math.abs(result.entropy[r * maxNewTokens + t] - scored.entropy[at])).toBeLessThan(2e-5);
        const drawn = sampleTokenCpu(cpu.logits.subarray(at * config.V, (at + 1) * config.V), 0.8, { seed: 4, iteration: 2, row: r, position: promptLength + t }, false);
        if (drawn.margin < 1e-4) continue;
        compared++;
        expect(result.tokens[r * S + promptLength + t]).toBe(drawn.token);
      }
      expect(length === maxNewTokens || result.tokens[r * S + promptLength + length - 1] === eos).toBe(true);
      expect([...result.tokens.subarray(r * S + promptLength + length, (r + 1) * S)].every((v) => v === 0)).toBe(true);
    }
    expect(compared).toBeGreaterThan(15);
    engine.destroy();
  });

  it('is for GPUs, and for models whose rows fit in a workgroup', () => {
    const limits = { maxStorageBuffersPerShaderStage: 8 };
    expect(decodesWhole({ software: false }, limits, MODEL_CONFIGS.main)).toBe(true);
    expect(decodesWhole({ software: true }, limits, MODEL_CONFIGS.main)).toBe(false);
    expect(decodesWhole({ software: false }, limits, { ...MODEL_CONFIGS.main, C: 192 })).toBe(false);
    expect(decodesWhole({ software: false }, limits, { ...MODEL_CONFIGS.main, T: 2048 })).toBe(false);
  });
});
