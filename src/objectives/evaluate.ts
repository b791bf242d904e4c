import { invariant, UserError } from '../core/errors';
import type { Graph, GraphNode } from './graph';
import { k3 } from './klEstimators';
import type { TokenColumns } from './types';

/**
 * The f64 interpreter: what an expression is worth at every token of a batch. It is the reference for the shader.
 */

/** Values of all nodes of a graph; [nodes][n]. */
export type GraphValues = Float64Array[];

/**
 * Values of every node at every token. `frozen` puts recorded values in place of stop-gradient nodes (by node index):
 * finite differences then see what the derivative sees.
 */
export function evaluateGraph(graph: Graph, columns: TokenColumns, hyper: Readonly<Record<string, number>>, frozen?: ReadonlyMap<number, Float64Array>): GraphValues {
  const values: GraphValues = [];
  graph.nodes.forEach((node, index) => {
    values.push(evaluateNode(node, index, values, columns, hyper, frozen));
  });
  return values;
}

function evaluateNode(
  node: GraphNode,
  index: number,
  values: GraphValues,
  columns: TokenColumns,
  hyper: Readonly<Record<string, number>>,
  frozen: ReadonlyMap<number, Float64Array> | undefined,
): Float64Array {
  const n = columns.count;
  const e = node.expr;
  const arg = (i: number) => values[node.args[i] as number] as Float64Array;
  switch (e.kind) {
    case 'const':
      return new Float64Array(n).fill(e.value);
    case 'hyper': {
      const value = hyper[e.name];
      invariant(value !== undefined, `hyperparameter ${e.name} has no value`);
      return new Float64Array(n).fill(value);
    }
    case 'leaf': {
      const column = columns[e.name];
      if (!column) throw new UserError(`This objective reads the ${e.name} of each token, which the batch does not have.`, `Give ${e.name} [B][T].`);
      return column instanceof Float64Array ? column : Float64Array.from(column);
    }
    case 'stopGrad':
      return frozen?.get(index) ?? arg(0);
    case 'unary':
      return evaluateUnary(e.op, arg(0));
    case 'binary':
      return evaluateBinary(e.op, arg(0), arg(1));
    case 'clip': {
      const [x, low, high] = [arg(0), arg(1), arg(2)];
      const out = new Float64Array(n);
      for (let t = 0; t < n; t++) {
        const raised = x[t] < low[t] ? low[t] : x[t];
        out[t] = raised > high[t] ? high[t] : raised;
      }
      return out;
    }
    case 'select': {
      const [condition, a, b] = [arg(0), arg(1), arg(2)];
      const out = new Float64Array(n);
      for (let t = 0; t < n; t++) out[t] = condition[t] ? a[t] : b[t];
      return out;
    }
    case 'mean':
      return e.level === 'segment' ? unitMeans(arg(0), columns.segEnd) : unitMeans(arg(0), columns.seqEnd);
  }
}

/** Average of `x` over each token's unit. Units are consecutive ranges; `unitEnd[t]` is one past the last token of t's unit. */
export function unitMeans(x: ArrayLike<number>, unitEnd: ArrayLike<number>): Float64Array {
  const n = x.length;
  const out = new Float64Array(n);
  for (let start = 0; start < n; ) {
    const end = unitEnd[start];
    invariant(end > start && end <= n, `a unit that starts at token ${start} cannot end at ${end}`);
    let sum = 0;
    for (let t = start; t < end; t++) sum += x[t];
    out.fill(sum / (end - start), start, end);
    start = end;
  }
  return out;
}

function evaluateUnary(op: Extract<GraphNode['expr'], { kind: 'unary' }>['op'], a: Float64Array): Float64Array {
  switch (op) {
    case 'neg':
      return a.map((x) => -x);
    case 'exp':
      return a.map(Math.exp);
    case 'log':
      return a.map(Math.log);
    case 'sqrt':
      return a.map(Math.sqrt);
    case 'sigmoid':
      return a.map(sigmoidOf);
    case 'expm1':
      return a.map(Math.expm1);
    case 'k3':
      return a.map(k3);
  }
}

/** 1 / (1 + e^-x) without overflow. */
export function sigmoidOf(x: number): number {
  const e = Math.exp(-Math.abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

function evaluateBinary(op: Extract<GraphNode['expr'], { kind: 'binary' }>['op'], a: Float64Array, b: Float64Array): Float64Array {
  const n = a.length;
  const out = new Float64Array(n);
  switch (op) {
    case 'add':
      for (let t = 0; t < n; t++) out[t] = a[t] + b[t];
      return out;
    case 'sub':
      for (let t = 0; t < n; t++) out[t] = a[t] - b[t];
      return out;
    case 'mul':
      for (let t = 0; t < n; t++) out[t] = a[t] * b[t];
      return out;
    case 'div':
      for (let t = 0; t < n; t++) out[t] = a[t] / b[t];
      return out;
    case 'min':
      for (let t = 0; t < n; t++) out[t] = Math.min(a[t], b[t]);
      return out;
    case 'max':
      for (let t = 0; t < n; t++) out[t] = Math.max(a[t], b[t]);
      return out;
    case 'lt':
      for (let t = 0; t < n; t++) out[t] = a[t] < b[t] ? 1 : 0;
      return out;
    case 'le':
      for (let t = 0; t < n; t++) out[t] = a[t] <= b[t] ? 1 : 0;
      return out;
    case 'and':
      for (let t = 0; t < n; t++) out[t] = a[t] && b[t] ? 1 : 0;
      return out;
    case 'or':
      for (let t = 0; t < n; t++) out[t] = a[t] || b[t] ? 1 : 0;
      return out;
  }
}
