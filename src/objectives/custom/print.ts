import { LOG_RATIO_CLAMP, operands, type BinaryOp, type Expr } from '../expr';
import type { Objective } from '../objective';
import { mayClip, whereGradientVanishes } from './clipRule';
import { isReserved, LEAVES } from './vocabulary';

/** Prints objectives in the language that parser.ts reads: what is printed and read again is the same term for term. */

const TERNARY = 1;
const OR = 2;
const AND = 3;
const COMPARE = 4;
const SUM = 5;
const PRODUCT = 6;
const MINUS = 7;
const ATOM = 9;

interface Printed {
  text: string;
  holds: number;
}

const INFIX: Partial<Record<BinaryOp, { sign: string; holds: number }>> = {
  add: { sign: '+', holds: SUM },
  sub: { sign: '-', holds: SUM },
  mul: { sign: '*', holds: PRODUCT },
  div: { sign: '/', holds: PRODUCT },
  lt: { sign: '<', holds: COMPARE },
  le: { sign: '<=', holds: COMPARE },
  and: { sign: 'and', holds: AND },
  or: { sign: 'or', holds: OR },
};

/** Numbers for terms: two terms with the same number compute the same, whatever they are called. */
class Structure {
  private readonly byKey = new Map<string, number>();
  private readonly byTerm = new Map<Expr, number>();

  numberOf(e: Expr): number {
    const known = this.byTerm.get(e);
    if (known !== undefined) return known;
    let number: number;
    if (e.kind === 'named') number = this.numberOf(e.a);
    else {
      const own = [e.kind, e.kind === 'const' ? e.value : '', 'name' in e ? e.name : '', 'op' in e ? e.op : '', e.kind === 'mean' ? e.level : '', e.kind === 'clip' ? e.guard : ''];
      const key = [...own, ...operands(e).map((a) => this.numberOf(a))].join('|');
      number = this.byKey.get(key) ?? this.byKey.size;
      this.byKey.set(key, number);
    }
    this.byTerm.set(e, number);
    return number;
  }
}

class TextPrinter {
  readonly lets: string[] = [];
  /** Names by the number of what they stand for. */
  private readonly names = new Map<number, string>();
  private readonly used: Set<string>;
  private readonly structure = new Structure();

  constructor(parameters: readonly string[]) {
    this.used = new Set(parameters);
    for (const [name, { expr }] of Object.entries(LEAVES)) this.names.set(this.structure.numberOf(expr), name);
  }

  isSame(a: Expr, b: Expr): boolean {
    return this.structure.numberOf(a) === this.structure.numberOf(b);
  }

  print(e: Expr): Printed {
    const key = this.structure.numberOf(e);
    const known = this.names.get(key);
    if (known !== undefined) return { text: known, holds: ATOM };
    switch (e.kind) {
      case 'const':
        return { text: String(e.value), holds: e.value < 0 ? MINUS : ATOM };
      case 'hyper':
        return { text: e.name, holds: ATOM };
      case 'leaf':
        // Only `weight` has no word in the language; the gradient reads it.
        return { text: e.name, holds: ATOM };
      case 'named': {
        const definition = this.print(e.a).text;
        const name = this.freeName(e.name);
        this.lets.push(`let ${name} = ${definition};`);
        this.names.set(key, name);
        return { text: name, holds: ATOM };
      }
      case 'unary':
        return e.op === 'neg' ? { text: `-${this.at(e.a, MINUS)}`, holds: MINUS } : this.call(e.op, [e.a]);
      case 'stopGrad':
        return this.call('stopGrad', [e.a]);
      case 'mean':
        return this.call(e.level === 'segment' ? 'meanSegment' : 'meanSequence', [e.a]);
      case 'clip':
        if (!e.guard) return this.call('clip', [e.x, e.low, e.high]);
        return this.call('clamp', e.high.kind === 'const' && e.high.value === LOG_RATIO_CLAMP ? [e.x] : [e.x, e.high]);
      case 'select':
        return { text: `${this.at(e.condition, OR)} ? ${this.at(e.a, OR)} : ${this.at(e.b, TERNARY)}`, holds: TERNARY };
      case 'binary':
        return this.binary(e.op, e.a, e.b);
    }
  }

  private binary(op: BinaryOp, a: Expr, b: Expr): Printed {
    const infix = INFIX[op];
    if (!infix) return this.call(op, [a, b]);
    const { sign, holds } = infix;
    // "adv > 0" reads better than "0 < adv".
    if ((op === 'lt' || op === 'le') && a.kind === 'const') return { text: `${this.at(b, holds + 1)} ${op === 'lt' ? '>' : '>='} ${this.at(a, holds + 1)}`, holds };
    return { text: `${this.at(a, holds === COMPARE ? holds + 1 : holds)} ${sign} ${this.at(b, holds + 1)}`, holds };
  }

  private call(name: string, args: Expr[]): Printed {
    return { text: `${name}(${args.map((a) => this.print(a).text).join(', ')})`, holds: ATOM };
  }

  private at(e: Expr, place: number): string {
    const { text, holds } = this.print(e);
    return holds >= place ? text : `(${text})`;
  }

  /** The name itself, or with a number where it means something else already. */
  private freeName(wanted: string): string {
    let name = wanted;
    for (let n = 2; isReserved(name) || this.used.has(name); n++) name = `${wanted}${n}`;
    this.used.add(name);
    return name;
  }
}

/** The text of an objective: a built-in as a starting point, or any other. */
export function printObjective(objective: Objective): string {
  const printer = new TextPrinter(objective.hyperparameters.map((h) => h.name));
  const loss = printer.print(objective.loss).text;
  const effect = clipLine(objective, printer);
  const band = objective.widths && !isDefaultBand(objective) ? `band ${printer.print(objective.widths.low).text}, ${printer.print(objective.widths.high).text};` : null;
  const parameters = objective.hyperparameters.map(({ name, default: value, min, max, step, help }) => `param ${name} = ${value} in ${min}..${max} step ${step} "${help.replace(/["\n]/g, "'").slice(0, 200)}";`);
  return [
    `title "${objective.title}, copied"`,
    `level ${objective.importanceSamplingLevel === 'segment' ? 'subsentence' : objective.importanceSamplingLevel}`,
    `aggregation ${objective.lossAggMode}`,
    `advantage ${objective.advantageEstimator}`,
    '',
    ...(parameters.length ? [...parameters, ''] : []),
    ...printer.lets,
    `loss = ${loss};`,
    ...[band, effect].filter((line) => line !== null),
    '',
  ].join('\n');
}

/** The line that says where the clip acts; null where a reader finds it by itself. */
function clipLine({ clipEffect, clipped, loss }: Objective, printer: TextPrinter): string | null {
  if (clipEffect === 'none') return mayClip(loss) ? 'clipped = none;' : null;
  if (clipEffect === 'cut' && mayClip(loss) && printer.isSame(clipped, whereGradientVanishes(loss))) return null;
  return `${clipEffect === 'hold' ? 'held' : 'clipped'} = ${printer.print(clipped).text};`;
}

/** True where the widths are the parameters clipLow and clipHigh, which needs no line. */
function isDefaultBand({ widths }: Objective): boolean {
  return widths?.low.kind === 'hyper' && widths.low.name === 'clipLow' && widths.high.kind === 'hyper' && widths.high.name === 'clipHigh';
}

/** One expression in the language, its names written out; for the CPU reference beside the kernel. */
export function printExpression(e: Expr, parameters: readonly string[] = []): { lets: readonly string[]; text: string } {
  const printer = new TextPrinter(parameters);
  const { text } = printer.print(e);
  return { lets: printer.lets, text };
}
