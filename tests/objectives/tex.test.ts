import katex from 'katex';
import { describe, expect, it } from 'vitest';
import { AGGREGATION_TEX, compactBatch, evaluateTokens, exprTex, objectiveTex, OBJECTIVES, resolveHyperparameters, type CompactBatch, type Hyperparameters, type Objective, type TexDefinition } from '../../src/objectives';
import { evaluateGraph } from '../../src/objectives/evaluate';
import * as x from '../../src/objectives/expr';
import { buildGraph } from '../../src/objectives/graph';
import { known, randomBatch } from '../helpers/lossBatch';
import { LISTED_AND_MIXED } from '../helpers/mixtures';
import { evaluateTex, type TexScope } from '../helpers/readTex';

const TOLERANCE = 1e-12;

/** Symbols of the leaves and hyperparameters, and of the definitions by reading those too. */
function scopeOf(c: CompactBatch, hyper: Hyperparameters, hyperTex: Map<string, string>, definitions: TexDefinition[]): TexScope {
  const plain = (tex: string) => tex.replace(/\\htmlClass\{level-\w+\}\{((?:[^{}]|\{[^{}]*\})*)\}/g, '$1');
  const leaves: Record<string, ArrayLike<number>> = {
    '\\log\\pi_\\theta(y_{i,t})': c.logp,
    '\\log\\pi_{\\text{old}}(y_{i,t})': c.oldLogp,
    '\\log\\pi_{\\text{ref}}(y_{i,t})': c.refLogp,
    '\\hat{A}_{i,t}': c.advantage,
    '\\frac{H_{i,k}}{\\bar{H}}': c.entropyRatio,
    'w_{i,t}': c.weight,
  };
  const defined = new Map<string, number[]>();
  const scope: TexScope = {
    symbol(tex, t) {
      if (leaves[tex]) return leaves[tex][t];
      for (const [name, symbol] of hyperTex) if (symbol === tex) return hyper[name];
      const definition = definitions.find((d) => plain(d.symbol) === tex);
      if (!definition) throw new Error(`unknown symbol ${tex}`);
      if (!defined.has(tex)) defined.set(tex, evaluateTex(definition.tex.slice(definition.symbol.length + 3), scope, c.count));
      return (defined.get(tex) as number[])[t];
    },
    unit(tex, t) {
      const [start, end] = tex === 'y_i' ? [c.seqStart[t], c.seqEnd[t]] : [c.segStart[t], c.segEnd[t]];
      return Array.from({ length: end - start }, (_, k) => start + k);
    },
  };
  return scope;
}

function expectSame(got: number[], want: ArrayLike<number>, what: string): void {
  got.forEach((v, t) => {
    if (!(Math.abs(v - want[t]) <= TOLERANCE * Math.max(1, Math.abs(want[t])))) throw new Error(`${what}, token ${t}: the formula says ${v}, the interpreter ${want[t]}`);
  });
}

const batch = () => randomBatch({ seed: 31, lengths: [1, 5, 12, 8], spread: 1.5, segments: 'random', advantages: [1, -1.2, 0.6, -0.3] });

describe('what is shown is what is computed', () => {
  const settings: [string, Record<string, number>][] = [
    ['defaults', {}],
    ['dual clip', { dualClip: 1.5 }],
    ['KL', { beta: 0.2 }],
    ['both', { dualClip: 3, beta: 0.04, clipLow: 0.1, clipHigh: 0.3 }],
  ];
  const cases = LISTED_AND_MIXED.flatMap((o) => settings.flatMap(([name, hyper]) => [true, false].map((colour) => [`${o.id}, ${name}${colour ? ', coloured' : ''}`, o, hyper, colour] as const)));

  it.each(cases)('%s', (_, objective: Objective, given, colour) => {
    const c = compactBatch(batch(), objective.lossAggMode);
    const hyper = resolveHyperparameters(objective, known(objective, given));
    const hyperTex = new Map(objective.hyperparameters.map((h) => [h.name, h.tex]));
    const { loss } = evaluateTokens(objective, c, hyper);
    const perToken = loss.map((l, t) => l / c.weight[t]);
    for (const options of [{ hyper }, {}]) {
      const shown = objectiveTex(objective, { ...options, colour });
      expectSame(evaluateTex(shown.tokenLoss, scopeOf(c, hyper, hyperTex, shown.definitions), c.count), perToken, shown.tokenLoss);
    }
  });

  it('a formula with min for max, or without its parentheses, would be noticed', () => {
    const objective = OBJECTIVES[0];
    const c = compactBatch(batch(), objective.lossAggMode);
    const hyper = resolveHyperparameters(objective);
    const hyperTex = new Map(objective.hyperparameters.map((h) => [h.name, h.tex]));
    const { tokenLoss, definitions } = objectiveTex(objective, { hyper, colour: false });
    const perToken = evaluateTokens(objective, c, hyper).loss.map((l, t) => l / c.weight[t]);
    const scope = scopeOf(c, hyper, hyperTex, definitions);
    for (const wrong of [tokenLoss.replace('\\min', '\\max'), tokenLoss.replace('1 - ', '1 + ')]) {
      expect(wrong).not.toBe(tokenLoss);
      expect(() => expectSame(evaluateTex(wrong, scope, c.count), perToken, 'wrong')).toThrow(/formula says/);
    }
  });
});

