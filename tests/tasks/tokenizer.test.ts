import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { ALPHABET, PLACEHOLDER, VOCABULARY, decode, decodeToken, encode } from '../../src/tasks/tokenizer';

describe('tokenizer', () => {
  it('has the alphabet of the spec, each character once, and fixed ids', () => {
    expect(ALPHABET).toBe('0123456789+=.,;_uthkomsn- ');
    expect(new Set(ALPHABET).size).toBe(ALPHABET.length);
    expect(VOCABULARY).toBe(32);
    expect([...encode('07;_u ')]).toEqual([0, 7, 14, 15, 16, 25]);
  });

  it('round-trips every text over the alphabet', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ALPHABET)), (characters) => {
        const text = characters.join('');
        expect(decode(encode(text))).toBe(text);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('shows ids without a character by a visible placeholder', () => {
    for (let id = ALPHABET.length; id < VOCABULARY; id++) expect(decodeToken(id)).toBe(PLACEHOLDER);
    expect(decode([1, 31, 2])).toBe(`1${PLACEHOLDER}2`);
    expect(decode([0xffffffff, -1, 2.5])).toBe(PLACEHOLDER.repeat(3));
    expect(PLACEHOLDER.trim()).toHaveLength(1);
    expect(ALPHABET).not.toContain(PLACEHOLDER);
  });

  it('refuses a character outside the alphabet with what to do', () => {
    for (const bad of ['a', '1x', PLACEHOLDER, '\u{1f600}', '\n']) {
      expect(() => encode(bad)).toThrow(UserError);
    }
    try {
      encode('12q');
    } catch (error) {
      expect((error as UserError).message).toContain('"q"');
      expect((error as UserError).hint).toContain(ALPHABET);
    }
  });
});
