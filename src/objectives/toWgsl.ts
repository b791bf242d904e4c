import { invariant, UserError } from '../core/errors';
import { coefficientOf, tokenLossReference } from './evaluateObjective';
import { mul, weight, type Expr } from './expr';
import { buildGraph, type Graph, type GraphNode } from './graph';
import type { Objective } from './objective';
import type { TokenLoss } from './types';

/**
 * Prints an objective as the WGSL that kernels/policyLoss takes in its OBJECTIVE slot.
 *
 * Every `mean` becomes a slot: `meanTerm(slot, t)` is what is averaged at a token, and the shell keeps the averages in
 * scratch memory, filled in order, so that a later term may read an earlier mean (`unitMean(t.index, slot)`).
 * `tokenLoss(t)` then gives coefficient, loss, log ratio and clip flag of a token.
 */

/** hyper: array<vec4f, 4>. */
export const MAX_SLOTS = 16;
/** Means that the shell's scratch memory can hold per position. */
export const MAX_MEANS = 16;
/** Brackets within brackets that one line may hold; WGSL compilers give up a little above 100. */
const MAX_NESTING = 30;

export function compileTokenLoss(objective: Objective): TokenLoss {
  const names = objective.hyperparameters.map((h) => h.name);
  if (names.length > MAX_SLOTS) throw new UserError(`${objective.title} has ${names.length} hyperparameters.`, `The shader holds ${MAX_SLOTS}.`);
  const slots = Object.fromEntries(names.map((name, i) => [name, i]));
  const graph = buildGraph([coefficientOf(objective), mul(weight, objective.loss), objective.logRatio, objective.clipped]);
  return { id: objective.id, wgsl: printObjective(graph, slots), slots, reference: tokenLossReference(objective) };
}

const RESULT_FIELDS = ['coefficient', 'loss', 'logRatio', 'clipped'] as const;

function printObjective(graph: Graph, slots: Record<string, number>): string {
  const means = graph.nodes.flatMap((node, i) => (node.expr.kind === 'mean' ? [i] : []));
  if (means.length > MAX_MEANS) throw new UserError(`The objective averages ${means.length} different terms.`, `The shader holds ${MAX_MEANS}.`);
  const slotOf = new Map(means.map((node, slot) => [node, slot]));
  const level = (i: number) => ((graph.nodes[i].expr as Extract<Expr, { kind: 'mean' }>).level === 'sequence' ? 'SEQUENCE' : 'SEGMENT');
  const terms = means.map((i, slot) => {
    const printer = new FunctionPrinter(graph, slotOf, slots, [graph.nodes[i].args[0]]);
    return [`fn meanTerm${slot}(t: Token) -> f32 {`, ...printer.lines, `  return ${printer.number(graph.nodes[i].args[0])};`, '}'].join('\n');
  });
  const cases = (text: (slot: number) => string) => means.map((_, slot) => `    case ${slot}u: { return ${text(slot)}; }`);
  const main = new FunctionPrinter(graph, slotOf, slots, graph.roots);
  return [
    `const MEAN_COUNT = ${means.length}u;`,
    '',
    'fn meanLevel(slot: u32) -> u32 {',
    '  switch slot {',
    ...cases((slot) => level(means[slot])),
    '    default: { return SEGMENT; }',
    '  }',
    '}',
    '',
    ...terms.flatMap((term) => [term, '']),
    'fn meanTerm(slot: u32, t: Token) -> f32 {',
    '  switch slot {',
    ...cases((slot) => `meanTerm${slot}(t)`),
    '    default: { return 0.0; }',
    '  }',
    '}',
    '',
    'fn tokenLoss(t: Token) -> TokenResult {',
    ...main.lines,
    '  var result: TokenResult;',
    ...RESULT_FIELDS.map((field, k) => `  result.${field} = ${main.number(graph.roots[k])};`),
    '  return result;',
    '}',
    '',
  ].join('\n');
}

/** WGSL words that a name of ours must not be; prefixed where it would clash. */
const identifier = (name: string): string => {
  invariant(/^[A-Za-z][A-Za-z0-9]*$/.test(name), `${name} is no WGSL identifier`);
  return `${name}_`;
};

/** Prints the body of one function: shared or named subterms become `let`, the rest is written in place. */
class FunctionPrinter {
  readonly lines: string[] = [];
  private readonly text = new Map<number, string>();
  /** How deep the brackets of a text are. */
  private readonly depth = new Map<number, number>();

