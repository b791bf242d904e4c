import type { Rng } from '../../src/core/rng';
import type { Task } from '../../src/tasks/task';
import { ALPHABET } from '../../src/tasks/tokenizer';

/**
 * The least task that can be learnt by a table: the prompt is `d=`, the right answer `1,;` whatever d is.
 * Odd digits are held out.
 */
export const fakeTask: Task = {
  id: 'fake',
  title: 'Say one',
  description: 'Answer 1, then a comma.',
  promptLength: 2,
  maxNewTokens: 5,
  eos: ';',
  delimiters: [',', ';'],
  samplePrompt: (rng: Rng, split) => `${2 * rng.int(0, 4) + (split === 'heldOut' ? 1 : 0)}=`,
  workedExample: () => '1,;',
  expectedAnswer: () => '1',
  verify: (_prompt, response) => (response === '1,;' ? 1 : 0),
  wellFormed: (_prompt, response) => response.endsWith(';'),
  showcase: ['1=', '3='],
};

const id = (character: string): number => ALPHABET.indexOf(character);

/** A start that answers a digit (1 about once in three), then mostly `,` and `;`. */
export function habit(_position: number, previous: number, next: number): number {
  if (previous === id('=')) return next === id('1') ? 1.1 : next === id('2') ? 1.7 : next < 4 ? 0.3 : -6.3;
  if (previous === id(',')) return next === id(';') ? 4.3 : -2.3;
  return next === id(',') ? 3.3 : next === id(';') ? 0.7 : -3.1;
}
