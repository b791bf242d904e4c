import type { Level } from '../../core/levels';
import * as x from '../expr';
import { delta, logRatioAt, ratioAt } from '../defs/shared';

/** The words of the language that objectives are typed in: the parser, completion and the printer read these tables. */

export interface Leaf {
  expr: x.Expr;
  /** "nats", "dimensionless". */
  unit: string;
  help: string;
}

const leaf = (expr: x.Expr, unit: string, help: string): Leaf => ({ expr, unit, help });
const RATIO = 'dimensionless';

/** Everything that an expression can read of a token. */
export const LEAVES: Readonly<Record<string, Leaf>> = {
  ratio: leaf(ratioAt('token'), RATIO, 'Importance ratio of the token: exp(logp - oldLogp), guarded at 20 nats.'),
  segRatio: leaf(ratioAt('segment'), RATIO, 'Ratio of the subsentence: geometric mean of its token ratios.'),
  seqRatio: leaf(ratioAt('sequence'), RATIO, 'Ratio of the whole answer: geometric mean of its token ratios.'),
  logRatio: leaf(logRatioAt('token'), 'nats', 'Log of the token ratio, guarded at 20 nats.'),
  segLogRatio: leaf(logRatioAt('segment'), 'nats', 'Mean log ratio of the subsentence, guarded.'),
  seqLogRatio: leaf(logRatioAt('sequence'), 'nats', 'Mean log ratio of the answer, guarded.'),
  delta: leaf(delta, 'nats', 'logp - oldLogp, without a guard.'),
  logp: leaf(x.logp, 'nats', 'log pi of the token under the policy that is trained. The only leaf with a gradient.'),
  oldLogp: leaf(x.oldLogp, 'nats', 'log pi of the token under the policy that sampled.'),
  refLogp: leaf(x.refLogp, 'nats', 'log pi under the frozen base policy. Needs `param beta`: the reference runs only while beta > 0; at 0 this equals logp.'),
  adv: leaf(x.advantage, 'standard deviations or reward', 'Advantage of the token, by the rule of the `advantage` line.'),
  entropy: leaf(x.entropy, 'nats', 'Entropy of the sampling policy at the token, as it was before the updates; no gradient.'),
  entropyRatio: leaf(x.entropyRatio, RATIO, 'Mean entropy of the subsentence over that of the batch; 1 when unknown.'),
};

/** Names that mean a leaf under another name. */
export const LEAF_ALIASES: Readonly<Record<string, string>> = { advantage: 'adv', tokenRatio: 'ratio' };

export interface Function {
  /** Least and most arguments. */
  arity: readonly [number, number];
  /** "clip(x, low, high)". */
  signature: string;
  help: string;
  /** `bound` arguments of `clamp` are checked by the parser. */
  build(args: readonly x.Expr[]): x.Expr;
}

const one = (signature: string, help: string, build: (a: x.Expr) => x.Expr): Function => ({ arity: [1, 1], signature, help, build: ([a]) => build(a as x.Expr) });
const many = (signature: string, help: string, build: (a: x.Expr, b: x.Expr) => x.Expr): Function => ({ arity: [2, 8], signature, help, build: (args) => args.reduce(build) });

/** Every function that can be called. */
export const FUNCTIONS: Readonly<Record<string, Function>> = {
  exp: one('exp(x)', 'e to the x. Guard a log ratio first: clamp(x).', x.exp),
  log: one('log(x)', 'Natural logarithm; x must stay above 0.', x.log),
  sqrt: one('sqrt(x)', 'Square root; its slope at 0 is infinite.', x.sqrt),
  sigmoid: one('sigmoid(x)', '1 / (1 + exp(-x)).', x.sigmoid),
  expm1: one('expm1(x)', 'exp(x) - 1, exact near 0.', x.expm1),
  k3: one('k3(x)', 'exp(x) - 1 - x: Schulman\u2019s estimator of KL for x = refLogp - logp.', x.k3),
  abs: one('abs(x)', 'Without the sign; at 0 the slope is +1.', (a) => x.max(a, x.neg(a))),
  min: many('min(a, b)', 'The smaller; on a tie the first decides the gradient.', x.min),
  max: many('max(a, b)', 'The greater; on a tie the first decides the gradient.', x.max),
  clip: { arity: [3, 3], signature: 'clip(x, low, high)', help: 'A clip of the method: no gradient outside, full gradient on the bounds.', build: ([a, b, c]) => x.clip(a as x.Expr, b as x.Expr, c as x.Expr) },
  clamp: {
    arity: [1, 2],
    signature: 'clamp(x) or clamp(x, bound)',
    help: 'A numerical guard at +-bound (20 unless told), which does not count as clipping. The bound is a number.',
    build: ([a, b]) => x.clamp(a as x.Expr, ...(b?.kind === 'const' ? [b.value] : [])),
  },
  select: { arity: [3, 3], signature: 'select(condition, a, b)', help: 'a where the condition holds, else b; the same as condition ? a : b.', build: ([c, a, b]) => x.select(c as x.Expr, a as x.Expr, b as x.Expr) },
  stopGrad: one('stopGrad(x)', 'The value of x, without its gradient.', x.stopGrad),
  meanSegment: one('meanSegment(x)', 'Mean of x over the tokens of the token\u2019s own subsentence.', (a) => x.mean('segment', a)),
  meanSequence: one('meanSequence(x)', 'Mean of x over the tokens of the token\u2019s own answer.', (a) => x.mean('sequence', a)),
};

export const FUNCTION_ALIASES: Readonly<Record<string, string>> = { sg: 'stopGrad', logistic: 'sigmoid', ln: 'log' };

/** Words that begin a statement or join terms. */
export const STATEMENTS = ['title', 'level', 'aggregation', 'advantage', 'param', 'let', 'loss', 'clipped', 'held', 'band'] as const;
const JOINING = ['and', 'or', 'in', 'step', 'none'];

/** What a person writes for each level, and what it means. */
export const LEVEL_WORDS: Readonly<Record<string, Level>> = { token: 'token', segment: 'segment', subsentence: 'segment', sequence: 'sequence' };

/** Symbols of the predefined terms in the shader: a name of one's own must not be one of them. */
const TAKEN = [x.logp, ...Object.values(LEAVES).map((l) => l.expr)].flatMap((e) => namesWithin(e));

function namesWithin(e: x.Expr): string[] {
  return [...(e.kind === 'named' ? [e.name] : []), ...x.operands(e).flatMap(namesWithin)];
}

const RESERVED = new Set<string>([
  ...Object.keys(LEAVES), ...Object.keys(LEAF_ALIASES), ...Object.keys(FUNCTIONS), ...Object.keys(FUNCTION_ALIASES),
  ...STATEMENTS, ...JOINING, ...TAKEN, 'weight',
]);

/** True for a name that has a meaning already. `beta`, `clipLow` and the like are free: they become parameters. */
export const isReserved = (name: string): boolean => RESERVED.has(name);

/** The known name nearest to a mistyped one, or null when none is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Levenshtein distance; a swap of neighbours counts once. */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array<number>(b.length).fill(0)]);
  for (let j = 0; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
