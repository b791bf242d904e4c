import { UserError } from '../core/errors';

/** A loss, gradient or log-prob became NaN or infinite: the run cannot go on, its history stays. */
export class NotFiniteError extends UserError {
  constructor(place: string, step: number, update: number) {
    super(
      `${place} is not a finite number at iteration ${step}, update ${update}.`,
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
