import { describe, expect, it } from 'vitest';
import { compactBatch, evaluateTokens, resolveHyperparameters, type CompactBatch, type Hyperparameters } from '../../src/objectives';
import { differentiate } from '../../src/objectives/differentiate';
import { evaluateGraph } from '../../src/objectives/evaluate';
import * as x from '../../src/objectives/expr';
import { buildGraph } from '../../src/objectives/graph';
import { hasClip, known, randomBatch } from '../helpers/lossBatch';
import { LISTED_AND_MIXED } from '../helpers/mixtures';

const H = 1e-6;
/** Central differences in f64 with step 1e-6: truncation about 1e-12, rounding about 1e-10 of the loss. */
const TOLERANCE = 1e-8;

const total = (column: Float64Array) => column.reduce((s, v) => s + v, 0);

/** d(sum of weight * loss)/dlogp_t by central differences, stop-gradients held at their values. */
function numericalGradient(loss: x.Expr, c: CompactBatch, hyper: Hyperparameters): Float64Array {
  const graph = buildGraph([x.mul(x.weight, loss)]);
  const base = evaluateGraph(graph, c, hyper);
  const frozen = new Map(graph.nodes.flatMap((node, i) => (node.expr.kind === 'stopGrad' ? [[i, base[i]] as const] : [])));
  const lossAt = (logp: Float64Array) => total(evaluateGraph(graph, { ...c, logp }, hyper, frozen)[graph.roots[0]]);
  return Float64Array.from({ length: c.count }, (_, t) => {
    const moved = (by: number) => lossAt(Float64Array.from(c.logp, (v, i) => (i === t ? v + by : v)));
    return (moved(H) - moved(-H)) / (2 * H);
  });
}

function compare(got: Float64Array, want: Float64Array, what: string): void {
  const scale = Math.max(1, ...got.map(Math.abs));
  got.forEach((value, t) => {
    if (!(Math.abs(value - want[t]) <= TOLERANCE * scale)) throw new Error(`${what}: token ${t}: ${value} against ${want[t]}`);
  });
}

describe('coefficients equal central differences', () => {
  const hypers = [{}, { clipLow: 0.1, clipHigh: 0.15, beta: 0.3, floor: 0.8, cap: 1.2, tauPos: 3 }, { clipLow: 0.25, clipHigh: 0.2, dualClip: 1.5, beta: 0.04, cap: 0.9, tauNeg: 0.5 }];
  it.each(LISTED_AND_MIXED.map((o) => [o.id, o] as const))('%s', (_, objective) => {
    let zeros = 0;
    let seed = 100;
    for (const given of hypers) {
      for (const segments of ['one', 'each', 'random'] as const) {
        for (const mode of ['seq-mean-token-mean', 'token-mean', 'seq-mean-token-sum', 'constant'] as const) {
          const batch = randomBatch({ seed: ++seed, lengths: [1, 2, 9, 5], spread: 0.8, segments, advantages: [1, -1.2, 0.3, -2] });
          const c = compactBatch(batch, mode);
          const hyper = resolveHyperparameters(objective, known(objective, given));
          const { coefficient } = evaluateTokens(objective, c, hyper);
          compare(coefficient, numericalGradient(objective.loss, c, hyper), `${objective.id} ${segments} ${mode} ${JSON.stringify(given)}`);
          zeros += coefficient.filter((v) => v === 0).length;
        }
      }
    }
    // A gradient that is never cut would not test the clip.
    if (objective.clipEffect === 'cut') expect(zeros).toBeGreaterThan(10);
    else expect(zeros).toBe(0);
  });

  it('holds for per-token advantages', () => {
    const batch = randomBatch({ seed: 9, lengths: [7, 12], spread: 0.5, segments: 'random', advantages: [1] });
    batch.advantages = batch.advantages.map((row, i) => Float64Array.from(row, (_, t) => Math.sin(3 * t + i)));
    for (const objective of LISTED_AND_MIXED) {
      const c = compactBatch(batch, 'token-mean');
      const hyper = resolveHyperparameters(objective, known(objective, { clipLow: 0.1, clipHigh: 0.1 }));
      compare(evaluateTokens(objective, c, hyper).coefficient, numericalGradient(objective.loss, c, hyper), objective.id);
    }
  });
});

