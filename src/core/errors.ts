/**
 * An error that a person can act on: `message` says what was wrong, `hint` what to do.
 * Anything else that is thrown is a bug of ours.
 */
export class UserError extends Error {
  readonly hint: string;
  constructor(message: string, hint = '') {
    super(message);
    this.name = 'UserError';
    this.hint = hint;
  }
}

/** Throws a plain Error when `condition` is false: a broken promise between two parts of the program, never bad input. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${message}`);
}
