import * as tf from '@tensorflow/tfjs-core';
import { sampleTokenCpu } from '../kernels/decode/decode.cpu';
import type { ModelConfig } from '../model/config';
import type { RolloutRequest, RolloutResult } from './engine';
import { forwardRows, named, weightTensors, type KeyValues } from './tfjsTransformer';

/** Finished rows leave the cache when fewer than this share of its rows still runs. */
const COMPACT_BELOW = 0.75;

/**
 * One rollout with a key/value cache: tfjs gives the logits, the host draws with the same counter-based noise as the
 * shaders. `flat`: the sampler's weights, already rounded and as old as the request wants.
 */
export function decodeTfjs(config: ModelConfig, flat: Float32Array, request: RolloutRequest): RolloutResult {
  const { rows, promptLength, maxNewTokens, eos } = request;
  const S = promptLength + maxNewTokens;
  const tokens = new Uint32Array(rows * S);
  for (let r = 0; r < rows; r++) tokens.set(request.prompts.subarray(r * promptLength, (r + 1) * promptLength), r * S);
  const result: RolloutResult = { tokens, lengths: new Uint32Array(rows), logp: new Float32Array(rows * maxNewTokens), entropy: new Float32Array(rows * maxNewTokens) };

  const { names, tensors } = weightTensors(config, flat);
  const weights = named(names, tensors);
  /** The row of the batch that each row of the cache belongs to. */
  let lines = Array.from({ length: rows }, (_, r) => r);
  let cache: KeyValues | null = null;
  const alive = new Uint8Array(rows).fill(1);
  try {
    for (let next = promptLength; next < S && lines.length > 0; next++) {
      const first: number = cache ? next - 1 : 0;
      const input = new Uint32Array(lines.length * (next - first));
      lines.forEach((r, i) => input.set(tokens.subarray(r * S + first, r * S + next), i * (next - first)));
      const { logits, cache: grown }: { logits: Float32Array; cache: KeyValues } = step(config, weights, input, lines.length, first, cache);
      dispose(cache);
      cache = grown;
      lines.forEach((r, i) => {
        if (!alive[r]) return;
        const at = (i + 1) * (next - first) - 1;
        const drawn = sampleTokenCpu(logits.subarray(at * config.V, (at + 1) * config.V), request.temperature, { seed: request.seed, iteration: request.iteration, row: r, position: next }, request.greedy);
        tokens[r * S + next] = drawn.token;
        result.logp[r * maxNewTokens + next - promptLength] = drawn.logp;
        result.entropy[r * maxNewTokens + next - promptLength] = drawn.entropy;
        result.lengths[r] = next + 1 - promptLength;
        if (drawn.token === eos) alive[r] = 0;
      });
      const running = lines.flatMap((r, i) => (alive[r] ? [i] : []));
      if (running.length < COMPACT_BELOW * lines.length) {
        const kept = cache;
        cache = running.length > 0 ? keepRows(kept, running) : null;
        dispose(kept);
        lines = running.map((i) => lines[i] as number);
      }
    }
  } finally {
    dispose(cache);
    tf.dispose(tensors);
  }
  return result;
}

/** One forward pass outside of any tape: the logits on the host, the grown cache kept. */
function step(config: ModelConfig, weights: Parameters<typeof forwardRows>[1], input: Uint32Array, rows: number, start: number, before: KeyValues | null): { logits: Float32Array; cache: KeyValues } {
  let logits = new Float32Array(0);
  const flatCache = tf.tidy(() => {
    const out = forwardRows(config, weights, input, rows, start, before);
    logits = out.logits.dataSync<'float32'>() as Float32Array<ArrayBuffer>;
    return out.cache.flatMap(({ k, v }) => [k, v]);
  });
  return { logits, cache: pairs(flatCache) };
}

function keepRows(cache: KeyValues, rows: readonly number[]): KeyValues {
  return pairs(tf.tidy(() => {
    const index = tf.tensor1d([...rows], 'int32');
    return cache.flatMap(({ k, v }) => [tf.gather(k, index), tf.gather(v, index)]);
  }));
}

function pairs(list: tf.Tensor[]): KeyValues {
  return Array.from({ length: list.length / 2 }, (_, l) => ({ k: list[2 * l] as tf.Tensor4D, v: list[2 * l + 1] as tf.Tensor4D }));
}

function dispose(cache: KeyValues | null): void {
  if (cache) tf.dispose(cache.flatMap(({ k, v }) => [k, v]));
}
