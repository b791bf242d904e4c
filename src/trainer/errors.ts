import { UserError } from '../core/errors';

/** A loss, gradient or log-prob became NaN or infinite: the run cannot go on, its history stays. */
export class NotFiniteError extends UserError {
  /** @param update counted within the iteration from 1; 0: before the first, null: after the last. @param where which row and token, in words */
  constructor(place: string, step: number, update: number | null, where = '') {
    const when = update === null ? 'after its updates' : update > 0 ? `update ${update}` : 'before its first update';
    super(
      `${place} is not a finite number at iteration ${step}, ${when}${where && `, ${where}`}.`,
      'The policy is destroyed. Press Reset, then lower the learning rate or the number of epochs.',
    );
    this.name = 'NotFiniteError';
  }
}

/** The reference policy could not be loaded or run. */
export class ReferencePolicyError extends UserError {
  constructor(cause: unknown) {
    super(`The reference policy failed: ${cause instanceof Error ? cause.message : String(cause)}`, 'Set β to 0 to go on without it, or reload the page.');
    this.name = 'ReferencePolicyError';
  }
}
