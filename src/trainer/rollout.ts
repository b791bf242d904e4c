import { invariant } from '../core/errors';
import { Rng } from '../core/rng';
import type { RunConfig } from '../config/runConfig';
import type { PolicyEngine, RolloutResult } from '../engines/engine';
import { decodeToken, encode } from '../tasks/tokenizer';
import type { Task } from '../tasks/task';
import { STREAM } from './streams';

/** The answers of one iteration on the host. R = prompts * groupSize rows; row r answers prompt floor(r / groupSize). */
export interface Rollout {
  prompts: string[];
  groupSize: number;
  rows: number;
  promptLength: number;
  maxNewTokens: number;
  /** [R][promptLength + maxNewTokens]. */
  tokens: Uint32Array;
  /** Response tokens of each row; [R]. */
  lengths: Uint32Array;
  /** Log-probs (nats) and entropies (nats) of the sampler over each row's response; views of length lengths[r]. */
  logp: Float32Array[];
  entropy: Float32Array[];
  /** The response of each row, one character per token. */
  characters: string[][];
  /** True for a row that met the budget before the task's end token. */
  truncated: boolean[];
}

/** The prompts of one iteration: prompt i depends on (seed, step, i) alone, so that any of them can be drawn again by itself. */
export function drawPrompts(task: Task, seed: number, step: number, count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, i) => task.samplePrompt(new Rng(seed, STREAM.prompts, step, first + i), 'train'));
}

/** Rollouts that may follow the first one of an iteration when dead groups are replaced. */
export const REFILLS = 3;

/**
 * The answers of one iteration: one rollout, or with `refillGroups` further ones of other prompts until as many groups as there are
 * prompts have answers of both kinds (DAPO's dynamic sampling, arXiv 2503.14476, section 3.2), bounded by REFILLS. What was drawn
 * too much stays in the result; who trains on what is the trainer's affair (selection.ts).
 * @param onRefill called before every further rollout with the groups found so far
 */
export async function drawRollout(engine: PolicyEngine, task: Task, config: RunConfig, step: number, onRefill: (found: number, round: number) => void = () => {}): Promise<Rollout> {
  let rollout = await sampleRollout(engine, task, config, step);
  if (!config.dynamicSampling || !config.refillGroups || config.groupSize === 1) return rollout;
  for (let round = 1; round <= REFILLS; round++) {
    const found = mixedGroups(task, rollout);
    if (found >= config.prompts) break;
    onRefill(found, round);
    rollout = joined(rollout, await sampleRollout(engine, task, config, step, round));
  }
  return rollout;
}

/** Groups in which some answer is right and some is not. */
function mixedGroups(task: Task, rollout: Rollout): number {
  return rollout.prompts.filter((prompt, group) => {
    const answers = rollout.characters.slice(group * rollout.groupSize, (group + 1) * rollout.groupSize);
    return new Set(answers.map((characters) => task.verify(prompt, characters.join('')))).size > 1;
  }).length;
}

/** Two rollouts of one kind, end to end. */
function joined(a: Rollout, b: Rollout): Rollout {
  const ids = (x: Uint32Array, y: Uint32Array) => {
    const out = new Uint32Array(x.length + y.length);
    out.set(x);
    out.set(y, x.length);
    return out;
  };
  return {
    ...a,
    prompts: [...a.prompts, ...b.prompts], rows: a.rows + b.rows, tokens: ids(a.tokens, b.tokens), lengths: ids(a.lengths, b.lengths),
    logp: [...a.logp, ...b.logp], entropy: [...a.entropy, ...b.entropy], characters: [...a.characters, ...b.characters], truncated: [...a.truncated, ...b.truncated],
  };
}

/** Iterations are at most this many, so that the noise of a further rollout has a key of its own. */
const ROUND_KEY = 1 << 20;

/** Samples `groupSize` completions for each of the iteration's prompts with the settings in force; `round` counts rollouts of one iteration from 0. */
export async function sampleRollout(engine: PolicyEngine, task: Task, config: RunConfig, step: number, round = 0): Promise<Rollout> {
  const prompts = drawPrompts(task, config.seed, step, config.prompts, round * config.prompts);
  const rows = config.prompts * config.groupSize;
  const result = await engine.rollout({
    prompts: encodePrompts(task, prompts, config.groupSize),
    rows,
    promptLength: task.promptLength,
    maxNewTokens: task.maxNewTokens,
    eos: eosToken(task),
    temperature: config.temperature,
    greedy: false,
    seed: config.seed,
    iteration: step + round * ROUND_KEY,
    precision: config.samplerPrecision,
    lag: config.samplerLag,
  });
  return toRollout(task, prompts, config.groupSize, result);
}

/** Token ids of each prompt, `copies` times in a row; [prompts * copies][promptLength]. */
export function encodePrompts(task: Task, prompts: readonly string[], copies: number): Uint32Array {
  const ids = new Uint32Array(prompts.length * copies * task.promptLength);
  prompts.forEach((prompt, i) => {
    const encoded = encode(prompt);
    invariant(encoded.length === task.promptLength, `task ${task.id} drew a prompt of ${encoded.length} tokens`);
    for (let c = 0; c < copies; c++) ids.set(encoded, (i * copies + c) * task.promptLength);
  });
  return ids;
}

/** Token id that ends a response of this task. */
export function eosToken(task: Task): number {
  return encode(task.eos)[0] as number;
}

/** Cuts an engine's result into rows. */
export function toRollout(task: Task, prompts: string[], groupSize: number, result: RolloutResult): Rollout {
  const { promptLength, maxNewTokens } = task;
  const rows = prompts.length * groupSize;
  const stride = promptLength + maxNewTokens;
  const eos = eosToken(task);
  const characters: string[][] = [];
  const truncated: boolean[] = [];
  for (let r = 0; r < rows; r++) {
    const length = result.lengths[r] as number;
    invariant(length >= 1 && length <= maxNewTokens, `row ${r} of the rollout has ${length} tokens`);
    const ids = result.tokens.subarray(r * stride + promptLength, r * stride + promptLength + length);
    characters.push(Array.from(ids, decodeToken));
    truncated.push(ids[length - 1] !== eos);
  }
  const rowsOf = (all: Float32Array): Float32Array[] =>
    Array.from({ length: rows }, (_, r) => all.subarray(r * maxNewTokens, r * maxNewTokens + (result.lengths[r] as number)));
  return {
    prompts, groupSize, rows, promptLength, maxNewTokens, tokens: result.tokens, lengths: result.lengths,
    logp: rowsOf(result.logp), entropy: rowsOf(result.entropy), characters, truncated,
  };
}
