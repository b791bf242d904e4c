import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { decodeLens, encodeLens, isPlainBand, LENS_NAMES, lensSettingsOf, segmentsOf, segmentsOfRow, startsOf, type LensSettings, type LensSource, type SegmentRule } from '../../src/lens';
import { OBJECTIVES, quantile, segmentTokens } from '../../src/objectives';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';
import { MIXTURES } from '../helpers/mixtures';

const FAST = { seed: 7041776, numRuns: 60 };
const base = lensSettingsOf(presetConfig('grpo', 'small'));

/** Two answers with marks, a line break and an end token. */
function textSource(): LensSource {
  const texts = [[...'1+2=3,c0.\n4;'], [...'ab,cd']];
  return recordOf(randomBatch({ seed: 3, lengths: texts.map((t) => t.length), spread: 0.1, segments: 'random', advantages: [1, -1] }), 'grpo', { texts });
}
const cut = (rule: SegmentRule, change: Partial<LensSettings> = {}) => segmentsOf(textSource(), { ...base, rule, ...change }).map((ids) => startsOf(ids));

describe('settings of a run', () => {
  it('show a batch as it was trained', () => {
    const config = { ...presetConfig('sppo', 'small'), lossAggMode: 'seq-mean-token-mean' as const, dualClip: 3, beta: 0.1 };
    const settings = lensSettingsOf(config);
    // SPPO's own rule is token-mean: another one was chosen, so it holds for all; the dual clip is SPPO's own.
    expect([settings.lossAggMode, settings.dualClip, settings.beta, settings.rule.kind]).toEqual(['seq-mean-token-mean', 'own', 0.1, 'stored']);
    expect(settings.widths.sequence).toEqual({ low: config.clipLowSequence, high: config.clipHighSequence });
  });

  it('reach only the objectives whose band is 1 - low k to 1 + high k', () => {
    const plain = OBJECTIVES.filter(isPlainBand).map((o) => o.id);
    expect(plain).toEqual(expect.arrayContaining(['dapo', 'drGrpo', 'grpo', 'gspo', 'gspoToken', 'lpo', 'ppo', 'sppo', 'sspo']));
    expect(['gmpo', 'cispo', 'dcpo', 'sapo', 'reinforce', 'rft'].filter((id) => plain.includes(id))).toEqual([]);
    expect(MIXTURES.every(isPlainBand)).toBe(true);
  });
});

