import type { Level } from '../core/levels';
import { AGGREGATION_TEX } from './aggregation';
import { operands, withOperands, type Expr, type Leaf } from './expr';
import { specialise } from './graph';
import type { Objective } from './objective';
import type { LossAggMode } from './types';

/**
 * Prints expressions as TeX for KaTeX. Parentheses follow precedence, so that what is shown is what is computed: a test
 * reads the TeX back and evaluates it. Symbols that belong to a level are wrapped in \htmlClass{level-...}{...}.
 */

const LEAF_TEX: Record<Exclude<Leaf, 'entropyRatio'>, string> = {
  logp: '\\log\\pi_\\theta(y_{i,t})',
  oldLogp: '\\log\\pi_{\\text{old}}(y_{i,t})',
  refLogp: '\\log\\pi_{\\text{ref}}(y_{i,t})',
  advantage: '\\hat{A}_{i,t}',
  entropy: 'H_{i,t}',
  weight: 'w_{i,t}',
};

/** How tightly a printed term holds together; an operand that holds less than its place asks for is put in parentheses. */
const OR = 1;
const AND = 2;
const COMPARE = 3;
const SUM = 4;
/** A leading minus or a big sum: fine as the first of a sum, not inside a product. */
const PREFIX = 5;
const PRODUCT = 6;
const ATOM = 7;

interface Printed {
  tex: string;
  holds: number;
}

export interface TexDefinition {
  /** Identifier of the symbol, as in the shader. */
  name: string;
  level: Level | null;
  /** The symbol alone, coloured. */
  symbol: string;
  /** "symbol = definition". */
  tex: string;
}

export interface ObjectiveTex {
  /** "L(theta) = sums of the token loss", in one line. */
  loss: string;
  /** The token loss alone. */
  tokenLoss: string;
  /** What the symbols mean, in the order in which they are met. */
  definitions: TexDefinition[];
}

export interface TexOptions {
  /** Complete hyperparameters: what they switch off is left out of the formula. */
  hyper?: Readonly<Record<string, number>>;
  lossAggMode?: LossAggMode;
  /** Wrap the symbols of the levels in \htmlClass (KaTeX needs `trust` for it). Default true. */
  colour?: boolean;
}

/** The formula of an objective with the definitions of its symbols. */
export function objectiveTex(objective: Objective, options: TexOptions = {}): ObjectiveTex {
  const { hyper = {}, lossAggMode = objective.lossAggMode, colour = true } = options;
  const off = Object.fromEntries(objective.hyperparameters.filter((h) => h.name in hyper && h.named?.off === hyper[h.name]).map((h) => [h.name, hyper[h.name]]));
  const printer = new TexPrinter(new Map(objective.hyperparameters.map((h) => [h.name, h.tex])), colour);
  const printed = printer.print(inlineSingleUses(specialise(objective.loss, off, hyper)));
  const tokenLoss = printed.holds >= PRODUCT ? printed.tex : `\\left[${printed.tex}\\right]`;
  return {
    loss: `\\mathcal{L}(\\theta) = ${AGGREGATION_TEX[lossAggMode]}${tokenLoss}`,
    tokenLoss: printed.tex,
    definitions: printer.definitions(),
  };
}

/** Writes out a helper term (one that belongs to no level) that is used only once. */
function inlineSingleUses(e: Expr): Expr {
  const uses = new Map<string, number>();
  const count = (x: Expr): void => {
    if (x.kind === 'named') uses.set(x.name, (uses.get(x.name) ?? 0) + 1);
    if (x.kind !== 'named' || uses.get(x.name) === 1) operands(x).forEach(count);
  };
  count(e);
  const done = new Map<Expr, Expr>();
  const visit = (x: Expr): Expr => {
    const before = done.get(x);
    if (before) return before;
    const result = x.kind === 'named' && x.level === null && uses.get(x.name) === 1 ? visit(x.a) : withOperands(x, operands(x).map(visit));
    done.set(x, result);
    return result;
  };
  return visit(e);
}

/** One expression as TeX, with the definitions of the named subterms that it shows as symbols. */
export function exprTex(e: Expr, hyperTex: ReadonlyMap<string, string> = new Map(), colour = false): { tex: string; definitions: TexDefinition[] } {
  const printer = new TexPrinter(hyperTex, colour);
  return { tex: printer.print(e).tex, definitions: printer.definitions() };
}

class TexPrinter {
  private readonly met = new Map<string, Extract<Expr, { kind: 'named' }>>();

  constructor(
    private readonly hyperTex: ReadonlyMap<string, string>,
    private readonly colour: boolean,
  ) {}

  /** Definitions of everything met so far and of what those definitions meet in turn. */
  definitions(): TexDefinition[] {
    const out: TexDefinition[] = [];
    // The map grows while it is walked: printing a definition may meet new symbols.
    for (const e of this.met.values()) {
      const symbol = this.coloured(e.tex, e.level);
      out.push({ name: e.name, level: e.level, symbol, tex: `${symbol} = ${this.print(e.a).tex}` });
    }
    return out;
  }

