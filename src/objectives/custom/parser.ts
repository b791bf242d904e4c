import type { Level } from '../../core/levels';
import { ADVANTAGE_ESTIMATORS, type AdvantageEstimator } from '../estimators';
import * as x from '../expr';
import type { ClipEffect } from '../objective';
import { LOSS_AGG_MODES, type HyperparameterSpec, type LossAggMode } from '../types';
import type { Span } from './errors';
import { ExpressionParser } from './expressions';
import { parameterSpec } from './parameters';
import { levelOfTerm, symbolTex } from './symbols';
import { isReserved, LEVEL_WORDS, nearest, STATEMENTS } from './vocabulary';

/** The text of an objective, read: names resolved, nothing else checked yet. */
export interface ParsedObjective {
  title: string | null;
  level: Level | null;
  lossAggMode: LossAggMode;
  advantageEstimator: AdvantageEstimator;
  parameters: HyperparameterSpec[];
  loss: x.Expr;
  /** Where the clip acts, if the text says so: with `held` it holds the weight rather than cutting the gradient; `clipped = none` is no clip. */
  clipped: x.Expr | null;
  clipEffect: ClipEffect;
  band: { low: x.Expr; high: x.Expr } | null;
  /** Where each term stands, the loss and each parameter, for errors that are found later. */
  spans: ReadonlyMap<x.Expr, Span>;
  lossSpan: Span;
  parameterSpans: ReadonlyMap<string, Span>;
}

const HEADERS = ['title', 'level', 'aggregation', 'advantage'] as const;
type Statement = (typeof STATEMENTS)[number];

/**
 * Reads the text of an objective: header lines, `param` and `let` lines, then the loss of one token.
 * @throws ObjectiveTextError with the place; nothing else, whatever the text
 */
export function parseObjective(text: string): ParsedObjective {
  return new ObjectiveParser(text).parse();
}

class ObjectiveParser extends ExpressionParser {
  private readonly seen = new Set<string>();
  private title: string | null = null;
  private level: Level | null = null;
  private lossAggMode: LossAggMode = 'seq-mean-token-mean';
  private advantageEstimator: AdvantageEstimator = 'groupMeanStd';
  private readonly parameters: HyperparameterSpec[] = [];
  private readonly parameterSpans = new Map<string, Span>();
  private loss: { expr: x.Expr; span: Span } | null = null;
  private clipped: x.Expr | null = null;
  private clipEffect: ClipEffect = 'cut';
  private band: { low: x.Expr; high: x.Expr } | null = null;

  parse(): ParsedObjective {
    while (this.peek().kind !== 'end') this.statement();
    if (!this.loss) {
      throw this.error(this.peek(), 'there is no loss yet.', 'After the `let` lines, each of which ends with ;, write the loss of one token, for instance -ratio * adv.');
    }
    const { title, level, lossAggMode, advantageEstimator, parameters, clipped, clipEffect, band, parameterSpans } = this;
    return { title, level, lossAggMode, advantageEstimator, parameters, loss: this.loss.expr, clipped, clipEffect, band, spans: this.terms.spans, lossSpan: this.loss.span, parameterSpans };
  }

  private statement(): void {
    const token = this.peek();
    if (this.accept(';')) return;
    const word = token.kind === 'name' && (STATEMENTS as readonly string[]).includes(token.text) ? (token.text as Statement) : null;
    if (word === null) {
      this.setLoss();
      return;
    }
    this.next();
    if ((HEADERS as readonly string[]).includes(word)) this.header(word as (typeof HEADERS)[number], token);
    else if (word === 'param') this.parameter();
    else if (word === 'let') this.definition();
    else if (word === 'loss') {
      this.expect('=');
      this.setLoss();
    } else if (word === 'band') this.setBand(token);
    else this.setClipped(word === 'held' ? 'hold' : 'cut', token);
  }

  private setLoss(): void {
    const span = { start: this.peek().start, end: this.peek().end };
    if (this.loss) throw this.error(this.peek(), 'a second loss begins here.', 'Name a helper term with let name = ...; and end the line before with ;.');
    const expr = this.expression();
    this.loss = { expr, span: { start: span.start, end: this.previousEnd() } };
    this.endOfStatement();
  }

  private once(what: string, span: Span): void {
    if (this.seen.has(what)) throw this.error(span, `a second ${what} line.`, 'One is enough.');
    this.seen.add(what);
  }

