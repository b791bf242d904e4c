import { RestartLimit } from '../core/restartLimit';
import type { Checkpoint } from '../trainer/checkpoint';
import { ReferencePolicyError } from '../trainer/errors';
import type { Trainer } from '../trainer/trainer';
import { errorEvent, rewindable } from './failure';
import type { Outbox } from './outbox';
import type { WorkerEvent } from './protocol';

/** Iterations between two checkpoints: seldom enough that their readback does not count, often enough that little is lost. */
export const CHECKPOINT_EVERY = 5;
/** What a run goes on from. `steps`: iterations that it still owes, beside playing. */
export interface Resume {
  checkpoint: Checkpoint;
  play: boolean;
  steps: number;
}

/**
 * Compiles, and loads the reference if it is wanted; without the reference the run can still be set up, and Play tries again: then gives what
 * to tell the person. `check` throws when the run was overtaken meanwhile.
 */
export async function preparedOrWithout(trainer: Trainer, check: () => void): Promise<WorkerEvent | null> {
  try {
    await trainer.prepare();
    return null;
  } catch (error) {
    check();
    if (error instanceof ReferencePolicyError) return errorEvent(error);
    throw error;
  }
}

/** What a run can go on from after a failure: its last checkpoint, and how often that was needed. */
export class Recovery {
  last: Checkpoint | null = null;
  /** What the run that is to be set up goes on from. */
  resume: Checkpoint | null = null;
  /** Asked for, not yet done. */
  rewinding = false;
  poisoning = false;
  private readonly restarts = new RestartLimit();
  private readonly outbox: Outbox;

  constructor(outbox: Outbox) {
    this.outbox = outbox;
  }

  /** A run that starts over has nothing to go back to. */
  clear(): void {
    this.last = null;
    this.resume = null;
    this.rewinding = this.poisoning = false;
  }

  /** The next run is to be a continuation. */
  continueFrom(checkpoint: Checkpoint): void {
    this.last = this.resume = checkpoint;
  }

  /** Before the first iteration and then after every CHECKPOINT_EVERY: a new checkpoint. `check` throws when the run was overtaken meanwhile. */
  async keep(trainer: Trainer, check: () => void): Promise<void> {
    if (this.last && trainer.step < this.last.step + CHECKPOINT_EVERY) return;
    const checkpoint = await trainer.checkpoint();
    check();
    this.last = checkpoint;
    this.outbox.sendSoon({ type: 'checkpoint', checkpoint });
  }

  /** Puts a run to a checkpoint and says so. */
  async takeUp(trainer: Trainer, checkpoint: Checkpoint): Promise<void> {
    await trainer.restore(checkpoint);
    this.outbox.send({ type: 'rewound', step: checkpoint.step, updates: checkpoint.updates });
  }

  /** Goes back to the last checkpoint, as was asked for. */
  async rewind(trainer: Trainer): Promise<void> {
    this.rewinding = false;
    if (this.last) await this.takeUp(trainer, this.last);
  }

  /** True, and counted, while restarting on a fresh device is worth a try. `now`: ms of a steady clock. */
  mayRestart(now: number): boolean {
    return this.restarts.take(now);
  }

  /** An error as the page shows it: where going back helps, the run is not over. */
  errorEvent(error: unknown): Extract<WorkerEvent, { type: 'error' }> {
    const event = errorEvent(error);
    const { last } = this;
    if (event.kind !== 'notFinite' || !last) return event;
    return rewindable(event, last.step);
  }

  /** For tests: the policy becomes NaN, as if an update had gone wrong. */
  async poison(trainer: Trainer): Promise<void> {
    if (!this.poisoning) return;
    this.poisoning = false;
    const state = await trainer.engine.saveState();
    state.params.fill(NaN);
    trainer.engine.loadState(state);
  }
}
