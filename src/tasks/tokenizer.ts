import { UserError } from '../core/errors';

/**
 * Characters are tokens. The id of a character is its place in this string, for good: the shipped weights depend on it.
 * `_` pads a prompt on the left; `;` ends a response.
 */
export const ALPHABET = '0123456789+=.,;_uthkomsn- ';

/** Size of the vocabulary V; ids past the alphabet are never written by a task, but a policy can emit them. */
export const VOCABULARY = 32;

/** What an id outside the alphabet decodes to: one visible character that no task uses. */
export const PLACEHOLDER = '\u25a1';

const idOf = new Map([...ALPHABET].map((character, id) => [character, id]));

/**
 * Token ids of a text, one per character.
 * @throws UserError when a character is not in the alphabet.
 */
export function encode(text: string): Uint32Array {
  const characters = [...text];
  const ids = new Uint32Array(characters.length);
  characters.forEach((character, i) => {
    const id = idOf.get(character);
    if (id === undefined) {
      throw new UserError(`The character ${JSON.stringify(character)} is not in the alphabet.`, `Use only these characters: ${ALPHABET}`);
    }
    ids[i] = id;
  });
  return ids;
}

/** The text of token ids, one character each; ids without a character give the placeholder. Never throws. */
export function decode(ids: ArrayLike<number>): string {
  let text = '';
  for (let i = 0; i < ids.length; i++) text += decodeToken(ids[i] as number);
  return text;
}

/** The character of one token id. */
export function decodeToken(id: number): string {
  return ALPHABET[id] ?? PLACEHOLDER;
}
