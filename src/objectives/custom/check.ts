import { compactBatch } from '../compact';
import { evaluateGraph, type GraphValues } from '../evaluate';
import { coefficientOf } from '../evaluateObjective';
import { mul, weight, type Expr } from '../expr';
import { buildGraph, type Graph } from '../graph';
import { resolveHyperparameters, type Objective } from '../objective';
import type { Hyperparameters, ObjectiveBatch } from '../types';
import { Rng } from '../../core/rng';

/** Verdict of the comparison of the exact gradient with central differences. */
export interface DifferenceCheck {
  ok: boolean;
  /** Tokens compared, and tokens left out because a branch changes within the step. */
  compared: number;
  skipped: number;
  /** Largest difference over the largest coefficient. */
  maxError: number;
}

/** Steps of the differences, nats: the better of the two counts, since rounding and truncation trade places with the loss's curvature. */
const STEPS = [1e-4, 1e-6];
/** Central differences in f64 reach about 1e-9 of the greatest coefficient on an ordinary loss; a wrong derivative is off by about 1. */
const TOLERANCE = 1e-6;

/** A seeded batch: three answers, cut at random into subsentences, with ratios on both sides of every usual band. */
export function checkBatch(seed = 7): ObjectiveBatch {
  const rng = new Rng(seed, 41);
  const lengths = [1, 8, 5];
  const T = 8;
  const table = (draw: (row: number, t: number) => number) => lengths.map((_, r) => Float64Array.from({ length: T }, (_v, t) => draw(r, t)));
  const oldLogp = table(() => -0.3 - 3 * rng.uniform());
  const newLogp = oldLogp.map((row) => row.map((v) => Math.min(-1e-3, v + 0.7 * (2 * rng.uniform() - 1))));
  let id = 0;
  return {
    oldLogp,
    newLogp,
    refLogp: newLogp.map((row) => row.map((v) => v + 0.3 * rng.normal())),
    mask: lengths.map((n) => Uint8Array.from({ length: T }, (_, t) => (t < n ? 1 : 0))),
    segments: table((_, t) => (t === 0 ? (id = 0) : rng.uniform() < 0.35 ? ++id : id)),
    entropy: table(() => 0.1 + 2 * rng.uniform()),
    advantages: [1, -1.2, 0.6].map((a) => new Float64Array(T).fill(a)),
    maxTokens: T,
  };
}

/** Which way every branch goes at every token. Two equal lists: the loss is smooth between them. */
function branches(graph: Graph, values: GraphValues, n: number): number[] {
  const out: number[] = [];
  graph.nodes.forEach((node, i) => {
    const e = node.expr;
    const arg = (k: number) => values[node.args[k]];
    for (let t = 0; t < n; t++) {
      if (e.kind === 'clip') out.push(arg(0)[t] < arg(1)[t] ? -1 : arg(0)[t] > arg(2)[t] ? 1 : 0);
      else if (e.kind === 'binary' && (e.op === 'min' || e.op === 'max')) out.push(Math.sign(arg(0)[t] - arg(1)[t]));
      else if (e.kind === 'binary' && (e.op === 'lt' || e.op === 'le')) out.push(values[i][t]);
    }
  });
  return out;
}

/**
 * Compares an objective's coefficients with central differences of its loss, in f64, stop-gradients held; takes a few ms.
 * @param coefficient the gradient to be checked: the exact one unless told
 */
export function checkDifferences(objective: Objective, given: Readonly<Record<string, number>> = {}, coefficient: Expr = coefficientOf(objective)): DifferenceCheck {
  const hyper: Hyperparameters = resolveHyperparameters(objective, given);
  const c = compactBatch(checkBatch(), objective.lossAggMode);
  const graph = buildGraph([mul(weight, objective.loss)]);
  const base = evaluateGraph(graph, c, hyper);
  const frozen = new Map(graph.nodes.flatMap((node, i) => (node.expr.kind === 'stopGrad' ? [[i, base[i]] as const] : [])));
  const gradient = buildGraph([coefficient]);
  const exact = evaluateGraph(gradient, c, hyper)[gradient.roots[0]];
  const scale = Math.max(1e-9, ...exact.map(Math.abs));
  const at = (t: number, by: number) => {
    const values = evaluateGraph(graph, { ...c, logp: c.logp.map((v, i) => (i === t ? v + by : v)) }, hyper, frozen);
    return { loss: values[graph.roots[0]].reduce((s, v) => s + v, 0), branches: branches(graph, values, c.count) };
  };
  const result: DifferenceCheck = { ok: true, compared: 0, skipped: 0, maxError: 0 };
  for (let t = 0; t < c.count; t++) {
    let error = Infinity;
    for (const h of STEPS) {
      const [up, down] = [at(t, h), at(t, -h)];
      if (up.branches.some((way, i) => way !== down.branches[i])) continue;
      const found = Math.abs((up.loss - down.loss) / (2 * h) - exact[t]) / scale;
      error = Math.min(error, Number.isNaN(found) ? Number.MAX_VALUE : found);
    }
    if (error === Infinity) {
      result.skipped++;
      continue;
    }
    result.compared++;
    result.maxError = Math.max(result.maxError, error);
  }
  result.ok = result.compared > 0 && result.maxError <= TOLERANCE;
  return result;
}
