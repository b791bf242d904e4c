import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/fields';
import type { RunConfig } from '../../src/config/runConfig';
import type { BatchRecord, CompletionRecord } from '../../src/worker/protocol';
import { branches, inspectToken, surrogateOf } from '../../src/ui/text/inspect';
import { isSingleAnswers, judge, markRows, segmentSpans, shownCompletions } from '../../src/ui/text/marks';

/** Fixture A of the specification: two rows, sign of A differs, log ratios chosen round the bands. */
function row(delta: readonly number[], segments: readonly number[], advantage: number, group = 0): CompletionRecord {
  const oldLogp = Float32Array.from(delta.map((_, t) => -0.5 - 0.1 * t));
  return {
    group,
    tokens: delta.map((_, t) => 'abcdef'[t] as string),
    oldLogp,
    newLogp: oldLogp.map((logp, t) => logp + (delta[t] as number)),
    entropy: Float32Array.from([2, 1, 0.5, 0.1].slice(0, delta.length)),
    refLogp: null,
    segments: Uint32Array.from(segments),
    reward: advantage > 0 ? 1 : 0,
    advantage,
    advantages: null,
    value: null,
    values: null,
    minibatch: 1,
  };
}

const good = row([0.3, -0.1, 0.06, 0.24], [0, 0, 1, 1], 1);
const bad = row([-0.45, 0.25, 0.05], [0, 0, 1], -1);

function config(patch: Partial<RunConfig> = {}): RunConfig {
  return {
    ...defaultConfig(),
    objective: 'grpo',
    clipLowToken: 0.2, clipHighToken: 0.2,
    clipLowSegment: 0.03, clipHighSegment: 0.03,
    clipLowSequence: 0.03, clipHighSequence: 0.14,
    entropyScaleLow: 1, entropyScaleHigh: 1, dualClip: 0, beta: 0,
    ...patch,
  };
}

function batchOf(completions: CompletionRecord[], patch: Partial<RunConfig> = {}): BatchRecord {
  return { step: 3, objective: 'grpo', config: config(patch), prompts: ['1+1='], completions, meanEntropy: 0.8 };
}

describe('marks of a stored batch (clip flags of algorithms.md section 10)', () => {
  const batch = batchOf([good, bad]);
  const [first, second] = markRows(batch, batch.completions, config());

  it('marks tokens at the token width as T1 does: 1001 and 100', () => {
    expect(first?.tokens.map((m) => m.verdict)).toEqual(['clipped', 'inside', 'inside', 'clipped']);
    expect(second?.tokens.map((m) => m.verdict)).toEqual(['clipped', 'kept', 'inside']);
    expect(first?.tokens.map((m) => m.side)).toEqual(['high', null, null, 'high']);
    expect(second?.tokens.map((m) => m.side)).toEqual(['low', 'high', null]);
  });

  it('marks subsentences at their own width as P1 does: 11 and 10', () => {
    expect(first?.segments.map((m) => m.verdict)).toEqual(['clipped', 'clipped']);
    expect(second?.segments.map((m) => m.verdict)).toEqual(['clipped', 'kept']);
    expect(first?.segments.map((m) => [m.start, m.end])).toEqual([[0, 2], [2, 4]]);
    expect(first?.segments[0]?.ratio).toBeCloseTo(1.105171, 5);
    expect(second?.segments[1]?.ratio).toBeCloseTo(1.051271, 5);
  });

  it('marks sequences at their own width as S3 does: 0 and 1', () => {
    expect(first?.sequence.verdict).toBe('inside');
    expect(second?.sequence.verdict).toBe('clipped');
    expect(first?.sequence.ratio).toBeCloseTo(1.133148, 5);
    expect(second?.sequence.ratio).toBeCloseTo(0.951229, 5);
  });

  it('weighs a token by |A| times the ratio, and by 0 when clipped', () => {
    expect(first?.tokens[0]?.weight).toBe(0);
    expect(first?.tokens[1]?.weight).toBeCloseTo(0.904837, 5);
    expect(second?.tokens[1]?.weight).toBeCloseTo(1.284025, 5);
  });

  it('moves the bands of SSPO with entropy, as P3 does: 01 and 00', () => {
    const scaled = config({ objective: 'sspo', clipLowSegment: 0.1, clipHighSegment: 0.1, entropyScaleLow: 0.5, entropyScaleHigh: 2 });
    const rows = [good, { ...bad, entropy: Float32Array.from([1.2, 0.6, 0.2]) }];
    const marks = markRows({ ...batch, completions: rows }, rows, scaled);
    expect(marks[0]?.segments.map((m) => m.verdict)).toEqual(['inside', 'clipped']);
    // 1.051271 lies above 1.05, but with A < 0: outside, its gradient kept.
    expect(marks[1]?.segments.map((m) => m.verdict)).toEqual(['inside', 'kept']);
    expect(marks[0]?.segments[0]?.high).toBeCloseTo(1.1875, 6);
    expect(marks[0]?.segments[1]?.high).toBeCloseTo(1.05, 6);
  });

  it('clips nothing where the advantage is 0, but still says what lies outside', () => {
    const marks = judge('grpo', [{ ...good, advantage: 0 }], config(), 0.8);
    expect(marks[0]?.map((m) => m.verdict)).toEqual(['kept', 'inside', 'inside', 'kept']);
    expect(marks[0]?.every((m) => m.weight === 0)).toBe(true);
  });

  it('judges rows the same alone and together', () => {
    expect(judge('gspo', [bad], config(), 0.8)[0]).toEqual(judge('gspo', [good, bad], config(), 0.8)[1]);
    expect(judge('gspo', [], config(), 0.8)).toEqual([]);
  });
});

