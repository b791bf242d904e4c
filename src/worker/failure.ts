import { UserError } from '../core/errors';
import { NotFiniteError, ReferencePolicyError } from '../trainer/errors';
import type { ErrorKind, WorkerEvent } from './protocol';

type ErrorEvent = Extract<WorkerEvent, { type: 'error' }>;

/** An error as the page shows it. `kind` is what it means where it was caught, unless the error itself says more. */
export function errorEvent(error: unknown, kind: ErrorKind = 'internal'): ErrorEvent {
  if (error instanceof NotFiniteError) return make('notFinite', error, true);
  // The run is only paused: without KL it can go on.
  if (error instanceof ReferencePolicyError) return make('reference', error, false);
  if (error instanceof UserError) return make(kind, error, true);
  const message = error instanceof Error ? error.message : String(error);
  const hint = 'This is a fault of the program. Press Reset, or reload the page.';
  return { type: 'error', kind: kind === 'crashed' ? kind : 'internal', message: `Something unexpected went wrong: ${message}`, hint, fatal: true };
}

function make(kind: ErrorKind, error: UserError, fatal: boolean): ErrorEvent {
  return { type: 'error', kind, message: error.message, hint: error.hint, fatal };
}

/** The device is gone, or said that it could not do what it was asked. */
export function gpuFailure(kind: 'deviceLost' | 'gpuError', message: string): ErrorEvent {
  return kind === 'deviceLost'
    ? { type: 'error', kind: 'deviceLost', message: `The graphics device was lost: ${message.replace(/\.+$/, '')}.`, hint: 'The history is kept. Press Reset to start again on a new device; if it happens again, close other tabs or choose the small model.', fatal: true }
    : { type: 'error', kind: 'internal', message: `The graphics device reported an error: ${message}`, hint: 'This is a fault of the program or its driver. Press Reset, or reload the page.', fatal: true };
}

/** The run was stopped, but its checkpoint of iteration `step` is good. */
export function rewindable(event: ErrorEvent, step: number): ErrorEvent {
  return { ...event, hint: `What that iteration did is void. Rewind to iteration ${step}, then lower the learning rate or the number of epochs before you go on.`, fatal: false, rewindTo: step };
}

/** The run goes on by itself from its checkpoint of iteration `step`, on something new: a device, a worker. */
export function recovering(event: ErrorEvent, step: number, something: string): ErrorEvent {
  return { ...event, hint: `The run is put back to iteration ${step} on a new ${something}, by itself; its history is kept.`, fatal: false };
}

/** A command for a run before there was one. */
export const tooEarly = (what: string): ErrorEvent => ({ type: 'error', kind: 'badConfig', message: `“${what}” came before a run was set up.`, hint: 'Press Reset.', fatal: false });

export const NOT_UNDERSTOOD: ErrorEvent = { type: 'error', kind: 'internal', message: 'The page sent something that the trainer does not understand.', hint: 'Reload the page.', fatal: false };