describe('cutting rules', () => {
  it('stored: as the batch has it', () => {
    const source = textSource();
    expect(segmentsOf(source, base)).toEqual(source.record.completions.map((row) => startsFrom(startsOf(row.segments), row.tokens.length)));
  });

  it('delimiters, newline, every n, whole', () => {
    expect(cut({ kind: 'delimiters', marks: [',', '.'] })).toEqual([[6, 9], [3]]);
    expect(cut({ kind: 'delimiters', marks: ['='] })).toEqual([[4], []]);
    expect(cut({ kind: 'newline' })).toEqual([[10], []]);
    expect(cut({ kind: 'everyN', n: 5 })).toEqual([[5, 10], []]);
    expect(cut({ kind: 'everyN', n: 1 })[1]).toEqual([1, 2, 3, 4]);
    expect(cut({ kind: 'whole' })).toEqual([[], []]);
  });

  it('the end token never stands alone', () => {
    const texts = [[...'12,', ';']];
    const source = recordOf(randomBatch({ seed: 3, lengths: [4], spread: 0.1, segments: 'one', advantages: [1] }), 'grpo', { texts });
    expect(startsOf(segmentsOf(source, { ...base, rule: { kind: 'delimiters', marks: [','] } })[0])).toEqual([]);
    expect(startsOf(segmentsOf({ ...source, eos: null }, { ...base, rule: { kind: 'delimiters', marks: [','] } })[0])).toEqual([3]);
  });

  it('entropy peaks open a subsentence where entropy passes the quantile of the whole batch', () => {
    const source = textSource();
    const all = source.record.completions.flatMap((row) => Array.from(row.entropy)).sort((a, b) => a - b);
    const threshold = quantile(all, 0.7);
    const want = source.record.completions.map((row) => Array.from(row.entropy.keys()).filter((t) => t > 0 && row.entropy[t] > threshold));
    expect(cut({ kind: 'entropyPeaks', quantile: 0.7 })).toEqual(want);
    expect(want.flat().length).toBeGreaterThan(2);
    expect(cut({ kind: 'entropyPeaks', quantile: 1 })).toEqual([[], []]);
  });

  it('the minimum length merges short ones onwards, the last one backwards, as segmentTokens does', () => {
    expect(cut({ kind: 'everyN', n: 2 }, { minLength: 3 })).toEqual([[4, 8], []]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '1', ',', '.'), { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 6 }), (tokens, least) => {
        const cuts = segmentTokens(tokens, { delimiters: [',', '.'] });
        const source = recordOf(randomBatch({ seed: 3, lengths: [tokens.length], spread: 0.1, segments: 'one', advantages: [1] }), 'grpo', { texts: [tokens] });
        source.record.completions[0].segments = cuts;
        expect(segmentsOf({ ...source, eos: null }, { ...base, minLength: least })[0]).toEqual(segmentTokens(tokens, { delimiters: [',', '.'], minSegLen: least }));
      }),
      FAST,
    );
  });

  it('hand-edited cuts stand for their answer alone, whatever the rule and the minimum', () => {
    expect(cut({ kind: 'whole' }, { edits: { 1: [2, 3] }, minLength: 4 })).toEqual([[], [2, 3]]);
    expect(cut({ kind: 'everyN', n: 4 }, { edits: { 0: [] } })).toEqual([[], [4]]);
    // Places that cut nothing are let pass.
    expect(cut({ kind: 'whole' }, { edits: { 1: [0, 4, 5, 99] } })[1]).toEqual([4]);
  });

  it('one row alone is cut as in the batch', () => {
    for (const rule of [{ kind: 'stored' }, { kind: 'entropyPeaks', quantile: 0.6 }, { kind: 'everyN', n: 3 }] as const) {
      const source = textSource();
      const settings = { ...base, rule };
      segmentsOf(source, settings).forEach((ids, i) => expect(segmentsOfRow(source, settings, i)).toEqual(ids));
    }
  });
});

function startsFrom(starts: readonly number[], length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, t) => starts.filter((s) => s <= t).length);
}

