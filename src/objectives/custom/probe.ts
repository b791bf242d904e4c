import { coefficientOf } from '../evaluateObjective';
import { evaluateGraph, type GraphValues } from '../evaluate';
import { mul, weight, type Expr } from '../expr';
import { buildGraph, type Graph } from '../graph';
import type { Objective } from '../objective';
import type { Hyperparameters, TokenColumns } from '../types';
import { ObjectiveTextError, type Span } from './errors';

/** What the probe needs of a reading. */
interface Places {
  spans: ReadonlyMap<Expr, Span>;
  lossSpan: Span;
  parameterSpans: ReadonlyMap<string, Span>;
}

const RATIOS = [1e-3, 0.03, 0.5, 0.9, 1, 1.1, 2, 30, 1e3];
const ADVANTAGES = [-2, -1, 0, 1, 2];
const ENTROPIES = [0.05, 1, 6];
/** Old log-probs, nats: a sure token, an ordinary one, a rare one. A ratio that would lift a probability above 1 is left out. */
const OLD_LOGPS = [-1e-4, -1.5, -9];
/** The greatest number of f32. */
const F32_MAX = 3.4e38;

/** The grid as rows of three tokens (two subsentences): the given ratio, its opposite, and 1. */
function probeColumns(): TokenColumns & { ratio: number[] } {
  const c = { logp: [] as number[], oldLogp: [] as number[], refLogp: [] as number[], advantage: [] as number[], entropy: [] as number[], entropyRatio: [] as number[], ratio: [] as number[] };
  const bounds = { segStart: [] as number[], segEnd: [] as number[], seqStart: [] as number[], seqEnd: [] as number[] };
  for (const oldLogp of OLD_LOGPS) {
    for (const ratio of RATIOS) {
      if (oldLogp + Math.log(ratio) > 0) continue;
      for (const advantage of ADVANTAGES) {
        for (const entropyRatio of ENTROPIES) {
          const first = c.logp.length;
          const opposite = Math.min(-oldLogp, -Math.log(ratio));
          for (const [t, logRatio] of [Math.log(ratio), opposite, 0].entries()) {
            c.oldLogp.push(oldLogp);
            c.logp.push(oldLogp + logRatio);
            c.refLogp.push(oldLogp - 0.7 * logRatio);
            c.advantage.push(advantage);
            // As if the batch's mean were half a nat, with the tokens of a subsentence a little apart.
            c.entropy.push(entropyRatio * (0.4 + 0.1 * t));
            c.entropyRatio.push(entropyRatio);
            c.ratio.push(Math.exp(logRatio));
            bounds.segStart.push(t < 2 ? first : first + 2);
            bounds.segEnd.push(t < 2 ? first + 2 : first + 3);
            bounds.seqStart.push(first);
            bounds.seqEnd.push(first + 3);
          }
        }
      }
    }
  }
  return { ...c, ...bounds, count: c.logp.length, weight: new Float64Array(c.logp.length).fill(1 / 8) };
}

const COLUMNS = probeColumns();

/** Parameter values at which an objective is probed: the defaults, then each at both its bounds. */
function* settings({ hyperparameters }: Objective): Generator<{ hyper: Hyperparameters; moved: string | null }> {
  const defaults = Object.fromEntries(hyperparameters.map((h) => [h.name, h.default]));
  yield { hyper: defaults, moved: null };
  for (const h of hyperparameters) for (const value of [h.min, h.max]) if (value !== h.default) yield { hyper: { ...defaults, [h.name]: value }, moved: h.name };
}

/**
 * Refuses an objective whose loss, gradient or band is not finite (in f32) somewhere on a grid of ratios 1e-3 to 1e3,
 * advantages of both signs and 0, entropies and old probabilities, at the parameters' defaults and at the bounds of each.
 * @throws ObjectiveTextError that names the place and the case
 */
export function probe(text: string, objective: Objective, places: Places): void {
  const { low, high } = objective.widths ?? { low: weight, high: weight };
  const graph = buildGraph([mul(weight, objective.loss), coefficientOf(objective), objective.logRatio, objective.clipped, low, high]);
  for (const { hyper, moved } of settings(objective)) {
    const values = evaluateGraph(graph, COLUMNS, hyper);
    for (const [k, root] of graph.roots.entries()) {
      const t = values[root].findIndex((v) => !(Math.abs(v) <= F32_MAX));
      if (t < 0) continue;
      const value = values[root][t];
      const what = ['the loss', 'the gradient', 'the log ratio', 'the clip flag', 'the band', 'the band'][k];
      const culprit = findCulprit(graph, values, root, t, places.spans);
      const span = culprit ?? (moved === null ? places.lossSpan : (places.parameterSpans.get(moved) ?? places.lossSpan));
      const at = `ratio ${short(COLUMNS.ratio[t])}, advantage ${COLUMNS.advantage[t]}, entropy ratio ${COLUMNS.entropyRatio[t]}${moved === null ? '' : `, ${moved} = ${hyper[moved]}`}`;
      throw new ObjectiveTextError(text, span, `${what} is ${Number.isNaN(value) ? 'not a number' : 'infinite'} at ${at}.`, moved === null ? 'Guard it: clamp a log ratio before exp, keep a divisor and the argument of log above 0.' : `Narrow the bounds of ${moved}, or guard what it divides.`);
    }
  }
}

const short = (x: number): string => String(Number(x.toPrecision(3)));

/** Where the first term that is not finite was written: walks from a bad result to operands that are bad themselves. */
function findCulprit(graph: Graph, values: GraphValues, root: number, t: number, spans: ReadonlyMap<Expr, Span>): Span | null {
  const isBad = (i: number) => !(Math.abs(values[i][t]) <= F32_MAX);
  const placeOf = (i: number): Span | null => spans.get(graph.nodes[i].expr) ?? (graph.nodes[i].named ? (spans.get(graph.nodes[i].named as Expr) ?? null) : null);
  let at = root;
  for (;;) {
    const bad = graph.nodes[at].args.find(isBad);
    if (bad === undefined) break;
    at = bad;
  }
  const own = placeOf(at);
  if (own) return own;
  // A term of the gradient was not written by anyone: the nearest operand that was stands for it.
  let nearest: Span | null = null;
  let ring = [...graph.nodes[at].args];
  for (let depth = 0; depth < 3 && !nearest; depth++) {
    // Divisors come last among the operands, and are what fails most.
    for (const i of [...ring].reverse()) nearest ??= graph.nodes[i].expr.kind === 'leaf' || graph.nodes[i].expr.kind === 'const' ? null : placeOf(i);
    ring = ring.flatMap((i) => graph.nodes[i].args);
  }
  return nearest;
}
