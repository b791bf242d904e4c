import { LEVELS, type Level } from '../core/levels';
import { clipState, isCutAt, markAt, segmentSpans } from './marks';
import { evaluateRow, oneRow } from './oneRow';
import type { Evaluated } from './prepare';
import type { Icicle, IcicleCell, LensSettings, LensSource } from './types';

/**
 * One completion at three levels: tokens below, their subsentence above, the sequence on top, each judged by an objective of its level.
 * Cheap enough (one answer) to be computed in the frame of a drag.
 * @param move a token whose log ratio stands `by` nats from where it was stored
 * @returns null when there is no such completion, or it is empty
 */
export function icicleOf(
  source: LensSource,
  completion: number,
  settings: LensSettings,
  objectives: Readonly<Record<Level, string>>,
  move: { token: number; by: number } | null = null,
): Icicle | null {
  // Which answers are counted decides weights, which no clip depends on: an answer that is left out can still be looked at.
  const one = oneRow(source, completion, { ...settings, minibatch: null });
  if (!one) return null;
  const newLogp = Float64Array.from(one.row.newLogp);
  if (move) newLogp[move.token] += move.by;
  const evaluated = Object.fromEntries(LEVELS.map((level) => [level, evaluateRow(one, objectives[level], newLogp)])) as Record<Level, Evaluated>;
  const cell = (level: Level, start: number, end: number): IcicleCell => {
    const { logRatio, ratio, low, high } = markAt(evaluated[level], start);
    return { level, start, end, logRatio, ratio, low, high, state: clipState(ratio, low, high, isCutAt(evaluated[level], start)) };
  };
  const length = one.row.tokens.length;
  return {
    completion,
    objectives: { ...objectives },
    token: Array.from({ length }, (_, t) => cell('token', t, t + 1)),
    segment: segmentSpans(one.segments).map(({ start, end }) => cell('segment', start, end)),
    sequence: cell('sequence', 0, length),
  };
}
