import { Rng } from '../core/rng';
import type { PolicyEngine } from '../engines/engine';
import { decode } from '../tasks/tokenizer';
import type { Task } from '../tasks/task';
import { encodePrompts, eosToken } from './rollout';
import { EVALUATION_KEY } from './streams';

export interface EvaluationOptions {
  prompts: number;
  /** Argmax decoding; otherwise samples at `temperature`. */
  greedy: boolean;
  temperature?: number;
  /** Key of the sampling noise when not greedy. */
  seed?: number;
  /** Called after each chunk with the share done, 0..1. */
  onProgress?: (done: number) => void;
}

export interface Evaluation {
  prompts: number;
  /** Share answered rightly, and share well formed. */
  accuracy: number;
  formatRate: number;
  /** Mean response length, tokens. */
  meanLength: number;
}

/** One answer with what it should have been. */
export interface Answer {
  prompt: string;
  response: string;
  correct: boolean;
  expected: string;
}

/** The first `count` held-out prompts. */
export function heldOutPrompts(task: Task, count: number): string[] {
  return Array.from({ length: count }, (_, i) => task.samplePrompt(new Rng(EVALUATION_KEY, i), 'heldOut'));
}

/** Answers held-out prompts with the parameters in force (f32, no lag) and verifies them. */
export async function evaluateHeldOut(engine: PolicyEngine, task: Task, options: EvaluationOptions): Promise<Evaluation> {
  const prompts = heldOutPrompts(task, options.prompts);
  let right = 0;
  let formed = 0;
  let tokens = 0;
  for await (const chunk of respond(engine, task, prompts, options)) {
    for (const { prompt, response, length } of chunk) {
      right += task.verify(prompt, response);
      formed += task.wellFormed(prompt, response) ? 1 : 0;
      tokens += length;
    }
  }
  const n = prompts.length;
  return { prompts: n, accuracy: right / n, formatRate: formed / n, meanLength: tokens / n };
}

/** Greedy answers to the task's showcase prompts. */
export async function showcaseAnswers(engine: PolicyEngine, task: Task): Promise<Answer[]> {
  const answers: Answer[] = [];
  for await (const chunk of respond(engine, task, task.showcase, { greedy: true })) {
    for (const { prompt, response } of chunk) {
      answers.push({ prompt, response, correct: task.verify(prompt, response) === 1, expected: task.expectedAnswer(prompt) });
    }
  }
  return answers;
}

/** Responses in chunks that the engine can take at once. */
async function* respond(
  engine: PolicyEngine,
  task: Task,
  prompts: readonly string[],
  options: Pick<EvaluationOptions, 'greedy' | 'temperature' | 'seed' | 'onProgress'>,
): AsyncGenerator<{ prompt: string; response: string; length: number }[]> {
  const { promptLength, maxNewTokens } = task;
  const stride = promptLength + maxNewTokens;
  const most = engine.limits.rolloutRows;
  for (let from = 0; from < prompts.length; from += most) {
    const chunk = prompts.slice(from, from + most);
    const result = await engine.rollout({
      prompts: encodePrompts(task, chunk, 1),
      rows: chunk.length,
      promptLength,
      maxNewTokens,
      eos: eosToken(task),
      temperature: options.temperature ?? 1,
      greedy: options.greedy,
      seed: options.seed ?? EVALUATION_KEY,
      // Chunks must not share their noise; evaluation iterations lie far from those of training.
      iteration: 0x80000000 + from,
      precision: 'f32',
      lag: 0,
    });
    options.onProgress?.(Math.min(1, (from + chunk.length) / prompts.length));
    yield chunk.map((prompt, r) => {
      const length = result.lengths[r] as number;
      const start = r * stride + promptLength;
      return { prompt, response: decode(result.tokens.subarray(start, start + length)), length };
    });
  }
}
