import { UserError } from '../../core/errors';
import { hashKey } from '../../core/rng';
import type { Rng } from '../../core/rng';
import { FILLER_PATTERN, finalAnswer, maybeFiller, slipped } from '../answer';
import type { Split, Task } from '../task';

/**
 * Addition column by column from the units, taught by worked examples with a bad habit (experiments.md, sections 1 and 8):
 * `_28+_13=` -> `u8+3=11.t2+1+1=4.41;`, where the habit is to forget the `+1`. So the base policy knows how to add and
 * what a carry is, and RL has something to bring out.
 */

/** Noise of the worked examples. */
export interface ColumnNoise {
  /** Probability that a carry which is due is neither written nor added. */
  dropCarry: number;
  /** Probability that a column's sum, no carry being dropped, is off by 1 or 2. */
  slip: number;
}

export const COLUMN_NOISE: ColumnNoise = { dropCarry: 0.85, slip: 0.12 };

const LABELS = ['u', 't', 'h'] as const;
const WIDTH = 3;
const PROMPT = /^(_\d{2}|\d{3})\+(_\d{2}|\d{3})=$/;

/** One prompt in eight is kept for evaluation. */
function splitOf(a: number, b: number): Split {
  return hashKey(a, b) % 8 === 0 ? 'heldOut' : 'train';
}

function operands(prompt: string): { a: number; b: number } | null {
  const match = PROMPT.exec(prompt);
  if (!match) return null;
  return { a: Number((match[1] as string).replace('_', '')), b: Number((match[2] as string).replace('_', '')) };
}

/** Digit of `value` in column i, counted from the units. */
function digit(value: number, i: number): number {
  return Math.floor(value / 10 ** i) % 10;
}

/**
 * A worked example with the given noise. Later lines agree with what was written before them, right or wrong.
 * @throws UserError when the prompt is not one of this task.
 */
export function columnExample(rng: Rng, prompt: string, noise: ColumnNoise): string {
  const pair = operands(prompt);
  if (!pair) throw new UserError(`"${prompt}" is not a column addition prompt.`, 'Write two numbers of 2 or 3 digits, as in _28+_13=');
  const columns = String(Math.max(pair.a, pair.b)).length;
  let text = '';
  let kept = '';
  let carry = 0;
  for (let i = 0; i < columns; i++) {
    if (i > 0) text += maybeFiller(rng);
    const x = digit(pair.a, i);
    const y = digit(pair.b, i);
    const dropped = carry > 0 && rng.uniform() < noise.dropCarry;
    let sum = x + y + (dropped ? 0 : carry);
    if (!dropped && rng.uniform() < noise.slip) sum = slipped(rng, sum, 0, 19);
    text += `${LABELS[i]}${x}+${y}${carry > 0 && !dropped ? '+1' : ''}=${sum}.`;
    carry = Math.floor(sum / 10);
    kept = (i === columns - 1 ? String(sum) : String(sum % 10)) + kept;
  }
  return `${text}${kept};`;
}

const line = (label: string) => `${label}\\d\\+\\d(?:\\+1)?=\\d{1,2}\\.`;
const SHAPES: Record<number, RegExp> = {
  2: new RegExp(`^${line('u')}${FILLER_PATTERN}${line('t')}\\d{2,3};$`),
  3: new RegExp(`^${line('u')}${FILLER_PATTERN}${line('t')}${FILLER_PATTERN}${line('h')}\\d{3,4};$`),
};

export const columnAddition: Task = {
  id: 'columnAddition',
  title: 'Column addition',
  description:
    'Add two numbers column by column, units first, writing each carry as +1. The base policy learned from examples that mostly forget the carry. Reward 1 for the exact sum after the last column, ended by a semicolon; else 0.',
  promptLength: 8,
  maxNewTokens: 44,
  eos: ';',
  delimiters: ['.', ',', ';'],
  samplePrompt(rng, split) {
    // The difficulty comes first: redrawing it with the operands would skew the held-out split to easy prompts.
    const digits = rng.int(2, 3);
    for (;;) {
      const a = rng.int(10 ** (digits - 1), 10 ** digits - 1);
      const b = rng.int(10 ** (digits - 1), 10 ** digits - 1);
      if (splitOf(a, b) === split) return `${String(a).padStart(WIDTH, '_')}+${String(b).padStart(WIDTH, '_')}=`;
    }
  },
  workedExample: (rng, prompt) => columnExample(rng, prompt, COLUMN_NOISE),
  expectedAnswer(prompt) {
    const pair = operands(prompt);
    return pair ? String(pair.a + pair.b) : '';
  },
  verify(prompt, response) {
    const pair = operands(prompt);
    return pair && finalAnswer(response) === String(pair.a + pair.b) ? 1 : 0;
  },
  wellFormed(prompt, response) {
    const pair = operands(prompt);
    return pair !== null && (SHAPES[String(Math.max(pair.a, pair.b)).length]?.test(response) ?? false);
  },
  showcase: ['_36+_28=', '_29+_46=', '469+375='],
};