  private header(word: (typeof HEADERS)[number], at: Span): void {
    this.once(word, at);
    if (word === 'title') {
      const token = this.next();
      if (token.kind !== 'string' || token.text.trim() === '') throw this.error(token, 'a title in quotes is expected.', 'title "My objective"');
      this.title = token.text.trim();
    } else {
      const { text, span } = this.rawWord();
      if (word === 'level') this.level = this.oneOf(LEVEL_WORDS, text, span, 'level');
      else if (word === 'aggregation') this.lossAggMode = this.oneOf(Object.fromEntries(LOSS_AGG_MODES.map((m) => [m, m])), text, span, 'aggregation');
      else this.advantageEstimator = this.oneOf(Object.fromEntries(ADVANTAGE_ESTIMATORS.map((m) => [m, m])), text, span, 'advantage');
    }
    this.accept(';');
  }

  private oneOf<T>(known: Readonly<Record<string, T>>, word: string, span: Span, what: string): T {
    if (Object.hasOwn(known, word)) return known[word];
    const near = nearest(word, Object.keys(known));
    throw this.error(span, `“${word}” is no ${what}.`, `${near ? `Did you mean ${near}? ` : ''}Known: ${Object.keys(known).join(', ')}.`);
  }

  private newName(what: string): { name: string; span: Span } {
    const token = this.next();
    if (token.kind !== 'name') throw this.error(token, `the name of a ${what} is expected.`, 'A name begins with a letter.');
    if (isReserved(token.text)) throw this.error(token, `“${token.text}” has a meaning of its own.`, 'Choose another name.');
    if (this.names.has(token.text)) throw this.error(token, `“${token.text}” is defined twice.`, 'Choose another name.');
    return { name: token.text, span: token };
  }

  /** param name = number in least..most [step number] ["help"] */
  private parameter(): void {
    const { name, span } = this.newName('parameter');
    this.expect('=');
    const value = this.signedNumber();
    if (this.peek().text !== 'in') throw this.error(this.peek(), 'the bounds of the parameter are expected.', `param ${name} = ${value} in 0..1;`);
    this.next();
    const min = this.signedNumber();
    this.expect('..');
    const max = this.signedNumber();
    let step: number | null = null;
    if (this.peek().text === 'step' && this.peek().kind === 'name') {
      this.next();
      step = this.signedNumber();
    }
    const help = this.peek().kind === 'string' ? this.next().text.trim() : '';
    const end = this.previousEnd();
    const refuse = (reason: string, hint = '') => this.error({ start: span.start, end }, reason, hint);
    if (!(min < max)) throw refuse(`the bounds of ${name} are ${min} and ${max}: the first must be less.`);
    if (!(value >= min && value <= max)) throw refuse(`${name} = ${value} lies outside its own bounds, ${min} to ${max}.`);
    if (step !== null && !(step > 0)) throw refuse(`the step of ${name} must be above 0.`);
    const spec = parameterSpec({ name, value, min, max, step, help });
    if (spec.zeroOrAbove !== undefined && value !== 0 && !(value > spec.zeroOrAbove)) throw refuse(`${name} must be 0 (off) or greater than ${spec.zeroOrAbove}.`);
    this.parameters.push(spec);
    this.parameterSpans.set(name, span);
    this.names.set(name, x.hyper(name));
    this.accept(';');
  }

  private definition(): void {
    const { name } = this.newName('term');
    this.expect('=');
    const expr = this.expression();
    const level = levelOfTerm(expr);
    this.names.set(name, x.named(name, symbolTex(name, level), level, expr));
    this.endOfStatement();
  }

  private setClipped(effect: 'cut' | 'hold', at: Span): void {
    this.once('clip', at);
    this.expect('=');
    const isNone = this.peek().text === 'none';
    if (isNone) this.next();
    else this.clipped = this.condition();
    this.clipEffect = isNone ? 'none' : effect;
    this.endOfStatement();
  }

  /** band below, above: how far the ratio may go on either side of 1, for the charts. */
  private setBand(at: Span): void {
    this.once('band', at);
    const low = this.expression();
    this.expect(',');
    this.band = { low, high: this.expression() };
    this.endOfStatement();
  }

  private endOfStatement(): void {
    if (this.peek().kind === 'end' || this.accept(';')) return;
    const found = this.peek();
    const what = found.kind === 'string' ? 'a quoted text' : `“${found.text}”`;
    throw this.error(found, `an operator or ; is expected before ${what}.`, found.kind === 'name' || found.kind === 'number' ? 'Terms are joined by + - * /, and a line ends with ;.' : '');
  }
}
