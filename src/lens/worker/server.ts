import { UserError } from '../../core/errors';
import { LensSession } from '../session';
import type { LensCommand, LensReply } from './protocol';

/** The worker's side without the worker: one session, one reply for every request. */
export class LensServer {
  private sourceId = -1;
  private session: LensSession | null = null;

  /** The reply, or null for a command that has none. Never throws. */
  handle(command: LensCommand): LensReply | null {
    if (command.type === 'source') {
      this.sourceId = command.sourceId;
      this.session = new LensSession(command.source);
      return null;
    }
    const { requestId, sourceId, settings, wanted } = command;
    try {
      if (!this.session || sourceId !== this.sourceId) throw new Error('the lens was asked about a batch that it does not hold');
      return { type: 'answer', requestId, sourceId, answer: this.session.answer(settings, wanted) };
    } catch (error) {
      const hint = error instanceof UserError ? error.hint : 'This is a fault of the page. Choose the batch again, or reload.';
      return { type: 'problem', requestId, sourceId, message: error instanceof Error ? error.message : String(error), hint };
    }
  }
}
