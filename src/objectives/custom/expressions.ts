import * as x from '../expr';
import { ObjectiveTextError, type Span } from './errors';
import { isCondition, TermMaker } from './scope';
import { tokenize, type Token } from './tokenizer';
import { FUNCTION_ALIASES, FUNCTIONS, LEAF_ALIASES, LEAVES, nearest } from './vocabulary';

/** How tightly the operators bind, loosest first. */
const TERNARY = 1;
const OR = 2;
const AND = 3;
const COMPARE = 4;
const SUM = 5;
const PRODUCT = 6;
const MINUS = 7;
const POWER = 8;

interface Operator {
  binds: number;
  build(a: x.Expr, b: x.Expr): x.Expr;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  '||': { binds: OR, build: x.or },
  or: { binds: OR, build: x.or },
  '&&': { binds: AND, build: x.and },
  and: { binds: AND, build: x.and },
  '<': { binds: COMPARE, build: x.lt },
  '<=': { binds: COMPARE, build: x.le },
  '>': { binds: COMPARE, build: x.gt },
  '>=': { binds: COMPARE, build: x.ge },
  '+': { binds: SUM, build: x.add },
  '-': { binds: SUM, build: x.sub },
  '*': { binds: PRODUCT, build: x.mul },
  '/': { binds: PRODUCT, build: x.div },
};

/** Brackets within brackets. */
const MAX_NESTING = 100;
/** Numbers that f32 can hold. */
const GREATEST = 3.4e38;
const SMALLEST = 1.2e-38;
const HIGHEST_POWER = 8;

/** A Pratt parser of expressions over the words of vocabulary.ts and the names defined so far. */
export class ExpressionParser {
  protected readonly names = new Map<string, x.Expr>();
  protected readonly terms: TermMaker;
  private readonly tokens: Token[];
  private at = 0;
  private nesting = 0;

  constructor(protected readonly text: string) {
    this.tokens = tokenize(text);
    this.terms = new TermMaker(text);
  }

