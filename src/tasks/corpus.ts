import { invariant } from '../core/errors';
import { Rng } from '../core/rng';
import type { Split, Task } from './task';
import { encode } from './tokenizer';

/** Streams of their own for each use, so that equal seeds do not give equal draws. */
const SFT_STREAM = 0x5f7;
const PROMPT_STREAM = 0x9f0;

/** Worked examples in the layout of a rollout: S = promptLength + maxNewTokens positions per row, R rows. */
export interface SftBatch {
  rows: number;
  promptLength: number;
  /** Token ids, prompt included; [R][S]; positions past the end hold 0. */
  tokens: Uint32Array;
  /** Response tokens of each row, EOS included; [R]. */
  lengths: Uint32Array;
}

/**
 * One batch of worked examples for pretraining, from the training split. The same (task, seed, step, row) gives the
 * same example, whatever the batch size and order of calls.
 */
export function sftBatch(task: Task, seed: number, step: number, batchSize: number): SftBatch {
  const { promptLength } = task;
  const S = promptLength + task.maxNewTokens;
  const tokens = new Uint32Array(batchSize * S);
  const lengths = new Uint32Array(batchSize);
  for (let row = 0; row < batchSize; row++) {
    const rng = new Rng(seed, SFT_STREAM, step, row);
    const prompt = task.samplePrompt(rng, 'train');
    const response = task.workedExample(rng, prompt);
    invariant(prompt.length === promptLength, `prompt "${prompt}" is not ${promptLength} tokens long`);
    invariant(response.length <= task.maxNewTokens, `example "${response}" is over ${task.maxNewTokens} tokens`);
    tokens.set(encode(prompt + response), row * S);
    lengths[row] = response.length;
  }
  return { rows: batchSize, promptLength, tokens, lengths };
}

/** `count` prompts of one split: the same for the same seed, e.g. the fixed set that an evaluation runs on. Repeats can occur. */
export function promptSet(task: Task, split: Split, seed: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => task.samplePrompt(new Rng(seed, PROMPT_STREAM, i), split));
}