describe('precedence', () => {
  const { logp: a, oldLogp: b, refLogp: c } = x;
  const terms: Record<string, x.Expr> = {
    'product of sums': x.mul(x.sub(a, b), x.add(b, c)),
    'minus a sum': x.sub(a, x.add(b, c)),
    'minus a difference': x.sub(a, x.sub(b, c)),
    'minus a negative': x.sub(a, x.neg(b)),
    'negated sum': x.neg(x.add(a, b)),
    'product with a negative': x.mul(a, x.neg(b)),
    'negative times': x.mul(x.neg(a), b),
    'product of a product': x.mul(a, x.mul(b, c)),
    'quotient in a product': x.mul(x.div(a, x.add(b, 3)), c),
    'difference of k3': x.sub(a, x.k3(b)),
    'scaled k3 of a sum': x.mul(x.k3(x.sub(a, b)), 0.25),
    'expm1 in a product': x.mul(x.expm1(a), b),
    'mean in a product': x.mul(x.mean('sequence', x.add(a, b)), c),
    'mean of a product, plus': x.add(x.mean('segment', x.mul(a, b)), c),
    'minus a mean': x.sub(c, x.mean('segment', a)),
    'soft gate': x.mul(x.div(4, 1.05), x.sigmoid(x.mul(1.05, x.sub(x.exp(a), 1)))),
    'small and negative constants': x.add(x.mul(3e-7, a), x.mul(-2, b)),
    'logic': x.select(x.or(x.and(x.lt(a, b), x.or(x.gt(b, c), x.le(a, -1))), x.gt(a, -0.2)), x.sub(a, 1), x.neg(x.sub(b, c))),
    'stop-gradient of a sum, squared': x.mul(x.stopGrad(x.add(a, b)), x.stopGrad(x.add(a, b))),
    'root of a quotient': x.sqrt(x.div(x.mul(a, a), x.sub(2, b))),
  };
  it.each(Object.entries(terms))('%s', (name, e) => {
    const columns = compactBatch(batch(), 'token-mean');
    const { tex, definitions } = exprTex(e);
    const graph = buildGraph([e]);
    expectSame(evaluateTex(tex, scopeOf(columns, {}, new Map(), definitions), columns.count), evaluateGraph(graph, columns, {})[graph.roots[0]], `${name}: ${tex}`);
  });
});

describe('formulas', () => {
  it('leave out what is switched off, and only that', () => {
    const text = (id: string, given: Record<string, number>) => {
      const o = OBJECTIVES.find((candidate) => candidate.id === id) as Objective;
      const { loss, definitions } = objectiveTex(o, { hyper: resolveHyperparameters(o, given), colour: false });
      return [loss, ...definitions.map((d) => d.tex)].join('\n');
    };
    expect(text('grpo', {})).not.toMatch(/\\beta|cases/);
    expect(text('grpo', { beta: 0.1 })).toMatch(/\\beta/);
    expect(text('sppo', {})).toMatch(/\\text\{if \} \\hat\{A\}_\{i,t\} < 0/);
    expect(text('sppo', { dualClip: 0 })).not.toMatch(/cases/);
    expect(text('sspo', {})).toMatch(/\\kappa_\{\\text\{low\}\}/);
    expect(text('sspo', { entropyScaleLow: 1, entropyScaleHigh: 1 })).not.toMatch(/kappa|bar/);
    expect(text('grpo', {})).toMatch(/clamp.*-20/);
  });

  it('compile in KaTeX without errors, and carry the class of their level', () => {
    for (const objective of OBJECTIVES) {
      const { loss, definitions } = objectiveTex(objective);
      for (const tex of [loss, ...definitions.map((d) => d.tex)]) {
        const html = katex.renderToString(tex, { throwOnError: true, strict: (code: string) => (code === 'htmlExtension' ? 'ignore' : 'error'), trust: ({ command }) => command === '\\htmlClass' });
        expect(html).not.toContain('katex-error');
      }
      const level = `level-${objective.importanceSamplingLevel}`;
      expect([loss, ...definitions.map((d) => d.tex)].join(), objective.id).toContain(level);
    }
    for (const tex of Object.values(AGGREGATION_TEX)) katex.renderToString(tex, { throwOnError: true });
  });
});