  protected peek(ahead = 0): Token {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)];
  }

  protected next(): Token {
    const token = this.peek();
    if (this.at < this.tokens.length - 1) this.at++;
    return token;
  }

  protected previousEnd(): number {
    return this.tokens[Math.max(0, this.at - 1)].end;
  }

  protected error(span: Span, reason: string, hint = ''): ObjectiveTextError {
    return new ObjectiveTextError(this.text, span, reason, hint);
  }

  /** Takes this operator or bracket if it stands here. */
  protected accept(symbol: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== symbol) return false;
    this.next();
    return true;
  }

  protected expect(symbol: string): void {
    const found = this.peek();
    if (!this.accept(symbol)) throw this.error(found, `“${symbol}” is expected ${found.kind === 'end' ? 'before the text ends' : `before “${found.text}”`}.`);
  }

  /** A word that may hold hyphens, as the names of aggregations do. */
  protected rawWord(): { text: string; span: Span } {
    const first = this.next();
    if (first.kind !== 'name') throw this.error(first, 'a word is expected.');
    let end = first.end;
    while (this.peek().text === '-' && this.peek().start === end && this.peek(1).kind === 'name' && this.peek(1).start === end + 1) {
      this.next();
      end = this.next().end;
    }
    return { text: this.text.slice(first.start, end), span: { start: first.start, end } };
  }

  protected signedNumber(): number {
    const negative = this.accept('-');
    const token = this.next();
    if (token.kind !== 'number') throw this.error(token, 'a number is expected.');
    return negative ? -this.numberOf(token) : this.numberOf(token);
  }

  private numberOf(token: Token): number {
    const value = Number(token.text);
    if (!(Math.abs(value) <= GREATEST)) throw this.error(token, `${token.text} is too large for the GPU's numbers.`, 'f32 ends at 3.4e38.');
    if (value !== 0 && Math.abs(value) < SMALLEST) throw this.error(token, `${token.text} is too small for the GPU's numbers.`, 'f32 begins at 1.2e-38.');
    return value;
  }

  protected expression(binds = 0): x.Expr {
    const { start } = this.peek();
    if (++this.nesting > MAX_NESTING) throw this.error(this.peek(), `brackets stand more than ${MAX_NESTING} deep in each other.`, 'Name the inner parts with let.');
    let left = this.operand();
    for (;;) {
      const token = this.peek();
      const note = (e: x.Expr) => this.terms.note(e, { start, end: this.previousEnd() });
      if (token.kind === 'symbol' && token.text === '?' && binds < TERNARY) {
        this.requireCondition(left, { start, end: this.previousEnd() });
        this.next();
        const a = this.expression();
        this.expect(':');
        left = note(x.select(left, a, this.expression(TERNARY - 1)));
        continue;
      }
      if (token.kind === 'symbol' && token.text === '^' && binds < POWER) {
        left = note(this.power(left));
        continue;
      }
      const operator = token.kind === 'symbol' || token.kind === 'name' ? (Object.hasOwn(OPERATORS, token.text) ? OPERATORS[token.text] : undefined) : undefined;
      if (!operator || operator.binds <= binds) break;
      this.next();
      const rightStart = this.peek().start;
      const right = this.expression(operator.binds);
      if (operator.binds === COMPARE) {
        const after = this.peek();
        if (after.kind === 'symbol' && ['<', '<=', '>', '>='].includes(after.text)) throw this.error(after, 'two comparisons in a row.', 'Join them: a < b and b < c.');
      }
      if (operator.binds === AND || operator.binds === OR) {
        this.requireCondition(left, { start, end: token.start });
        this.requireCondition(right, { start: rightStart, end: this.previousEnd() });
      }
      left = note(operator.build(left, right));
    }
    this.nesting--;
    return left;
  }

  /** An expression that must be a condition. */
  protected condition(): x.Expr {
    const { start } = this.peek();
    const e = this.expression();
    this.requireCondition(e, { start, end: this.previousEnd() });
    return e;
  }

  private requireCondition(e: x.Expr, span: Span): void {
    if (!isCondition(e)) throw this.error(span, 'a condition is expected, but this is a number.', 'Compare it with something, as in adv > 0.');
  }

  private power(base: x.Expr): x.Expr {
    this.next();
    const token = this.next();
    const n = Number(token.text);
    if (token.kind !== 'number' || !Number.isInteger(n) || n < 2 || n > HIGHEST_POWER) throw this.error(token, `a whole number from 2 to ${HIGHEST_POWER} is expected after ^.`, 'Write other powers as exp(a * log(x)).');
    return Array.from({ length: n - 1 }).reduce<x.Expr>((product) => x.mul(product, base), base);
  }

  private operand(): x.Expr {
    const token = this.next();
    if (token.kind === 'number') return this.terms.note(x.constant(this.numberOf(token)), token);
    if (token.kind === 'name') return this.peek().text === '(' && this.peek().kind === 'symbol' ? this.call(token) : this.name(token);
    if (token.kind === 'symbol' && token.text === '(') {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    if (token.kind === 'symbol' && token.text === '-') {
      const a = this.expression(MINUS);
      return this.terms.note(x.neg(a), { start: token.start, end: this.previousEnd() });
    }
    const found = token.kind === 'end' ? 'the text ends' : token.kind === 'string' ? 'a quoted text stands here' : `“${token.text}” stands here`;
    throw this.error(token, `a number, a name or ( is expected, but ${found}.`);
  }

  private name(token: Token): x.Expr {
    const known = this.names.get(token.text);
    if (known) return this.terms.note(known, token);
    const leaf = Object.hasOwn(LEAF_ALIASES, token.text) ? LEAF_ALIASES[token.text] : token.text;
    if (Object.hasOwn(LEAVES, leaf)) return this.terms.note(LEAVES[leaf].expr, token);
    if (Object.hasOwn(FUNCTIONS, token.text)) throw this.error(token, `${token.text} is a function.`, `Write ${FUNCTIONS[token.text].signature}.`);
    throw this.unknown(token, [...this.names.keys(), ...Object.keys(LEAVES), ...Object.keys(LEAF_ALIASES)], 'name', 'Declare it with param or let on a line above, which ends with ;');
  }

  private unknown(token: Token, known: string[], what: string, otherwise: string): ObjectiveTextError {
    const near = nearest(token.text, known);
    return this.error(token, `there is no ${what} “${token.text}”.`, near ? `Did you mean ${near}?` : `${otherwise}.`);
  }

  private call(token: Token): x.Expr {
    const id = Object.hasOwn(FUNCTION_ALIASES, token.text) ? FUNCTION_ALIASES[token.text] : token.text;
    if (!Object.hasOwn(FUNCTIONS, id)) {
      if (this.names.has(id) || Object.hasOwn(LEAVES, id)) throw this.error(token, `“${token.text}” is not a function.`, `To multiply, write ${token.text} * (...).`);
      throw this.unknown(token, Object.keys(FUNCTIONS), 'function', `Known: ${Object.keys(FUNCTIONS).join(', ')}`);
    }
    const { arity: [least, most], signature, build } = FUNCTIONS[id];
    this.expect('(');
    const args: x.Expr[] = [];
    const spans: Span[] = [];
    if (!this.accept(')')) {
      do {
        const { start } = this.peek();
        args.push(this.expression());
        spans.push({ start, end: this.previousEnd() });
      } while (this.accept(','));
      this.expect(')');
    }
    const span = { start: token.start, end: this.previousEnd() };
    if (args.length < least || args.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      throw this.error(span, `${id} takes ${count} argument${count === '1' ? '' : 's'}, not ${args.length}.`, `Write ${signature}.`);
    }
    if (id === 'select') this.requireCondition(args[0], spans[0]);
    if (id === 'clamp' && args.length === 2) {
      const [, bound] = args;
      if (bound.kind !== 'const' || !(bound.value > 0)) throw this.error(spans[1], 'the bound of clamp must be a number above 0.', 'For bounds that move, use clip(x, low, high).');
    }
    return this.terms.note(build(args), span);
  }
}