describe('a link', () => {
  const width = fc.double({ min: 1e-6, max: 1, noNaN: true });
  const widthPair = fc.record({ low: width, high: fc.double({ min: 1e-6, max: 10, noNaN: true }) });
  const anySettings: fc.Arbitrary<LensSettings> = fc.record({
    widths: fc.record({ token: widthPair, segment: widthPair, sequence: widthPair }),
    overrides: fc.dictionary(fc.constantFrom('grpo', 'gspo', 'sspo'), widthPair, { maxKeys: 3, noNullPrototype: true }),
    rule: fc.oneof(
      fc.constantFrom<SegmentRule>({ kind: 'stored' }, { kind: 'newline' }, { kind: 'whole' }),
      fc.integer({ min: 1, max: 512 }).map((n): SegmentRule => ({ kind: 'everyN', n })),
      fc.double({ min: 0, max: 1, noNaN: true }).map((q): SegmentRule => ({ kind: 'entropyPeaks', quantile: q })),
      fc.uniqueArray(fc.constantFrom('.', ',', ';', ':', '&', '=', '#', '\n', '%', ' ', '，'), { maxLength: 6 }).map((marks): SegmentRule => ({ kind: 'delimiters', marks })),
    ),
    minLength: fc.integer({ min: 1, max: 64 }),
    edits: fc.dictionary(fc.nat(200).map(String), fc.uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: 6 }).map((cuts) => cuts.sort((a, b) => a - b)), { maxKeys: 4, noNullPrototype: true }),
    entropyScaleLow: fc.double({ min: 0, max: 1, noNaN: true }),
    entropyScaleHigh: fc.double({ min: 1, max: 10, noNaN: true }),
    lossAggMode: fc.constantFrom<LensSettings['lossAggMode']>('own', 'token-mean', 'constant'),
    dualClip: fc.oneof(fc.constantFrom<LensSettings['dualClip']>('own', 0), fc.double({ min: 1.0001, max: 1000, noNaN: true })),
    beta: fc.double({ min: 0, max: 10, noNaN: true }),
    minibatch: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 64 })),
  });

  it('gives the same settings back, through percent-encoding too', () => {
    fc.assert(
      fc.property(anySettings, anySettings, (settings, from) => {
        const text = [...encodeLens(settings, from)].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
        const values = new Map(text === '' ? [] : text.split('&').map((part) => part.split('=')).map(([name, value]) => [name, decodeURIComponent(value)] as const));
        const { settings: back, problems } = decodeLens(values, from);
        expect(problems).toEqual([]);
        // A width below 1 counts from 0 on: no sign of zero is lost that could be asked for.
        expect(back).toEqual(settings);
      }),
      FAST,
    );
  });

  it('says nothing about what is as in the run', () => {
    expect(encodeLens(base, base).size).toBe(0);
    expect([...encodeLens({ ...base, widths: { ...base.widths, token: { low: 0.2, high: 0.28 } }, rule: { kind: 'everyN', n: 6 } }, base)]).toEqual([['lensToken', '0.2/0.28'], ['lensRule', 'every:6']]);
  });

  it('takes any text: a bad value leaves the run’s, with a notice', () => {
    const bad: Record<string, string[]> = {
      lensToken: ['', 'x', '-1', '0', '0.2/', '1/2/3', 'NaN', 'Infinity', '11', '2/0.1', '1e-9'],
      lensSegment: ['1e400'],
      lensSequence: ['0x'],
      lensEps: ['grpo', 'grpo:x', 'nope:0.1', 'grpo:0.1:2', '__proto__:0.1', ','],
      lensRule: ['', 'sometimes', 'every:', 'every:0', 'every:2.5', 'every:1e9', 'peaks:2', 'peaks:', `marks:${'a'.repeat(200)}`],
      lensMin: ['0', '65', '1.5', ''],
      lensCuts: ['1', '1:2:3', '1:0', '1:3.2', 'x:1', '1:a', '-1:2', ','],
      lensKappa: ['1', '2/3', '0.5/0.9', 'a/b', '0.5/2/3'],
      lensAgg: ['mean', '', 'toString'],
      lensDual: ['1', '0.5', '-1', '2000', ''],
      lensBeta: ['-1', '11', 'x'],
      lensUpdate: ['0', '1.5', 'last', ''],
    };
    expect(Object.keys(bad).sort()).toEqual([...LENS_NAMES].sort());
    for (const [name, texts] of Object.entries(bad)) {
      for (const text of [...texts, 'z'.repeat(5000)]) {
        const { settings, problems } = decodeLens(new Map([[name, text]]), base);
        expect([name, text, settings]).toEqual([name, text, base]);
        expect([problems.length, problems[0]?.field]).toEqual([1, name]);
        expect(problems[0]?.message.length).toBeLessThan(200);
      }
    }
  });

  it('never throws, and what it reads is always in bounds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...LENS_NAMES, 'other'), fc.string({ unit: 'binary', maxLength: 40 })), (values) => {
        const { settings } = decodeLens(new Map(Object.entries(values)), base);
        for (const { low, high } of [...Object.values(settings.widths), ...Object.values(settings.overrides)]) expect(low > 0 && low <= 1 && high > 0 && high <= 10).toBe(true);
        expect(settings.minLength >= 1 && settings.entropyScaleLow <= 1 && settings.entropyScaleHigh >= 1).toBe(true);
      }),
      { ...FAST, numRuns: 1000 },
    );
  });

  it('keeps the base as it is', () => {
    const before = structuredClone(base);
    decodeLens(new Map([['lensToken', '0.5'], ['lensCuts', '0:3']]), base);
    expect(base).toEqual(before);
  });
});
