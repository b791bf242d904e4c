import { differentiate } from '../differentiate';
import { advantage, and, constant, gt, le, lt, or, weight, type Expr } from '../expr';
import { buildGraph, specialise } from '../graph';

/** True for a loss with branches, where a gradient may be cut. */
export function mayClip(loss: Expr): boolean {
  return buildGraph([loss]).nodes.some(({ expr: e }) => (e.kind === 'clip' && !e.guard) || e.kind === 'select' || (e.kind === 'binary' && (e.op === 'min' || e.op === 'max')));
}

/**
 * Where the clip acts, for a text that does not say: 1 where the policy gradient (without the KL term of weight beta) is exactly 0
 * although neither the advantage nor the token's weight is.
 */
export function whereGradientVanishes(loss: Expr): Expr {
  const c = differentiate(specialise(loss, { beta: 0 }));
  const isLive = and(gt(weight, 0), or(gt(advantage, 0), lt(advantage, 0)));
  return and(isLive, and(le(c, 0), le(constant(0), c)));
}
