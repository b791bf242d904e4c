import type { Level } from '../../core/levels';
import {
  add,
  advantage,
  and,
  clamp,
  clip,
  constant,
  exp,
  gt,
  hyper,
  k3,
  logp,
  lt,
  mean,
  min,
  mul,
  named,
  neg,
  oldLogp,
  or,
  refLogp,
  select,
  stopGrad,
  sub,
  type Expr,
} from '../expr';
import type { Objective } from '../objective';
import type { HyperparameterSpec } from '../types';

/** The pieces that several objectives are made of. */

const SYMBOL: Record<Level, { name: string; tex: string; logTex: string }> = {
  token: { name: 'tokenRatio', tex: 'r_{i,t}', logTex: '\\ell_{i,t}' },
  segment: { name: 'segmentRatio', tex: 's_{i,k}', logTex: '\\ell_{i,k}' },
  sequence: { name: 'sequenceRatio', tex: 's_i', logTex: '\\ell_i' },
};

/** log pi_theta - log pi_old of one token. */
export const delta = named('delta', '\\Delta_{i,t}', 'token', sub(logp, oldLogp));

/** The guarded log ratio at a level: the mean of delta over the unit, then clamped (never the tokens before the mean, pitfall 16). */
export function logRatioAt(level: Level): Expr {
  const { name, logTex } = SYMBOL[level];
  return named(`${name}Log`, logTex, level, clamp(mean(level, delta)));
}

/** The importance ratio at a level: the geometric mean of the unit's token ratios. */
export function ratioAt(level: Level): Expr {
  const { name, tex } = SYMBOL[level];
  return named(name, tex, level, exp(logRatioAt(level)));
}

/** sg[ratio] * pi/sg[pi]: the unit's value, each token's own gradient (GSPO eq. 14 on any unit). */
export function tokenCarrying(ratio: Expr, level: 'segment' | 'sequence' = 'segment'): Expr {
  return named('carriedRatio', level === 'segment' ? '\\hat{s}_{i,k,t}' : '\\hat{s}_{i,t}', level, mul(stopGrad(ratio), exp(sub(logp, stopGrad(logp)))));
}

/** Widths of a band below and above ratio 1. */
export interface Widths {
  low: Expr;
  high: Expr;
}

/** The edges of a band, as ratios. */
export interface Edges {
  lower: Expr;
  upper: Expr;
}

/** The dual clip's bound as the hyperparameter gives it; 0 is off. */
const dualClipBound = hyper('dualClip');

/**
 * PPO's clipped surrogate as a loss, max(-ratio A, -clip(ratio) A), with an optional dual clip: for A < 0 no more than -c A
 * (PPO, arXiv 1707.06347 eq. 7; dual clip, arXiv 1912.09729). `clipped` says where its gradient is zero although A is not.
 * @param bound what the dual clip's c comes to, where that is not the hyperparameter itself
 */
export function clippedSurrogate(ratio: Expr, { lower, upper }: Edges, bound: Expr = dualClipBound): { loss: Expr; clipped: Expr } {
  const surrogate = min(mul(ratio, advantage), mul(clip(ratio, lower, upper), advantage));
  const ppo = named('clippedLoss', 'L^{\\text{clip}}_{i,t}', null, neg(surrogate));
  const isOn = gt(dualClipBound, 0);
  return {
    loss: select(and(isOn, lt(advantage, 0)), min(ppo, neg(mul(bound, advantage))), ppo),
    clipped: or(and(gt(advantage, 0), gt(ratio, upper)), and(lt(advantage, 0), or(lt(ratio, lower), and(isOn, gt(ratio, bound))))),
  };
}

/** beta times the k3 estimate of KL(pi_theta || pi_ref). */
export function klPenalty(): Expr {
  const d = named('refDelta', 'd_{i,t}', 'token', clamp(sub(refLogp, logp)));
  return mul(hyper('beta'), k3(d));
}

/** What a clipped surrogate fills in of an objective. */
type SurrogateParts = Pick<Objective, 'loss' | 'logRatio' | 'clipped' | 'clipEffect' | 'widths' | 'isClippedSurrogate'>;

/** A surrogate with its KL term, in a band of the given widths. */
export function clippedObjective(ratio: Expr, logRatio: Expr, widths: Widths): SurrogateParts {
  const { loss, clipped } = clippedSurrogate(ratio, { lower: sub(1, widths.low), upper: add(1, widths.high) });
  return { loss: add(loss, klPenalty()), logRatio, clipped, clipEffect: 'cut', widths, isClippedSurrogate: true };
}

/** What an objective without a clip fills in; its token log ratio is only measured. */
export function unclippedObjective(loss: Expr): SurrogateParts {
  return { loss: add(loss, klPenalty()), logRatio: logRatioAt('token'), clipped: constant(0), clipEffect: 'none', widths: null, isClippedSurrogate: false };
}

/** Widest clip width that may be asked for; at 10 and above nothing is clipped in practice. */
const WIDEST = 10;

export function clipWidth(side: 'low' | 'high', value: number, unit: string, named: Record<string, number>): HyperparameterSpec {
  const below = side === 'low';
  return {
    name: below ? 'clipLow' : 'clipHigh',
    label: below ? 'Clip width below 1' : 'Clip width above 1',
    help: below
      ? `A ${unit} with A < 0 gets no gradient once its ratio falls below 1 minus this; 1 or more means no bound.`
      : `A ${unit} with A > 0 gets no gradient once its ratio rises above 1 plus this.`,
    unit: 'dimensionless',
    tex: below ? '\\epsilon_{\\text{low}}' : '\\epsilon_{\\text{high}}',
    default: value,
    min: 0,
    max: WIDEST,
    step: value >= 0.1 ? 0.01 : value / 10,
    named,
  };
}

export const dualClip = (value: number): HyperparameterSpec => ({
  name: 'dualClip',
  label: 'Dual clip',
  help: 'With A < 0 the loss never exceeds this many times |A|: bounds the push on a token whose ratio has exploded; 0 turns it off.',
  unit: 'dimensionless',
  tex: 'c',
  default: value,
  min: 0,
  max: 1000,
  step: 0.5,
  zeroOrAbove: 1,
  named: { off: 0, 'verl default': 3 },
});

export const beta: HyperparameterSpec = {
  name: 'beta',
  label: 'KL weight',
  help: 'Weight of the k3 estimate of KL to the reference policy, inside the loss; 0 turns it off and needs no reference.',
  unit: 'dimensionless',
  tex: '\\beta',
  default: 0,
  min: 0,
  max: 10,
  step: 0.001,
  named: { off: 0, 'DeepSeek-R1': 0.001, DeepSeekMath: 0.04 },
};
