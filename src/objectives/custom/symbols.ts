import type { Level } from '../../core/levels';
import { operands, type Expr } from '../expr';

const GREEK = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'kappa', 'lambda', 'mu', 'nu', 'rho', 'sigma', 'tau', 'phi', 'psi', 'omega', 'theta', 'eta', 'zeta', 'xi'];
const INDEX: Record<Level, string> = { token: 'i,t', segment: 'i,k', sequence: 'i' };

/** A symbol for a name that holds letters and digits only: Greek where it is a Greek letter, upright words otherwise. */
export function nameTex(name: string): string {
  if (name === 'eps') return '\\epsilon';
  if (GREEK.includes(name)) return `\\${name}`;
  const parts = /^(eps|[a-z]+)(Low|High|Pos|Neg)$/.exec(name);
  if (parts) return `${nameTex(parts[1])}_{\\text{${parts[2].toLowerCase()}}}`;
  return name.length === 1 ? name : `\\text{${name}}`;
}

/** The symbol of a named term: what differs from token to token wears its index. */
export function symbolTex(name: string, level: Level | null): string {
  return name.length === 1 || GREEK.includes(name) ? `${nameTex(name)}_{${INDEX[level ?? 'token']}}` : `\\text{${name}}_{${INDEX[level ?? 'token']}}`;
}

/** The finest level that a term changes with; null for one that the advantage enters, which belongs to no ratio. */
export function levelOfTerm(e: Expr): Level | null {
  const memo = new Map<Expr, Level | 'none' | 'mixed'>();
  const visit = (term: Expr): Level | 'none' | 'mixed' => {
    const known = memo.get(term);
    if (known) return known;
    let level: Level | 'none' | 'mixed' = 'none';
    if (term.kind === 'leaf') level = term.name === 'advantage' ? 'mixed' : term.name === 'entropyRatio' ? 'segment' : 'token';
    else if (term.kind === 'mean') level = visit(term.a) === 'mixed' ? 'mixed' : term.level;
    else for (const a of operands(term)) level = finer(level, visit(a));
    memo.set(term, level);
    return level;
  };
  const level = visit(e);
  return level === 'none' || level === 'mixed' ? null : level;
}

const ORDER = ['none', 'sequence', 'segment', 'token', 'mixed'] as const;
type Fine = (typeof ORDER)[number];
const finer = (a: Fine, b: Fine): Fine => (ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b);
