import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import type { BatchRecord, CompletionRecord, LensSource } from '../../src/lens/types';
import type { ObjectiveBatch } from '../../src/objectives';

/**
 * A batch as the trainer would have stored it: only the counted tokens of each row, advantages by token where they differ in a row. Columns keep f64
 * when `exact`, so that results can be compared with the batch's own to the last bit.
 */
export function recordOf(batch: ObjectiveBatch, objective = 'grpo', options: { exact?: boolean; config?: Partial<RunConfig>; texts?: string[][] } = {}): LensSource {
  const pick = (row: ArrayLike<number>, mask: ArrayLike<number>) => Array.from(row).filter((_, t) => mask[t]);
  const column = (x: number[]) => (options.exact ? (Float64Array.from(x) as unknown as Float32Array) : Float32Array.from(x));
  const completions: CompletionRecord[] = batch.mask.map((mask, r) => {
    const length = pick(mask, mask).length;
    const own = pick(batch.advantages[r], mask);
    const advantage = own.reduce((sum, a) => sum + a, 0) / Math.max(1, length);
    const differs = own.some((a) => a !== own[0]);
    return {
      group: Math.floor(r / 2),
      tokens: options.texts?.[r] ?? Array.from({ length }, (_, t) => (t % 5 === 4 ? '.' : String(t % 10))),
      oldLogp: column(pick(batch.oldLogp[r], mask)),
      newLogp: column(pick(batch.newLogp[r], mask)),
      entropy: column(batch.entropy ? pick(batch.entropy[r], mask) : Array<number>(length).fill(1)),
      refLogp: batch.refLogp ? column(pick(batch.refLogp[r], mask)) : null,
      segments: Uint32Array.from(pick(batch.segments[r], mask)),
      reward: advantage > 0 ? 1 : 0,
      advantage: differs ? advantage : (own[0] ?? 0),
      advantages: differs ? column(own) : null,
      value: null,
      values: null,
      minibatch: 1 + (r % 2),
    };
  });
  const entropies = completions.flatMap((row) => Array.from(row.entropy));
  const record: BatchRecord = {
    step: 7,
    objective,
    config: { ...presetConfig('grpo', 'small'), objective, ...options.config },
    prompts: Array.from({ length: Math.ceil(completions.length / 2) }, (_, i) => `${i}+${i}=`),
    completions,
    meanEntropy: entropies.reduce((sum, h) => sum + h, 0) / Math.max(1, entropies.length),
  };
  return { record, maxTokens: batch.maxTokens ?? null, eos: ';' };
}
