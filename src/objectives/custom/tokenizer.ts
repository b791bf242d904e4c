import { ObjectiveTextError, type Span } from './errors';

export interface Token extends Span {
  /** `end` stands behind the last character. A `symbol` is an operator or a bracket. */
  kind: 'number' | 'name' | 'string' | 'symbol' | 'end';
  /** As written; of a string what stands between the quotes. */
  text: string;
}

/** Longest text that is read at all, characters; what a link can hold is less (build.ts). */
const MAX_CHARACTERS = 100_000;
/** Longest name and longest quoted text. */
const MAX_NAME = 32;
const MAX_STRING = 200;

// "0..1" is 0, "..", 1: a point belongs to the number before it only when no second point follows.
const NUMBER = /(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z][A-Za-z0-9]*/y;
const STRING = /"([^"\n]*)"/y;
const BLANK = /(?:\s|#[^\n]*|\/\/[^\n]*)+/y;
const SYMBOL = /\.\.|<=|>=|&&|\|\||[-+*/^<>?:(),;=\u2212\u00d7]/y;
/** Signs that a formula is often pasted with. */
const PLAIN: Record<string, string> = { '\u2212': '-', '\u00d7': '*' };

/** Splits a text into tokens; comments run from # or // to the end of the line. Throws ObjectiveTextError. */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_CHARACTERS) throw new ObjectiveTextError(text, { start: MAX_CHARACTERS, end: MAX_CHARACTERS }, `the text is longer than ${MAX_CHARACTERS} characters.`);
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const push = (kind: Token['kind'], length: number, content: string) => {
    tokens.push({ kind, text: content, start: at, end: at + length });
    at += length;
  };
  const refuse = (length: number, reason: string, hint = ''): never => {
    throw new ObjectiveTextError(text, { start: at, end: at + length }, reason, hint);
  };
  while (at < text.length) {
    const blank = match(BLANK);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const number = match(NUMBER);
    if (number) {
      push('number', number[0].length, number[0]);
      continue;
    }
    const name = match(NAME);
    if (name) {
      if (name[0].length > MAX_NAME) refuse(name[0].length, `a name has at most ${MAX_NAME} letters and digits.`);
      push('name', name[0].length, name[0]);
      continue;
    }
    const string = match(STRING);
    if (string) {
      if (string[1].length > MAX_STRING) refuse(string[0].length, `a quoted text has at most ${MAX_STRING} characters.`);
      push('string', string[0].length, string[1]);
      continue;
    }
    const symbol = match(SYMBOL);
    if (symbol) {
      push('symbol', symbol[0].length, PLAIN[symbol[0]] ?? symbol[0]);
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    if (character === '"') refuse(1, 'a quoted text ends on the line on which it begins.', 'Close it with ".');
    if (character === '_') refuse(1, 'a name holds letters and digits only.', 'Write clipLow, not clip_low.');
    refuse(character.length, `“${character}” means nothing here.`, 'Comments begin with # or //.');
  }
  push('end', 0, '');
  return tokens;
}