describe('rows on show', () => {
  it('finds runs of subsentence ids', () => {
    expect(segmentSpans([0, 0, 1, 2, 2])).toEqual([{ start: 0, end: 2 }, { start: 2, end: 3 }, { start: 3, end: 5 }]);
    expect(segmentSpans([])).toEqual([]);
  });

  it('takes one group, or with single answers a page of prompts', () => {
    const grouped = { ...batchOf([row([0], [0], 1, 0), row([0], [0], 1, 0), row([0], [0], 1, 1)]), prompts: ['a', 'b'] };
    expect(isSingleAnswers(grouped)).toBe(false);
    expect(shownCompletions(grouped, 0, 1)).toEqual([0, 1]);
    const single = { ...batchOf([0, 1, 2, 3].map((g) => row([0], [0], 1, g))), prompts: ['a', 'b', 'c', 'd'] };
    expect(isSingleAnswers(single)).toBe(true);
    expect(shownCompletions(single, 1, 2)).toEqual([1, 2]);
  });
});

describe('one token', () => {
  const batch = batchOf([good, bad]);

  it('asks every objective about it with its own ratio, edge and verdict', () => {
    const facts = inspectToken(batch, { completion: 1, token: 0 }, config());
    expect(facts?.others.map((line) => line.objective)).toEqual(['grpo', 'sspo', 'gspo', 'sppo']);
    expect(facts?.others.map((line) => line.mark.verdict)).toEqual(['clipped', 'clipped', 'clipped', 'clipped']);
    expect(facts?.others.map((line) => line.edge)).toEqual([0.8, 0.97, 0.97, 0.8]);
    expect(facts?.segment).toEqual({ text: 'ab', before: '', after: 'b', number: 1, count: 2 });
    expect(facts?.rowName).toBe('row 2');
    expect(facts?.sppoNote).not.toBeNull();
  });

  it('gives SPPO its own advantage where V(prompt) is known', () => {
    const valued = batchOf([{ ...good, value: 0.83 }]);
    const facts = inspectToken(valued, { completion: 0, token: 1 }, config());
    expect(facts?.others[3]?.advantage).toBeCloseTo(0.17, 12);
    expect(facts?.others[0]?.advantage).toBe(1);
    expect(facts?.sppoNote).toBeNull();
  });

  it('puts a mixture in its base’s place, with no branches where another ratio weighs', () => {
    const ask = (objective: string) => inspectToken(batch, { completion: 1, token: 0 }, config({ objective }));
    expect(ask('grpo@token/sequence')?.others.map((line) => line.objective)).toEqual(['grpo@token/sequence', 'sspo', 'gspo', 'sppo']);
    expect(ask('lpo@sequence')?.others.map((line) => line.objective)).toEqual(['grpo', 'lpo@sequence', 'gspo', 'sppo']);
    expect([ask('grpo@token/sequence')?.surrogate, ask('grpo@sequence')?.surrogate?.winner]).toEqual([null, 'clipped']);
  });

  it('is null for an address that points nowhere', () => {
    expect(inspectToken(batch, { completion: 7, token: 0 }, config())).toBeNull();
    expect(inspectToken(batch, { completion: 0, token: 4 }, config())).toBeNull();
  });

  it('shows numbers only where the objective itself agrees with them', () => {
    for (const objective of ['grpo', 'sspo', 'gspo', 'sppo', 'lpo']) {
      for (const [completion, tokens] of [[0, 4], [1, 3]] as const) {
        for (let token = 0; token < tokens; token++) {
          for (const dualClip of [0, 1.1]) {
            const facts = inspectToken(batch, { completion, token }, config({ objective, dualClip }));
            expect(facts?.surrogate, `${objective} row ${completion} token ${token} c ${dualClip}`).not.toBeNull();
          }
        }
      }
    }
    const facts = inspectToken(batch, { completion: 0, token: 1 }, config());
    if (!facts) throw new Error('no token there');
    const other = { ...facts.inUse, mark: { ...facts.inUse.mark, loss: facts.inUse.mark.loss + 0.01 } };
    expect(surrogateOf(other, 0)).toBeNull();
  });

  it('names the branch that won', () => {
    const at = (completion: number, token: number, dualClip = 0) => {
      const facts = inspectToken(batch, { completion, token }, config({ dualClip }));
      if (!facts) throw new Error('no token there');
      return branches(facts.inUse, dualClip);
    };
    expect(at(0, 0).winner).toBe('clipped');
    expect(at(0, 0).clipped).toBeCloseTo(1.2, 12);
    expect(at(0, 1).winner).toBe('tie');
    expect(at(1, 0).winner).toBe('clipped');
    expect(at(1, 1).winner).toBe('plain');
    expect(at(1, 1, 1.1).winner).toBe('dual');
    expect(at(1, 1, 1.1).dual).toBeCloseTo(-1.1, 12);
  });
});