describe('the flag and the coefficient agree', () => {
  it.each(LISTED_AND_MIXED.filter((o) => o.clipEffect !== 'hold').map((o) => [o.id, o] as const))('%s: without KL, a live token is flagged exactly when its coefficient is 0', (_, objective) => {
    let flagged = 0;
    for (let seed = 1; seed <= 30; seed++) {
      const batch = randomBatch({ seed, lengths: [3, 10, 33], spread: 0.7, segments: 'random', advantages: [1, -1, 0] });
      const c = compactBatch(batch, objective.lossAggMode);
      const { coefficient, clipped } = evaluateTokens(objective, c, resolveHyperparameters(objective, seed % 2 ? {} : known(objective, { dualClip: 1.2 })));
      for (let t = 0; t < c.count; t++) {
        if (c.advantage[t] !== 0) expect(coefficient[t] === 0, `seed ${seed}, token ${t}`).toBe(clipped[t] === 1);
        else expect([coefficient[t] + 0, clipped[t]]).toEqual([0, 0]);
        flagged += clipped[t];
      }
    }
    if (hasClip(objective)) expect(flagged).toBeGreaterThan(10);
    else expect(flagged).toBe(0);
  });
});

describe('every node kind, alone and mixed', () => {
  const u = x.sub(x.logp, x.oldLogp);
  const s = x.mean('sequence', u);
  const k = x.mean('segment', u);
  const terms: Record<string, x.Expr> = {
    unary: x.add(x.add(x.exp(u), x.log(x.add(3, x.exp(u)))), x.sub(x.sqrt(x.add(2, u)), x.mul(x.sigmoid(x.mul(2, u)), x.neg(u)))),
    'k3 and expm1': x.add(x.k3(u), x.mul(x.expm1(u), x.refLogp)),
    'products and quotients': x.div(x.mul(u, x.add(u, 2)), x.add(x.mul(u, u), 1.5)),
    'min and max': x.add(x.min(x.mul(u, 2), x.add(u, 0.1)), x.max(x.exp(u), x.sub(1.2, u))),
    'clip with moving bounds': x.clip(u, x.mul(-0.5, x.exp(s)), x.add(0.2, x.mul(0.3, k))),
    select: x.select(x.or(x.and(x.gt(u, 0.1), x.lt(k, 0.3)), x.le(s, -0.2)), x.mul(u, u), x.mul(3, u)),
    'mean of a mean': x.mul(x.mean('sequence', x.mul(x.exp(k), x.exp(u))), x.mean('segment', x.mul(s, x.mul(u, u)))),
    'stop-gradient inside a mean': x.mul(x.mean('segment', x.mul(x.stopGrad(x.exp(u)), x.logp)), x.stopGrad(s)),
    // GMPO clips before it averages (arXiv 2507.20673).
    'clip before the mean': x.neg(x.mul(x.advantage, x.exp(x.mean('sequence', x.select(x.gt(x.advantage, 0), x.min(u, 0.25), x.max(u, -0.25)))))),
    // SAPO: a soft gate instead of a clip.
    'a soft gate': x.neg(x.mul(x.advantage, x.div(x.mul(4, x.sigmoid(x.sub(x.exp(u), 1))), 1.05))),
  };
  it.each(Object.entries(terms))('%s', (name, loss) => {
    const c = compactBatch(randomBatch({ seed: 21, lengths: [1, 6, 11], spread: 0.6, segments: 'random', advantages: [1, -1, 0.5] }), 'seq-mean-token-mean');
    const graph = buildGraph([differentiate(loss)]);
    compare(evaluateGraph(graph, c, {})[graph.roots[0]], numericalGradient(loss, c, {}), name);
  });

  it('is zero where nothing depends on the policy', () => {
    expect(differentiate(x.mul(x.advantage, x.stopGrad(x.logp)))).toEqual(x.constant(0));
  });

  it('follows the first argument on a tie, and passes the full gradient on a bound', () => {
    const c = { count: 1, logp: [1], oldLogp: [1], refLogp: [0], advantage: [1], entropyRatio: [1], weight: [1], segStart: [0], segEnd: [1], seqStart: [0], seqEnd: [1] };
    const at = (e: x.Expr) => {
      const graph = buildGraph([differentiate(e)]);
      return evaluateGraph(graph, c, {})[graph.roots[0]][0];
    };
    expect(at(x.min(x.mul(2, x.logp), x.mul(3, x.sub(x.logp, 1 / 3))))).toBe(2);
    expect(at(x.max(x.mul(2, x.logp), x.mul(3, x.sub(x.logp, 1 / 3))))).toBe(2);
    expect([at(x.clip(x.logp, 0, 1)), at(x.clip(x.logp, 1, 2)), at(x.clip(x.logp, 0, 0.9))]).toEqual([1, 1, 0]);
  });
});
