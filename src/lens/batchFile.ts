import { isCustom } from '../config/custom';
import type { Problem } from '../config/fieldTypes';
import { validateConfig } from '../config/validate';
import { UserError } from '../core/errors';
import { mixtureOf, OBJECTIVES } from '../objectives';
import type { CompletionRecord, LensSource } from './types';

/**
 * A batch as JSON Lines: a line of what holds for all (format, version, step, objective, config, prompts, meanEntropy,
 * maxTokens, eos), then a line for each completion. Numbers of f32 columns are the shortest that read back as the same f32.
 */

export const BATCH_FORMAT = 'ratioscope-batch';
export const BATCH_VERSION = 1;

/** Largest file that is read, characters, and most tokens in it; a lens batch has thousands. */
const MOST_CHARACTERS = 64 * 1024 * 1024;
const MOST_TOKENS = 1_000_000;

/** The batch as text, ending in a line break. */
export function batchToJsonl({ record, maxTokens, eos }: LensSource): string {
  const { completions, ...rest } = record;
  const head = { format: BATCH_FORMAT, version: BATCH_VERSION, ...rest, maxTokens, eos };
  const lines = completions.map((row) =>
    JSON.stringify({
      ...row,
      oldLogp: short(row.oldLogp),
      newLogp: short(row.newLogp),
      entropy: short(row.entropy),
      refLogp: row.refLogp && short(row.refLogp),
      segments: Array.from(row.segments),
    }),
  );
  return `${[JSON.stringify(head), ...lines].join('\n')}\n`;
}

/** Each f32 as the decimal with the fewest digits that rounds to it; nine always do. */
function short(column: Float32Array): number[] {
  return Array.from(column, (x) => {
    for (let digits = 5; digits < 9; digits++) {
      const rounded = Number(x.toPrecision(digits));
      if (Math.fround(rounded) === x) return rounded;
    }
    return Number(x.toPrecision(9));
  });
}

export interface ParsedBatch {
  source: LensSource;
  /** What was repaired or left out: settings of the run out of range, for a notice. */
  problems: Problem[];
}

/**
 * Reads such a file. Unknown fields are ignored.
 * @throws UserError that names the line and the field when something is missing, of the wrong kind, or impossible (a log-prob above 0)
 */
export function parseBatch(text: string): ParsedBatch {
  if (text.length > MOST_CHARACTERS) throw new UserError('This file is too large for the lens.', 'Export fewer answers; 64 MB is the most.');
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  while (lines.length > 0 && lines[lines.length - 1].trim() === '') lines.pop();
  if (lines.length === 0) throw new UserError('This file is empty.', 'Choose a .jsonl file that the lens exported.');
  const head = reader(lines[0], 1);
  if (head.fields.format !== BATCH_FORMAT) {
    throw new UserError('This is not a batch of Ratioscope.', `Line 1 must be an object with "format": "${BATCH_FORMAT}"; choose a file that the lens exported.`);
  }
  if (head.fields.version !== BATCH_VERSION) {
    throw new UserError(`This batch has version ${String(head.fields.version)}, and version ${BATCH_VERSION} is what can be read.`, 'Export it again with this version of the page.');
  }
  const objective = head.text('objective');
  if (!isCustom(objective) && !OBJECTIVES.some((o) => o.id === objective) && !mixtureOf(objective)) head.fail(`"objective" is "${objective}"`, `Known ids: ${OBJECTIVES.map((o) => o.id).join(', ')}.`);
  const prompts = head.texts('prompts');
  const { config, problems } = validateConfig({ ...head.object('config'), objective });
  if (config.objective !== objective) head.fail('the text of its objective cannot be used', problems.map((problem) => problem.message).join(' '));
  const completions = lines.slice(1).map((line, i) => completionOf(reader(line, i + 2), prompts.length));
  if (completions.length === 0) throw new UserError('This batch holds no answers.', 'After line 1 there must be one line for each answer.');
  const tokens = completions.reduce((sum, row) => sum + row.tokens.length, 0);
  if (tokens > MOST_TOKENS) throw new UserError(`This batch holds ${tokens} tokens, more than the lens takes.`, `Export fewer answers; ${MOST_TOKENS} tokens are the most.`);
  return {
    source: {
      record: { step: head.whole('step', 0), objective, config, prompts, completions, meanEntropy: head.number('meanEntropy', 0, Infinity) },
      maxTokens: head.fields.maxTokens === null || head.fields.maxTokens === undefined ? null : head.whole('maxTokens', 1),
      eos: head.fields.eos === null || head.fields.eos === undefined ? null : head.text('eos'),
    },
    problems,
  };
}

