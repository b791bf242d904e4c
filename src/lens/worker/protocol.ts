import type { LensAnswer, LensSettings, LensSource, LensWanted } from '../types';

/** What the page asks of the lens's worker. */
export type LensCommand =
  /** The batch that the following requests are about. */
  | { type: 'source'; sourceId: number; source: LensSource }
  | { type: 'ask'; requestId: number; sourceId: number; settings: LensSettings; wanted: LensWanted };

/** One for every `ask`. */
export type LensReply =
  | { type: 'answer'; requestId: number; sourceId: number; answer: LensAnswer }
  | { type: 'problem'; requestId: number; sourceId: number; message: string; hint: string };

/** True for a message that has a reply's shape; the numbers in it are this program's own. */
export function isLensReply(value: unknown): value is LensReply {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('requestId' in value) || !('sourceId' in value)) return false;
  if (!Number.isSafeInteger(value.requestId) || !Number.isSafeInteger(value.sourceId)) return false;
  if (value.type === 'answer') return 'answer' in value && typeof value.answer === 'object' && value.answer !== null;
  return value.type === 'problem' && 'message' in value && typeof value.message === 'string' && 'hint' in value && typeof value.hint === 'string';
}
