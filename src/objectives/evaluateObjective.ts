import { UserError } from '../core/errors';
import { compactBatch, scatter, type CompactBatch } from './compact';
import { differentiate } from './differentiate';
import { evaluateGraph, unitMeans } from './evaluate';
import { constant, exp, clamp, mul, weight, LOG_RATIO_CLAMP, type Expr } from './expr';
import { buildGraph, type Graph } from './graph';
import { resolveHyperparameters, type Objective } from './objective';
import type { Hyperparameters, LossAggMode, ObjectiveBatch, ObjectiveResult, TokenColumns, TokenLossColumns, TokenLossReference } from './types';

/** What one objective says about every token of a batch, and the widths of its band there (Infinity without one); columns [n] in f64. */
export interface TokenResults extends TokenLossColumns {
  low: Float64Array;
  high: Float64Array;
}

const ROOTS = ['coefficient', 'loss', 'logRatio', 'clipped', 'low', 'high'] as const;
const UNBOUNDED = constant(Infinity);
const graphs = new WeakMap<Objective, Graph>();

/** The coefficient of an objective as an expression. */
export const coefficientOf = (objective: Objective): Expr => differentiate(objective.loss);

function graphOf(objective: Objective): Graph {
  let graph = graphs.get(objective);
  if (!graph) {
    const { low, high } = objective.widths ?? { low: UNBOUNDED, high: UNBOUNDED };
    graph = buildGraph([coefficientOf(objective), mul(weight, objective.loss), objective.logRatio, objective.clipped, low, high]);
    graphs.set(objective, graph);
  }
  return graph;
}

/** One token of old probability 1/2 and average entropy: where a band that moves with the token is quoted as one pair of widths. */
const NEUTRAL: TokenColumns = {
  ...{ count: 1, logp: [-Math.LN2], oldLogp: [-Math.LN2], refLogp: [-Math.LN2], advantage: [0], weight: [1], entropy: [0.5], entropyRatio: [1] },
  ...{ segStart: [0], segEnd: [1], seqStart: [0], seqEnd: [1] },
};

/**
 * The widths of an objective's band as one pair of ratios' distances from 1, whatever its parameters mean (log widths, an absolute
 * cap, bounds that follow the old probability: then at probability 1/2); null when it has no band.
 */
export function nominalWidths(objective: Objective, hyper: Hyperparameters): { low: number; high: number } | null {
  if (!objective.widths) return null;
  const graph = buildGraph([objective.widths.low, objective.widths.high]);
  const values = evaluateGraph(graph, NEUTRAL, hyper);
  return { low: values[graph.roots[0]][0], high: values[graph.roots[1]][0] };
}

/** Evaluates an objective on columns of tokens; `hyper` must be complete (resolveHyperparameters). */
export function evaluateTokens(objective: Objective, columns: TokenColumns, hyper: Hyperparameters): TokenResults {
  const graph = graphOf(objective);
  const values = evaluateGraph(graph, columns, hyper);
  return Object.fromEntries(ROOTS.map((name, i) => [name, values[graph.roots[i]]])) as Record<(typeof ROOTS)[number], Float64Array>;
}

/** The objective as a function of columns, for the kernel's twin. */
export const tokenLossReference =
  (objective: Objective): TokenLossReference =>
  (columns, hyper) =>
    evaluateTokens(objective, columns, hyper);

/** Columns and results together, for the callers that measure as well. Throws UserError on bad hyperparameters. */
export function evaluateCompact(
  objective: Objective,
  batch: ObjectiveBatch,
  hyper: Readonly<Record<string, number>> = {},
  lossAggMode: LossAggMode = objective.lossAggMode,
): { compact: CompactBatch; results: TokenResults; hyper: Hyperparameters } {
  const resolved = resolveHyperparameters(objective, hyper);
  if ((resolved.beta ?? 0) > 0 && !batch.refLogp) {
    throw new UserError(`beta = ${resolved.beta} asks for a KL penalty, but refLogp is missing.`, 'Give refLogp, or set beta to 0.');
  }
  const compact = compactBatch(batch, lossAggMode);
  return { compact, results: evaluateTokens(objective, compact, resolved), hyper: resolved };
}

/**
 * Loss, coefficients, ratios and clip flags of an objective on a batch, in f64.
 * @param hyper hyperparameters by name; the objective's defaults where missing
 * @param lossAggMode the objective's own where missing
 * @throws UserError on bad hyperparameters, on beta > 0 without refLogp, on `constant` without maxTokens
 */
export function evaluateObjective(
  objective: Objective,
  batch: ObjectiveBatch,
  hyper: Readonly<Record<string, number>> = {},
  lossAggMode: LossAggMode = objective.lossAggMode,
): ObjectiveResult {
  const { compact, results } = evaluateCompact(objective, batch, hyper, lossAggMode);
  return assembleResult(compact, results, batch.mask);
}

/** Columns back into the shape of the batch. */
export function assembleResult(compact: CompactBatch, results: Pick<TokenResults, 'coefficient' | 'loss' | 'clipped'>, mask: ArrayLike<number>[]): ObjectiveResult {
  const { token, segment, sequence } = logRatios(compact);
  const ratio = (x: Float64Array) => x.map(ratioOf);
  const sequences = new Float64Array(compact.rows).fill(1);
  for (let r = 0; r < compact.rows; r++) {
    const first = compact.rowStart[r];
    if (compact.rowStart[r + 1] > first) sequences[r] = ratioOf(sequence[first]);
  }
  return {
    loss: sum(results.loss),
    coefficients: scatter(compact, results.coefficient, mask, 0),
    ratios: { token: scatter(compact, ratio(token), mask, 1), segment: scatter(compact, ratio(segment), mask, 1), sequence: sequences },
    clipped: scatter(compact, results.clipped, mask, 0).map((row) => Uint8Array.from(row)),
  };
}

/** Log ratio of every token at each level, nats, not clamped; segment and sequence values repeat over their tokens; [n] each. */
export function logRatios(c: TokenColumns): Record<'token' | 'segment' | 'sequence', Float64Array> {
  const token = new Float64Array(c.count);
  for (let t = 0; t < c.count; t++) token[t] = c.logp[t] - c.oldLogp[t];
  return { token, segment: unitMeans(token, c.segEnd), sequence: unitMeans(token, c.seqEnd) };
}

/** exp of a log ratio behind the +-20 guard. */
export function ratioOf(logRatio: number): number {
  return Math.exp(Math.min(Math.max(logRatio, -LOG_RATIO_CLAMP), LOG_RATIO_CLAMP));
}

/** The same as an expression. */
export const ratioExpr = (logRatio: Expr): Expr => exp(clamp(logRatio));

export function sum(x: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i];
  return total;
}
