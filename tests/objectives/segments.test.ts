import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segmentTokens, SENTENCE_DELIMITERS, type SegmentOptions } from '../../src/objectives';

/** Tokens as text with a bar at each cut. */
const cut = (tokens: string[], options?: SegmentOptions) => {
  const ids = segmentTokens(tokens, options);
  return tokens.map((token, t) => (t > 0 && ids[t] !== ids[t - 1] ? `|${token}` : token)).join('');
};
const characters = (text: string) => [...text];

describe('cutting into subsentences', () => {
  it('ends a segment after a delimiter, which belongs to it', () => {
    expect(cut(characters('ab,c.d;e:f!g?h'))).toBe('ab,|c.|d;|e:|f!|g?|h');
    expect(cut(characters('一，二。三；四：五！六？七、八'))).toBe('一，|二。|三；|四：|五！|六？|七、|八');
  });

  it('cuts the addition task as its own delimiters say, between digits as well', () => {
    const options = { delimiters: ['.', ',', ';'], eos: ';' };
    expect(cut(characters('u8+3=11.t2+1+1=4.41;'), options)).toBe('u8+3=11.|t2+1+1=4.|41;');
    expect(cut(characters('u8+3=11.ok,t2+1=3.31;'), options)).toBe('u8+3=11.|ok,|t2+1=3.|31;');
  });

  it('keeps numbers whole by default: one token of look-ahead', () => {
    expect(cut(characters('pi is 3.14, or 1,000.'))).toBe('pi is 3.14,| or 1,000.');
    expect(cut(['x=3', '.', '14', '.', ' end'])).toBe('x=3.14.| end');
    expect(cut(['3.', '14'])).toBe('3.14');
    expect(cut(['3. ', '14'])).toBe('3. |14');
    expect(cut(characters('3.14'), { digitGuard: false })).toBe('3.|14');
    expect(cut(characters('3;4'))).toBe('3;|4');
  });

  it('looks at the text without trailing blanks, and a line break ends a segment too', () => {
    expect(cut(['Yes', '. ', 'No', '\n', 'So', ' \n\n', 'on'])).toBe('Yes. |No\n|So \n\n|on');
    expect(cut(['a', ' ', 'b'])).toBe('a b');
    expect(cut(['a\n', 'b'], { delimiters: ['.'] })).toBe('a\nb');
  });

  it('lets the end-of-text token join the last segment', () => {
    for (const eos of ['<eos>', '</s>', '<|endoftext|>', '<|im_end|>', '[EOS]', '']) expect(cut(['a', '.', 'b', '.', eos]), eos).toBe(`a.|b.${eos}`);
    expect(cut(['a', '.', '#'], { eos: '#' })).toBe('a.#');
    expect(cut(['a', '.', 'b'])).toBe('a.|b');
  });

  it('merges short segments into the next one, a short last one into the one before', () => {
    expect(cut(characters('a,bc,d,efg,h'), { minSegLen: 3 })).toBe('a,bc,|d,efg,h');
    expect(cut(characters('ab,c'), { minSegLen: 5 })).toBe('ab,c');
  });

  it('offers whole sentences', () => {
    expect(cut(characters('a,b.c;d!e'), { delimiters: SENTENCE_DELIMITERS })).toBe('a,b.|c;d!|e');
  });

  it('numbers segments from 0 without gaps, for any text', () => {
    const text = fc.array(fc.constantFrom('a', '1', '.', ',', ';', ' ', '\n', '2.', 'b, ', '<eos>'), { maxLength: 40 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 4 }), (tokens, minSegLen) => {
        const ids = segmentTokens(tokens, { minSegLen });
        expect(ids.length).toBe(tokens.length);
        ids.forEach((id, t) => expect(t === 0 ? id : id - ids[t - 1]).toBeLessThanOrEqual(t === 0 ? 0 : 1));
        ids.forEach((id, t) => expect(t === 0 || id >= ids[t - 1]).toBe(true));
        const sizes = new Map<number, number>();
        ids.forEach((id) => sizes.set(id, (sizes.get(id) ?? 0) + 1));
        if (sizes.size > 1) expect(Math.min(...sizes.values())).toBeGreaterThanOrEqual(minSegLen);
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});
