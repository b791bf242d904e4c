/**
 * Reads back the TeX that objectives/toTex.ts writes and evaluates it: a recursive-descent parser over the few commands
 * that occur. It knows nothing of the expressions that the TeX was printed from.
 */

export interface TexScope {
  /** Value of a symbol at token t, by its TeX. */
  symbol(tex: string, t: number): number;
  /** Tokens of the unit that t belongs to; `S_{i,k}` or `y_i`. */
  unit(tex: string, t: number): number[];
}

type Value = (t: number) => number;

const FUNCTIONS: Record<string, (args: number[]) => number> = {
  '\\exp': ([a]) => Math.exp(a),
  '\\log': ([a]) => Math.log(a),
  '\\sigma': ([a]) => 1 / (1 + Math.exp(-a)),
  '\\min': (args) => Math.min(...args),
  '\\max': (args) => Math.max(...args),
  '\\operatorname{clip}': ([a, low, high]) => Math.min(Math.max(a, low), high),
  '\\operatorname{clamp}': ([a, low, high]) => Math.min(Math.max(a, low), high),
};

/** The value of a formula at every token 0 .. count-1. */
export function evaluateTex(tex: string, scope: TexScope, count: number): number[] {
  const reader = new Reader(tex.replace(/\\htmlClass\{level-\w+\}/g, ''), scope);
  const value = reader.logic();
  reader.end();
  return Array.from({ length: count }, (_, t) => value(t));
}

class Reader {
  private at = 0;
  constructor(
    private readonly text: string,
    private readonly scope: TexScope,
  ) {}

  end(): void {
    this.blank();
    if (this.at < this.text.length) throw new Error(`left over: ${this.text.slice(this.at)}`);
  }

  private blank(): void {
    while (this.text[this.at] === ' ') this.at++;
  }
  private peek(token: string): boolean {
    this.blank();
    return this.text.startsWith(token, this.at);
  }
  private take(token: string): boolean {
    const found = this.peek(token);
    if (found) this.at += token.length;
    return found;
  }
  private need(token: string): void {
    if (!this.take(token)) throw new Error(`wanted ${token} at: ${this.text.slice(this.at, this.at + 40)}`);
  }

  logic(): Value {
    let value = this.conjunction();
    while (this.take('\\vee')) {
      const [a, b] = [value, this.conjunction()];
      value = (t) => (a(t) || b(t) ? 1 : 0);
    }
    return value;
  }
  private conjunction(): Value {
    let value = this.comparison();
    while (this.take('\\wedge')) {
      const [a, b] = [value, this.comparison()];
      value = (t) => (a(t) && b(t) ? 1 : 0);
    }
    return value;
  }
  private comparison(): Value {
    const a = this.sum();
    for (const [token, holds] of [['\\le ', (x: number, y: number) => x <= y], ['<', (x: number, y: number) => x < y], ['>', (x: number, y: number) => x > y]] as const) {
      if (!this.take(token)) continue;
      const b = this.sum();
      return (t) => (holds(a(t), b(t)) ? 1 : 0);
    }
    return a;
  }
  private sum(): Value {
    let value = this.product();
    for (;;) {
      if (this.take('+')) {
        const [a, b] = [value, this.product()];
        value = (t) => a(t) + b(t);
      } else if (this.take('-')) {
        const [a, b] = [value, this.product()];
        value = (t) => a(t) - b(t);
      } else return value;
    }
  }
  /** A leading minus or big sum takes the whole product after it. */
  private product(): Value {
    if (this.take('-')) {
      const a = this.product();
      return (t) => -a(t);
    }
    const average = /^ *\\frac\{1\}\{\|\{?([^|{}]+(?:\{[^{}]*\})?)\}?\|\}\\sum_\{t \\in \{?\1\}?\}/.exec(this.text.slice(this.at));
    if (average) {
      this.at += average[0].length;
      const [unit, a] = [average[1], this.product()];
      return (t) => {
        const tokens = this.scope.unit(unit, t);
        return tokens.reduce((s, k) => s + a(k), 0) / tokens.length;
      };
    }
    let value = this.atom();
    while (!this.peek(',\\,') && (this.take('\\,') || this.take('\\cdot'))) {
      const [a, b] = [value, this.atom()];
      value = (t) => a(t) * b(t);
    }
    return value;
  }

  private atom(): Value {
    this.blank();
    const rest = this.text.slice(this.at);
    if (this.take('\\left(')) return this.closed('\\right)');
    if (this.take('\\operatorname{sg}\\left[')) return this.closed('\\right]');
    if (this.take('\\sqrt{')) {
      const a = this.closed('}');
      return (t) => Math.sqrt(a(t));
    }
    if (this.take('\\begin{cases}')) return this.cases();
    if (rest.startsWith('\\frac{') && !rest.startsWith('\\frac{{H_') && !rest.startsWith('\\frac{H_')) {
      this.need('\\frac{');
      const a = this.closed('}');
      this.need('{');
      const b = this.closed('}');
      return (t) => a(t) / b(t);
    }
    for (const [name, apply] of Object.entries(FUNCTIONS)) if (this.take(`${name}\\left(`)) return this.call(apply);
    const number = /^\d+(?:\.\d+)?(?: \\cdot 10\^\{-?\d+\})?/.exec(rest);
    if (number) {
      this.at += number[0].length;
      const [mantissa, exponent] = number[0].split(' \\cdot 10^{');
      const value = Number(mantissa) * 10 ** Number((exponent ?? '0').replace('}', ''));
      return () => value;
    }
    return this.symbol(rest);
  }

  private closed(token: string): Value {
    const value = this.logic();
    this.need(token);
    return value;
  }
  private call(apply: (args: number[]) => number): Value {
    const args = [this.logic()];
    while (this.take(',\\,')) args.push(this.logic());
    this.need('\\right)');
    return (t) => apply(args.map((a) => a(t)));
  }
  private cases(): Value {
    const a = this.logic();
    this.need('& \\text{if }');
    const condition = this.logic();
    this.need('\\\\');
    const b = this.logic();
    this.need('& \\text{otherwise}\\end{cases}');
    return (t) => (condition(t) ? a(t) : b(t));
  }

  /** A symbol: a letter or command with its sub- and superscripts and argument list, perhaps in braces. */
  private symbol(rest: string): Value {
    const pattern =
      /^(?:\\frac\{\{?H_\{i,k\}\}?\}\{\\bar\{H\}\}|\\log\\pi_(?:\\theta|\{\\text\{\w+\}\})\(y_\{i,t\}\)|\{?(?:\\(?:hat|tilde)\{\w\}|\\[A-Za-z]+|[A-Za-z])(?:\^\{\\text\{\w+\}\})?(?:_(?:\{(?:[\w,]|\\text\{\w+\})+\}|\w))?\}?)/;
    const found = pattern.exec(rest);
    if (!found) throw new Error(`no symbol at: ${rest.slice(0, 40)}`);
    const braces = found[0].startsWith('{');
    let tex = found[0];
    if (braces) tex = tex.slice(1, -1);
    // A closing brace without an opening one belongs to what stands around the symbol.
    else if (tex.endsWith('}') && tex.split('{').length !== tex.split('}').length) tex = tex.slice(0, -1);
    this.at += braces ? found[0].length : tex.length;
    return (t) => this.scope.symbol(tex.replace(/\\frac\{\{?H_\{i,k\}\}?\}/, '\\frac{H_{i,k}}'), t);
  }
}
