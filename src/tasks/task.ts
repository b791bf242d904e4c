import type { Rng } from '../core/rng';

/** Which half of the prompt space: RL and SFT draw from `train`, evaluation from `heldOut` (split by a hash of the operands). */
export type Split = 'train' | 'heldOut';

/**
 * A verifiable task: draws prompts, writes the worked examples that the base policy is pretrained on (bad habit included),
 * and checks answers. Characters are tokens (tasks/tokenizer.ts). A second task is one more file in defs/.
 */
export interface Task {
  id: string;
  title: string;
  /** One or two sentences for the page: what is asked, what the base policy's bad habit is, what earns reward 1. */
  description: string;
  /** Every prompt has exactly this many tokens. */
  promptLength: number;
  /** Generation budget, tokens, EOS included. promptLength + maxNewTokens <= 64. */
  maxNewTokens: number;
  /** The token that ends a response (inclusive). */
  eos: string;
  /** Characters after which a subsentence ends (inclusive). */
  delimiters: readonly string[];
  /** A prompt of exactly promptLength characters. Difficulty is drawn first, then operands until they fall in `split`. */
  samplePrompt(rng: Rng, split: Split): string;
  /** A worked example for `prompt` with the task's habit and noise, EOS included. */
  workedExample(rng: Rng, prompt: string): string;
  /** The answer that the verifier wants, for display. */
  expectedAnswer(prompt: string): string;
  /** 1 when the response is right, else 0. Strict: malformed or unfinished answers earn 0; never throws. */
  verify(prompt: string, response: string): 0 | 1;
  /** True when the response is well formed (ends in EOS, has the task's shape), right or wrong. */
  wellFormed(prompt: string, response: string): boolean;
  /** Two or three prompts of the held-out split that show the habit, for the page before Play. */
  showcase: readonly string[];
}
