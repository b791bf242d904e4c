import { UserError } from '../../core/errors';
import { hashKey } from '../../core/rng';
import type { Rng } from '../../core/rng';
import { FILLER_PATTERN, finalAnswer, maybeFiller, slipped } from '../answer';
import type { Split, Task } from '../task';

/**
 * A running total: a two-digit number plus two or three small steps, one addition a line,
 * `__27+4+3=` -> `27+4=31.31+3=34.34;`. The habit of the worked examples is to keep the old tens digit when the
 * units pass ten (`27+4=21.`), so the last line is wrong although every later line is consistent.
 */

/** Noise of the worked examples. */
export interface ChainNoise {
  /** Probability that a total which passes a ten keeps its old tens digit. */
  dropTen: number;
  /** Probability that a total, no ten being dropped, is off by 1 or 2. */
  slip: number;
}

export const CHAIN_NOISE: ChainNoise = { dropTen: 0.85, slip: 0.1 };

const START = { low: 10, high: 79 };
/** Small steps: with larger ones nearly every prompt passes a ten, and the base policy would hardly ever be right. */
const STEP = { low: 1, high: 4 };
const WIDTH = 9;
const PROMPT = /^(?:__\d{2}(?:\+[1-4]){2}|\d{2}(?:\+[1-4]){3})=$/;

/** One prompt in eight is kept for evaluation. */
function splitOf(terms: readonly number[]): Split {
  return hashKey(...terms) % 8 === 0 ? 'heldOut' : 'train';
}

function termsOf(prompt: string): number[] | null {
  if (!PROMPT.test(prompt)) return null;
  return prompt.replaceAll('_', '').slice(0, -1).split('+').map(Number);
}

const sumOf = (terms: readonly number[]) => terms.reduce((a, b) => a + b, 0);

/**
 * A worked example with the given noise. Later lines agree with what was written before them, right or wrong.
 * @throws UserError when the prompt is not one of this task.
 */
export function chainExample(rng: Rng, prompt: string, noise: ChainNoise): string {
  const terms = termsOf(prompt);
  if (!terms) throw new UserError(`"${prompt}" is not a chain sum prompt.`, 'Write a two-digit number and two or three steps of 1 to 4, as in __27+4+3=');
  let text = '';
  let total = terms[0] as number;
  terms.slice(1).forEach((addend, i) => {
    if (i > 0) text += maybeFiller(rng);
    const due = (total % 10) + addend >= 10;
    const dropped = due && rng.uniform() < noise.dropTen;
    let next = total + addend - (dropped ? 10 : 0);
    if (!dropped && rng.uniform() < noise.slip) next = slipped(rng, next, 0, 99);
    text += `${total}+${addend}=${next}.`;
    total = next;
  });
  return `${text}${total};`;
}

const LINE = '\\d{1,2}\\+\\d=\\d{1,2}\\.';
const SHAPES: Record<number, RegExp> = {
  3: new RegExp(`^${LINE}${FILLER_PATTERN}${LINE}\\d{1,2};$`),
  4: new RegExp(`^${LINE}${FILLER_PATTERN}${LINE}${FILLER_PATTERN}${LINE}\\d{1,2};$`),
};

export const chainSum: Task = {
  id: 'chainSum',
  title: 'Chain sum',
  description:
    'Add two or three small steps to a number, one at a time, writing the running total. The base policy learned from examples that mostly keep the old tens digit when the units pass ten. Reward 1 for the exact total at the end, ended by a semicolon; else 0.',
  promptLength: WIDTH,
  maxNewTokens: 40,
  eos: ';',
  delimiters: ['.', ',', ';'],
  samplePrompt(rng, split) {
    // The difficulty comes first: redrawing it with the terms would skew the held-out split to easy prompts.
    const steps = rng.int(2, 3);
    for (;;) {
      const terms = [rng.int(START.low, START.high)];
      for (let i = 0; i < steps; i++) terms.push(rng.int(STEP.low, STEP.high));
      if (splitOf(terms) === split) return `${terms.join('+')}=`.padStart(WIDTH, '_');
    }
  },
  workedExample: (rng, prompt) => chainExample(rng, prompt, CHAIN_NOISE),
  expectedAnswer(prompt) {
    const terms = termsOf(prompt);
    return terms ? String(sumOf(terms)) : '';
  },
  verify(prompt, response) {
    const terms = termsOf(prompt);
    return terms && finalAnswer(response) === String(sumOf(terms)) ? 1 : 0;
  },
  wellFormed(prompt, response) {
    const terms = termsOf(prompt);
    return terms !== null && (SHAPES[terms.length]?.test(response) ?? false);
  },
  showcase: ['__38+4+4=', '__16+4+2=', '57+4+4+1='],
};
