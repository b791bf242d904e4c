import { add, and, constant, div, exp, expm1, le, lt, mean, mul, neg, select, sigmoid, weight, type Expr } from './expr';
import { buildGraph, type GraphNode } from './graph';

/**
 * The coefficient c_t = dLoss/dlogp_t for Loss = sum over tokens of weight_t * loss_t, as an expression of the same algebra:
 * one reverse sweep of the chain rule. Averaging over a unit is its own adjoint (each token of a unit receives the mean of
 * what the unit's tokens send back), so `mean` needs no special branch.
 *
 * Ties: `min` and `max` follow their first argument, and a clip passes the full gradient on its bounds, so that "clipped"
 * is decided by strict inequalities (torch's clamp does the same).
 */
export function differentiate(loss: Expr): Expr {
  const { nodes, roots } = buildGraph([loss]);
  const root = roots[0] as number;
  const moves = nodes.map(() => false);
  nodes.forEach((node, i) => {
    moves[i] = node.expr.kind === 'leaf' ? node.expr.name === 'logp' : node.expr.kind !== 'stopGrad' && node.args.some((a) => moves[a]);
  });
  const adjoint: (Expr | undefined)[] = nodes.map(() => undefined);
  adjoint[root] = weight;
  let coefficient: Expr = constant(0);
  for (let i = root; i >= 0; i--) {
    const g = adjoint[i];
    const node = nodes[i] as GraphNode;
    if (!g || !moves[i]) continue;
    if (node.expr.kind === 'leaf') {
      coefficient = add(coefficient, g);
      continue;
    }
    const primal = (k: number): Expr => {
      const target = nodes[k] as GraphNode;
      return target.named ?? target.expr;
    };
    const terms = pullBack(node, g, primal(i), node.args.map(primal));
    node.args.forEach((k, position) => {
      const term = terms[position];
      if (!term || !moves[k]) return;
      const before = adjoint[k];
      adjoint[k] = before ? add(before, term()) : term();
    });
  }
  return coefficient;
}

/** For each operand, what it receives of the adjoint `g` of a node with value `value`; undefined where nothing flows. */
function pullBack(node: GraphNode, g: Expr, value: Expr, args: Expr[]): ((() => Expr) | undefined)[] {
  const e = node.expr;
  const [a, b, c] = args as [Expr, Expr, Expr];
  switch (e.kind) {
    case 'const':
    case 'leaf':
    case 'hyper':
      return [];
    case 'stopGrad':
      return [undefined];
    case 'mean':
      return [() => mean(e.level, g)];
    case 'clip':
      return [() => select(and(le(b, a), le(a, c)), g, 0), () => select(lt(a, b), g, 0), () => select(lt(c, a), g, 0)];
    case 'select':
      return [undefined, () => select(a, g, 0), () => select(a, 0, g)];
    case 'unary':
      switch (e.op) {
        case 'neg':
          return [() => neg(g)];
        case 'exp':
          return [() => mul(g, value)];
        case 'log':
          return [() => div(g, a)];
        case 'sqrt':
          return [() => div(g, mul(2, value))];
        case 'sigmoid':
          // sigmoid(-a) rather than 1 - value, which cancels in f32 far out.
          return [() => mul(g, mul(value, sigmoid(neg(a))))];
        case 'expm1':
          return [() => mul(g, exp(a))];
        case 'k3':
          return [() => mul(g, expm1(a))];
      }
      return e satisfies never;
    case 'binary':
      switch (e.op) {
        case 'add':
          return [() => g, () => g];
        case 'sub':
          return [() => g, () => neg(g)];
        case 'mul':
          return [() => mul(g, b), () => mul(g, a)];
        case 'div':
          return [() => div(g, b), () => neg(div(mul(g, value), b))];
        case 'min':
          return [() => select(le(a, b), g, 0), () => select(le(a, b), 0, g)];
        case 'max':
          return [() => select(le(b, a), g, 0), () => select(le(b, a), 0, g)];
        default:
          // Comparisons and logic are piecewise constant.
          return [undefined, undefined];
      }
  }
}