  constructor(
    private readonly graph: Graph,
    private readonly slotOf: ReadonlyMap<number, number>,
    private readonly slots: Record<string, number>,
    roots: readonly number[],
  ) {
    const uses = this.countUses(roots);
    for (const i of [...uses.keys()].sort((a, b) => a - b)) {
      const node = graph.nodes[i];
      const printed = this.print(node, i);
      const isLeaf = node.expr.kind === 'const' || node.expr.kind === 'hyper' || node.expr.kind === 'leaf' || node.expr.kind === 'stopGrad';
      const depth = this.slotOf.has(i) ? 0 : 1 + Math.max(0, ...node.args.map((k) => this.depth.get(k) ?? 0));
      if (isLeaf || (!node.named && (uses.get(i) as number) < 2 && depth < MAX_NESTING)) {
        this.text.set(i, printed);
        this.depth.set(i, depth);
        continue;
      }
      const name = node.named ? identifier(node.named.name) : `v${i}`;
      this.lines.push(`  let ${name} = ${printed};`);
      this.text.set(i, name);
    }
  }

  /** The node as an f32 expression. */
  number(i: number): string {
    const text = this.text.get(i) as string;
    return isBoolean(this.graph.nodes[i]) ? `select(0.0, 1.0, ${text})` : text;
  }

  /** The node as a bool expression. */
  private truth(i: number): string {
    const text = this.text.get(i) as string;
    return isBoolean(this.graph.nodes[i]) ? text : `(${text} != 0.0)`;
  }

  /** How often each node is read, not looking inside means (they are read from scratch memory). */
  private countUses(roots: readonly number[]): Map<number, number> {
    const uses = new Map<number, number>();
    const visit = (i: number): void => {
      const before = uses.get(i) ?? 0;
      uses.set(i, before + 1);
      if (before > 0 || this.slotOf.has(i)) return;
      this.graph.nodes[i].args.forEach(visit);
    };
    roots.forEach(visit);
    return uses;
  }

  private print(node: GraphNode, i: number): string {
    const e = node.expr;
    const slot = this.slotOf.get(i);
    if (slot !== undefined) return `unitMean(t.index, ${slot}u)`;
    const number = (k: number) => this.number(node.args[k]);
    switch (e.kind) {
      case 'const':
        return wgslNumber(e.value);
      case 'hyper': {
        const at = this.slots[e.name];
        return `hyper[${at >> 2}].${'xyzw'[at & 3]}`;
      }
      case 'leaf':
        return `t.${e.name}`;
      case 'stopGrad':
        return number(0);
      case 'clip':
        return `clamp(${number(0)}, ${number(1)}, ${number(2)})`;
      case 'select':
        return `select(${number(2)}, ${number(1)}, ${this.truth(node.args[0])})`;
      case 'unary':
        return e.op === 'neg' ? `(-${number(0)})` : `${UNARY_WGSL[e.op]}(${number(0)})`;
      case 'binary':
        switch (e.op) {
          case 'min':
          case 'max':
            return `${e.op}(${number(0)}, ${number(1)})`;
          case 'and':
          case 'or':
            return `(${this.truth(node.args[0])} ${e.op === 'and' ? '&&' : '||'} ${this.truth(node.args[1])})`;
          default:
            return `(${number(0)} ${BINARY_WGSL[e.op]} ${number(1)})`;
        }
      case 'mean':
        throw new Error('invariant: a mean without a slot');
    }
  }
}

const UNARY_WGSL = { exp: 'exp', log: 'log', sqrt: 'sqrt', sigmoid: 'sigmoid', expm1: 'expm1', k3: 'k3' } as const;
const BINARY_WGSL = { add: '+', sub: '-', mul: '*', div: '/', lt: '<', le: '<=' } as const;

const isBoolean = (node: GraphNode): boolean => node.expr.kind === 'binary' && ['lt', 'le', 'and', 'or'].includes(node.expr.op);

/** An f32 literal that WGSL accepts for any finite number. */
function wgslNumber(x: number): string {
  invariant(Number.isFinite(Math.fround(x)), `${x} has no f32 value`);
  // The shortest decimal that is the same f32.
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((d) => Math.fround(Number(x.toPrecision(d))) === Math.fround(x)) ?? 9;
  const text = String(Number(x.toPrecision(digits)));
  const literal = text.includes('e') || text.includes('.') ? text : `${text}.0`;
  return x < 0 ? `(${literal})` : literal;
}
