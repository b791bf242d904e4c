import { operands, withOperands, add, constant, mul, sub, type Expr } from './expr';

/** One distinct subterm. Operands come before it in the list. */
export interface GraphNode {
  /** The term itself, never a `named` wrapper. */
  expr: Exclude<Expr, { kind: 'named' }>;
  /** Indices of its operands. */
  args: readonly number[];
  /** The wrapper that gave it a name, if any. */
  named: Extract<Expr, { kind: 'named' }> | null;
}

/** Expressions as a list of distinct subterms in an order of evaluation. */
export interface Graph {
  nodes: GraphNode[];
  /** Index of each requested expression. */
  roots: number[];
}

function ownKey(e: GraphNode['expr']): string {
  switch (e.kind) {
    case 'const':
      return `${e.value}`;
    case 'leaf':
    case 'hyper':
      return e.name;
    case 'unary':
    case 'binary':
      return e.op;
    case 'mean':
      return e.level;
    case 'clip':
      return e.guard ? 'guard' : '';
    default:
      return '';
  }
}

/** Shares equal subterms (by structure) and drops `named` wrappers to an annotation. */
export function buildGraph(expressions: readonly Expr[]): Graph {
  const nodes: GraphNode[] = [];
  const byKey = new Map<string, number>();
  const byObject = new Map<Expr, number>();
  const visit = (e: Expr): number => {
    const seen = byObject.get(e);
    if (seen !== undefined) return seen;
    let index: number;
    if (e.kind === 'named') {
      index = visit(e.a);
      const node = nodes[index] as GraphNode;
      node.named ??= e;
    } else {
      const args = operands(e).map(visit);
      const key = `${e.kind}|${ownKey(e)}|${args.join(',')}`;
      const equal = byKey.get(key);
      index = equal ?? nodes.push({ expr: e, args, named: null }) - 1;
      byKey.set(key, index);
    }
    byObject.set(e, index);
    return index;
  };
  const roots = expressions.map(visit);
  return { nodes, roots };
}

/** Number of distinct subterms. */
export function size(e: Expr): number {
  return buildGraph([e]).nodes.length;
}

/** Names of the hyperparameters that an expression reads. */
export function hyperNames(e: Expr): Set<string> {
  const names = new Set<string>();
  for (const { expr } of buildGraph([e]).nodes) if (expr.kind === 'hyper') names.add(expr.name);
  return names;
}

/**
 * Puts values in place of hyperparameters and folds what then no longer matters (a term times 0, a branch never taken),
 * so that a formula need not show what is switched off. `known` values decide comparisons without being written out.
 */
export function specialise(e: Expr, values: Readonly<Record<string, number>>, known: Readonly<Record<string, number>> = values): Expr {
  const done = new Map<Expr, Expr>();
  const visit = (x: Expr): Expr => {
    const before = done.get(x);
    if (before) return before;
    const result = fold(x.kind === 'hyper' && x.name in values ? constant(values[x.name]) : withOperands(x, operands(x).map(visit)), known);
    done.set(x, result);
    return result;
  };
  return visit(e);
}

function fold(e: Expr, known: Readonly<Record<string, number>>): Expr {
  const constantOf = (x: Expr): number | undefined => (x.kind === 'const' ? x.value : undefined);
  const valueOf = (x: Expr): number | undefined => (x.kind === 'hyper' ? known[x.name] : constantOf(x));
  if (e.kind === 'named') return e.a.kind === 'const' ? e.a : e;
  if (e.kind === 'clip') {
    const [low, high] = [constantOf(e.low), constantOf(e.high)];
    return low !== undefined && low === high ? e.low : e;
  }
  if (e.kind === 'select' && e.condition.kind === 'const') return e.condition.value ? e.a : e.b;
  if (e.kind !== 'binary') return e;
  const { a, b } = e;
  const [u, v] = [constantOf(a), constantOf(b)];
  const [p, q] = [valueOf(a), valueOf(b)];
  switch (e.op) {
    case 'add':
      return add(a, b);
    case 'sub':
      return sub(a, b);
    case 'mul':
      return u === 0 || v === 0 ? constant(0) : mul(a, b);
    case 'lt':
      return p !== undefined && q !== undefined ? constant(p < q ? 1 : 0) : e;
    case 'le':
      return p !== undefined && q !== undefined ? constant(p <= q ? 1 : 0) : e;
    case 'and':
      if (u === 0 || v === 0) return constant(0);
      return u === 1 ? b : v === 1 ? a : e;
    case 'or':
      if (u === 1 || v === 1) return constant(1);
      return u === 0 ? b : v === 0 ? a : e;
    default:
      return e;
  }
}
