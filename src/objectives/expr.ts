import type { Level } from '../core/levels';

/**
 * The algebra of objectives: the loss of one token as plain data. This file is the only place where a node kind is
 * declared; evaluate.ts, differentiate.ts, toWgsl.ts and toTex.ts give each kind its number, derivative, shader text and formula.
 * Comparisons and logic have the values 0 and 1.
 */

/** What differs from token to token. `weight` is the aggregation weight; only derivatives and losses summed over the batch use it. */
export const LEAVES = ['logp', 'oldLogp', 'refLogp', 'advantage', 'entropy', 'entropyRatio', 'weight'] as const;
export type Leaf = (typeof LEAVES)[number];

/** `k3` is e^x - 1 - x and `expm1` is e^x - 1, both exact near 0. */
export const UNARY_OPS = ['neg', 'exp', 'log', 'sqrt', 'sigmoid', 'expm1', 'k3'] as const;
export type UnaryOp = (typeof UNARY_OPS)[number];

/** `min` and `max` prefer their first argument on a tie, so the first argument decides the gradient there. */
export const BINARY_OPS = ['add', 'sub', 'mul', 'div', 'min', 'max', 'lt', 'le', 'and', 'or'] as const;
export type BinaryOp = (typeof BINARY_OPS)[number];

export type Expr =
  | { readonly kind: 'const'; readonly value: number }
  | { readonly kind: 'leaf'; readonly name: Leaf }
  | { readonly kind: 'hyper'; readonly name: string }
  | { readonly kind: 'unary'; readonly op: UnaryOp; readonly a: Expr }
  | { readonly kind: 'binary'; readonly op: BinaryOp; readonly a: Expr; readonly b: Expr }
  /** min(max(x, low), high). `guard` marks a numerical safety clamp, which is not a clip of the method. */
  | { readonly kind: 'clip'; readonly x: Expr; readonly low: Expr; readonly high: Expr; readonly guard: boolean }
  | { readonly kind: 'select'; readonly condition: Expr; readonly a: Expr; readonly b: Expr }
  | { readonly kind: 'stopGrad'; readonly a: Expr }
  /** Average over the tokens of the token's own segment or sequence. */
  | { readonly kind: 'mean'; readonly level: 'segment' | 'sequence'; readonly a: Expr }
  /** A subterm with a name: `let` in the shader, a symbol in the formula, coloured by its level. */
  | { readonly kind: 'named'; readonly name: string; readonly tex: string; readonly level: Level | null; readonly a: Expr };

type Operand = Expr | number;

/** The log ratio's guard before exp, nats: e^20 is finite in f32, and further out no sample means anything. */
export const LOG_RATIO_CLAMP = 20;

export const constant = (value: number): Expr => ({ kind: 'const', value });
const lift = (x: Operand): Expr => (typeof x === 'number' ? constant(x) : x);
const isConstant = (e: Expr, value: number): boolean => e.kind === 'const' && e.value === value;

export const leaf = (name: Leaf): Expr => ({ kind: 'leaf', name });
export const hyper = (name: string): Expr => ({ kind: 'hyper', name });

export const logp = leaf('logp');
export const oldLogp = leaf('oldLogp');
export const refLogp = leaf('refLogp');
export const advantage = leaf('advantage');
/** Entropy of the old policy's distribution at the token, nats; an objective that reads it asks for a batch that has it. */
export const entropy = leaf('entropy');
/** Mean entropy of the token's segment over mean entropy of the rollout batch; 1 when entropy is unknown. */
export const entropyRatio = leaf('entropyRatio');
export const weight = leaf('weight');

const unary = (op: UnaryOp, a: Operand): Expr => ({ kind: 'unary', op, a: lift(a) });
const binary = (op: BinaryOp, a: Operand, b: Operand): Expr => ({ kind: 'binary', op, a: lift(a), b: lift(b) });

