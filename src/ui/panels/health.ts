import { LOG_RATIO_CLAMP } from '../../objectives';
import type { StepReport } from '../../worker/protocol';
import { grouped } from '../theme/numbers';

/**
 * What the log-space clamp did in an iteration, in words; null while it did nothing. It keeps exp() of a log ratio within f32, and every
 * token counts once for each update that saw it beyond the clamp.
 */
export function clampWords(report: StepReport): string | null {
  const clamped = report.updates.reduce((sum, { metrics }) => sum + metrics.clamped, 0);
  if (clamped === 0) return null;
  const tokens = report.updates.reduce((sum, { metrics }) => sum + metrics.tokens, 0);
  return `${grouped(clamped)} of ${grouped(tokens)} beyond \u00b1${LOG_RATIO_CLAMP} nats in this step`;
}