  print(e: Expr): Printed {
    switch (e.kind) {
      case 'const':
        return texNumber(e.value);
      case 'leaf':
        return this.leaf(e.name);
      case 'hyper':
        return { tex: this.hyperTex.get(e.name) ?? `\\mathit{${e.name}}`, holds: ATOM };
      case 'named':
        this.met.set(e.name, this.met.get(e.name) ?? e);
        return { tex: this.coloured(e.tex, e.level), holds: ATOM };
      case 'stopGrad':
        return { tex: `\\operatorname{sg}\\left[${this.print(e.a).tex}\\right]`, holds: ATOM };
      case 'clip':
        return this.call(e.guard ? '\\operatorname{clamp}' : '\\operatorname{clip}', [e.x, e.low, e.high]);
      case 'select':
        return {
          tex: `\\begin{cases}${this.print(e.a).tex} & \\text{if } ${this.print(e.condition).tex} \\\\ ${this.print(e.b).tex} & \\text{otherwise}\\end{cases}`,
          holds: ATOM,
        };
      case 'mean': {
        const unit = e.level === 'sequence' ? this.coloured('y_i', 'sequence') : this.coloured('S_{i,k}', 'segment');
        return { tex: `\\frac{1}{|${unit}|}\\sum_{t \\in ${unit}}${this.at(e.a, PRODUCT)}`, holds: PREFIX };
      }
      case 'unary':
        return this.unary(e.op, e.a);
      case 'binary':
        return this.binary(e.op, e.a, e.b);
    }
  }

  private leaf(name: Leaf): Printed {
    if (name === 'entropyRatio') return { tex: `\\frac{${this.coloured('H_{i,k}', 'segment')}}{\\bar{H}}`, holds: ATOM };
    return { tex: LEAF_TEX[name], holds: ATOM };
  }

  private unary(op: Extract<Expr, { kind: 'unary' }>['op'], a: Expr): Printed {
    switch (op) {
      case 'neg':
        return { tex: `-${this.at(a, PRODUCT)}`, holds: PREFIX };
      case 'exp':
      case 'log':
        return this.call(`\\${op}`, [a]);
      case 'sqrt':
        return { tex: `\\sqrt{${this.print(a).tex}}`, holds: ATOM };
      case 'sigmoid':
        return this.call('\\sigma', [a]);
      case 'expm1':
        return { tex: `\\exp\\left(${this.print(a).tex}\\right) - 1`, holds: SUM };
      case 'k3':
        return { tex: `\\exp\\left(${this.print(a).tex}\\right) - 1 - ${this.at(a, PRODUCT)}`, holds: SUM };
    }
  }

  private binary(op: Extract<Expr, { kind: 'binary' }>['op'], a: Expr, b: Expr): Printed {
    switch (op) {
      case 'add':
        return { tex: `${this.at(a, SUM)} + ${this.at(b, PRODUCT)}`, holds: SUM };
      case 'sub':
        return { tex: `${this.at(a, SUM)} - ${this.at(b, PRODUCT)}`, holds: SUM };
      case 'mul':
        return { tex: `${this.at(a, PRODUCT)}\\,${this.at(b, ATOM)}`, holds: PRODUCT };
      case 'div':
        return { tex: `\\frac{${this.print(a).tex}}{${this.print(b).tex}}`, holds: ATOM };
      case 'min':
      case 'max':
        return this.call(`\\${op}`, [a, b]);
      case 'lt':
        // "c > 0" reads better than "0 < c".
        if (a.kind === 'const') return { tex: `${this.at(b, SUM)} > ${this.at(a, SUM)}`, holds: COMPARE };
        return { tex: `${this.at(a, SUM)} < ${this.at(b, SUM)}`, holds: COMPARE };
      case 'le':
        return { tex: `${this.at(a, SUM)} \\le ${this.at(b, SUM)}`, holds: COMPARE };
      case 'and':
        return { tex: `${this.at(a, AND)} \\wedge ${this.at(b, COMPARE)}`, holds: AND };
      case 'or':
        return { tex: `${this.at(a, OR)} \\vee ${this.at(b, AND)}`, holds: OR };
    }
  }

  private call(name: string, args: Expr[]): Printed {
    return { tex: `${name}\\left(${args.map((a) => this.print(a).tex).join(',\\, ')}\\right)`, holds: ATOM };
  }

  /** The term, in parentheses if it holds less than `place` asks for. */
  private at(e: Expr, place: number): string {
    const { tex, holds } = this.print(e);
    return holds >= place ? tex : `\\left(${tex}\\right)`;
  }

  private coloured(tex: string, level: Level | null): string {
    return this.colour && level ? `\\htmlClass{level-${level}}{${tex}}` : tex;
  }
}

function texNumber(x: number): Printed {
  const [mantissa, exponent] = String(x).split('e');
  if (exponent === undefined) return { tex: mantissa, holds: x < 0 ? PREFIX : ATOM };
  return { tex: `${mantissa} \\cdot 10^{${Number(exponent)}}`, holds: x < 0 ? PREFIX : PRODUCT };
}
