import { UserError } from '../../core/errors';

/** A stretch of the source text: offsets of its first character and one past its last. */
export interface Span {
  start: number;
  end: number;
}

/** What is wrong with the text of an objective, and where. The only error that reading one throws. */
export class ObjectiveTextError extends UserError {
  /** What is wrong, without the place. */
  readonly reason: string;
  readonly span: Span;
  /** From 1. */
  readonly line: number;
  readonly column: number;

  constructor(text: string, span: Span, reason: string, hint = '') {
    const before = text.slice(0, span.start).split('\n');
    const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
    super(`Line ${line}, column ${column}: ${reason}`, hint);
    this.name = 'ObjectiveTextError';
    this.reason = reason;
    this.span = { start: Math.min(span.start, text.length), end: Math.min(Math.max(span.end, span.start), text.length) };
    this.line = line;
    this.column = column;
  }
}