/** Folds only what is exact for every finite operand. */
export function neg(a: Operand): Expr {
  const x = lift(a);
  if (x.kind === 'const') return constant(-x.value);
  return x.kind === 'unary' && x.op === 'neg' ? x.a : unary('neg', x);
}
export const exp = (a: Operand): Expr => unary('exp', a);
export const log = (a: Operand): Expr => unary('log', a);
export const sqrt = (a: Operand): Expr => unary('sqrt', a);
export const sigmoid = (a: Operand): Expr => unary('sigmoid', a);
export const expm1 = (a: Operand): Expr => unary('expm1', a);
/** e^x - 1 - x: Schulman's k3 estimator of KL for x = log(other / own). */
export const k3 = (a: Operand): Expr => unary('k3', a);

export function add(a: Operand, b: Operand): Expr {
  const [x, y] = [lift(a), lift(b)];
  if (isConstant(x, 0)) return y;
  return isConstant(y, 0) ? x : binary('add', x, y);
}
export function sub(a: Operand, b: Operand): Expr {
  const [x, y] = [lift(a), lift(b)];
  return isConstant(y, 0) ? x : binary('sub', x, y);
}
export function mul(a: Operand, b: Operand): Expr {
  const [x, y] = [lift(a), lift(b)];
  if (isConstant(x, 1)) return y;
  return isConstant(y, 1) ? x : binary('mul', x, y);
}
export function div(a: Operand, b: Operand): Expr {
  const [x, y] = [lift(a), lift(b)];
  return isConstant(y, 1) ? x : binary('div', x, y);
}
export const min = (a: Operand, b: Operand): Expr => binary('min', a, b);
export const max = (a: Operand, b: Operand): Expr => binary('max', a, b);
export const lt = (a: Operand, b: Operand): Expr => binary('lt', a, b);
export const le = (a: Operand, b: Operand): Expr => binary('le', a, b);
export const gt = (a: Operand, b: Operand): Expr => binary('lt', b, a);
export const ge = (a: Operand, b: Operand): Expr => binary('le', b, a);
export const and = (a: Operand, b: Operand): Expr => binary('and', a, b);
export const or = (a: Operand, b: Operand): Expr => binary('or', a, b);

/** A clip of the method: min(max(x, low), high); on a bound the gradient is full. */
export const clip = (x: Operand, low: Operand, high: Operand): Expr => ({ kind: 'clip', x: lift(x), low: lift(low), high: lift(high), guard: false });
/** A numerical guard, by default at +-20 nats. */
export const clamp = (x: Operand, bound = LOG_RATIO_CLAMP): Expr => ({
  kind: 'clip',
  x: lift(x),
  low: constant(-bound),
  high: constant(bound),
  guard: true,
});
/** `a` where the condition is 1, else `b`. */
export const select = (condition: Expr, a: Operand, b: Operand): Expr => ({ kind: 'select', condition, a: lift(a), b: lift(b) });
export const stopGrad = (a: Expr): Expr => ({ kind: 'stopGrad', a });
/** Average of `a` over the token's unit; at token level the token itself. */
export const mean = (level: Level, a: Expr): Expr => (level === 'token' ? a : { kind: 'mean', level, a });
/** `name` must be a WGSL identifier; `tex` is its symbol. */
export const named = (name: string, tex: string, level: Level | null, a: Expr): Expr => ({ kind: 'named', name, tex, level, a });

/** The direct operands of a node, in a fixed order. */
export function operands(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'const':
    case 'leaf':
    case 'hyper':
      return [];
    case 'unary':
    case 'stopGrad':
    case 'mean':
    case 'named':
      return [e.a];
    case 'binary':
      return [e.a, e.b];
    case 'clip':
      return [e.x, e.low, e.high];
    case 'select':
      return [e.condition, e.a, e.b];
  }
}

/** The same node over other operands (as many as `operands` gave). */
export function withOperands(e: Expr, args: readonly Expr[]): Expr {
  const [p, q, r] = args as [Expr, Expr, Expr];
  switch (e.kind) {
    case 'const':
    case 'leaf':
    case 'hyper':
      return e;
    case 'unary':
      return e.op === 'neg' ? neg(p) : { ...e, a: p };
    case 'stopGrad':
    case 'mean':
    case 'named':
      return { ...e, a: p };
    case 'binary':
      return { ...e, a: p, b: q };
    case 'clip':
      return { ...e, x: p, low: q, high: r };
    case 'select':
      return { ...e, condition: p, a: q, b: r };
  }
}
