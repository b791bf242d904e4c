import * as x from '../expr';
import { ObjectiveTextError, type Span } from './errors';

/** Terms that a text may hold, and how deep they may hang on each other. */
export const MAX_NODES = 2000;
export const MAX_DEPTH = 200;

/** Makes the terms of one text: counts them, measures their depth and remembers where each was written. */
export class TermMaker {
  /** Where a term was written, for errors that are found later. */
  readonly spans = new Map<x.Expr, Span>();
  private readonly depths = new Map<x.Expr, number>();
  private count = 0;

  constructor(private readonly text: string) {}

  /** Counts a term that was just written at `span`. Throws ObjectiveTextError on one too many or too deep. */
  note(e: x.Expr, span: Span): x.Expr {
    this.count++;
    if (this.count > MAX_NODES) throw new ObjectiveTextError(this.text, span, `here stand more than ${MAX_NODES} terms.`, 'A shader of that size would take longer to compile than to train with.');
    if (this.depth(e) > MAX_DEPTH) throw new ObjectiveTextError(this.text, span, `terms hang on each other more than ${MAX_DEPTH} deep.`);
    if (!this.spans.has(e)) this.spans.set(e, span);
    return e;
  }

  private depth(e: x.Expr): number {
    const known = this.depths.get(e);
    if (known !== undefined) return known;
    const depth = 1 + Math.max(0, ...x.operands(e).map((a) => this.depth(a)));
    this.depths.set(e, depth);
    return depth;
  }
}

/** True for a term that is a condition: a comparison, "and", "or", or a choice between such. */
export function isCondition(e: x.Expr): boolean {
  switch (e.kind) {
    case 'binary':
      return ['lt', 'le', 'and', 'or'].includes(e.op);
    case 'const':
      return e.value === 0 || e.value === 1;
    case 'named':
    case 'stopGrad':
      return isCondition(e.a);
    case 'select':
      return isCondition(e.a) && isCondition(e.b);
    default:
      return false;
  }
}