function completionOf(line: Reader, prompts: number): CompletionRecord {
  const tokens = line.texts('tokens');
  const n = tokens.length;
  if (n === 0) line.fail('"tokens" is empty', 'Leave answers without tokens out.');
  const group = line.whole('group', 0);
  if (group >= prompts) line.fail(`"group" is ${group}, but line 1 has ${prompts} prompts`, 'Groups count from 0.');
  // SPPO's V(prompt) is a probability, PPO's an expected return.
  const hasValues = line.fields.values !== null && line.fields.values !== undefined;
  const segments = Uint32Array.from(line.numbers('segments', n, 0, 0xffffffff));
  for (let t = 1; t < n; t++) {
    if (segments[t] < segments[t - 1]) line.fail(`"segments" falls at token ${t}`, 'Subsentence ids rise along the answer.');
  }
  return {
    group,
    tokens,
    oldLogp: Float32Array.from(line.numbers('oldLogp', n, -Infinity, LARGEST_LOGP)),
    newLogp: Float32Array.from(line.numbers('newLogp', n, -Infinity, LARGEST_LOGP)),
    entropy: Float32Array.from(line.numbers('entropy', n, -1e-3, Infinity)),
    refLogp: line.fields.refLogp === null || line.fields.refLogp === undefined ? null : Float32Array.from(line.numbers('refLogp', n, -Infinity, LARGEST_LOGP)),
    segments,
    reward: line.number('reward', -Infinity, Infinity),
    advantage: line.number('advantage', -Infinity, Infinity),
    advantages: line.fields.advantages === null || line.fields.advantages === undefined ? null : Float32Array.from(line.numbers('advantages', n, -Infinity, Infinity)),
    value: line.fields.value === null || line.fields.value === undefined ? null : line.number('value', ...(hasValues ? ([-Infinity, Infinity] as const) : ([0, 1] as const))),
    values: !hasValues ? null : Float32Array.from(line.numbers('values', n, -Infinity, Infinity)),
    minibatch: line.whole('minibatch', 0),
  };
}

/** Rounding may carry the log-prob of a certain token a little above 0. */
const LARGEST_LOGP = 1e-3;

type Reader = ReturnType<typeof reader>;

/** Checked access to the fields of one line. */
function reader(line: string, lineNumber: number) {
  const fail = (what: string, hint: string): never => {
    throw new UserError(`Line ${lineNumber} of the batch: ${what}.`, hint);
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return fail('it is not JSON', 'Each line must be one JSON object.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return fail('it is not an object', 'Each line must be one JSON object.');
  const fields = parsed as Record<string, unknown>;
  const isNumber = (value: unknown, min: number, max: number): value is number => typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max;
  const range = (min: number, max: number) => (min === -Infinity && max === Infinity ? '' : max === Infinity ? ` of at least ${min}` : min === -Infinity ? ` of at most ${max}` : ` from ${min} to ${max}`);
  const own = (name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : fail(`"${name}" is missing`, 'Choose a file that the lens exported.'));
  const list = (name: string): unknown[] => {
    const value = own(name);
    return Array.isArray(value) ? (value as unknown[]) : fail(`"${name}" is not a list`, 'It holds one value for each token (prompts: one for each group).');
  };
  return {
    fields,
    fail,
    text(name: string): string {
      const value = own(name);
      return typeof value === 'string' ? value : fail(`"${name}" is not text`, 'It must be a string.');
    },
    texts(name: string): string[] {
      return list(name).map((value, i) => (typeof value === 'string' ? value : fail(`"${name}"[${i}] is not text`, 'It must be a string.')));
    },
    object(name: string): Record<string, unknown> {
      const value = own(name);
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : fail(`"${name}" is not an object`, 'It holds settings by name.');
    },
    number(name: string, min: number, max: number): number {
      const value = own(name);
      return isNumber(value, min, max) ? value : fail(`"${name}" is not a number${range(min, max)}`, 'Numbers must be finite.');
    },
    whole(name: string, min: number): number {
      const value = own(name);
      return isNumber(value, min, Number.MAX_SAFE_INTEGER) && Number.isInteger(value) ? value : fail(`"${name}" is not a whole number from ${min}`, 'It counts things.');
    },
    numbers(name: string, length: number, min: number, max: number): number[] {
      const values = list(name);
      if (values.length !== length) return fail(`"${name}" has ${values.length} values for ${length} tokens`, 'Every list of an answer is as long as its tokens.');
      return values.map((value, t) => (isNumber(value, min, max) ? value : fail(`"${name}"[${t}] is not a number${range(min, max)}`, 'Numbers must be finite.')));
    },
  };
}
