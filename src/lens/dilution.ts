import type { Level } from '../core/levels';
import { logRatios, OBJECTIVES, ratioOf, type CompactBatch } from '../objectives';
import { bindingEdge, clipState, isCutAt, markAt } from './marks';
import { evaluateRow, oneRow, type OneRow } from './oneRow';
import type { Evaluated } from './prepare';
import type { DilutionPoint, LensSettings, LensSource, LongerUnit, TokenMove } from './types';

/** What one token does to the units that it lies in: take hold of its log ratio and move it. */

/**
 * Moves a token's log ratio by `by` nats (its new log-prob moves; everything else stays). Its subsentence moves by by/|S|,
 * its sequence by by/|y|.
 * @returns null when the address points nowhere or `by` is not finite
 */
export function moveToken(
  source: LensSource,
  completion: number,
  token: number,
  by: number,
  settings: LensSettings,
  objectives: readonly string[] = OBJECTIVES.map((o) => o.id),
): TokenMove | null {
  const one = oneRow(source, completion, settings);
  if (!one || !Number.isInteger(token) || token < 0 || token >= one.row.tokens.length || !Number.isFinite(by) || objectives.length === 0) return null;
  const moved = Float64Array.from(one.row.newLogp);
  moved[token] += by;
  const before = objectives.map((id) => evaluateRow(one, id));
  const after = objectives.map((id) => evaluateRow(one, id, moved));
  const lengths = unitLengths(before[0].compact, token);
  return {
    completion,
    token,
    by,
    lengths,
    before: pointOf(before, token),
    after: pointOf(after, token),
    letsGo: before.map((e) => ({ objective: e.objective.id, ...letsGo(one, e, token, lengths) })),
  };
}

function unitLengths(c: CompactBatch, t: number): Record<Level, number> {
  return { token: 1, segment: c.segEnd[t] - c.segStart[t], sequence: c.seqEnd[t] - c.seqStart[t] };
}

function pointOf(evaluated: readonly Evaluated[], t: number): DilutionPoint {
  const ratios = logRatios(evaluated[0].compact);
  return {
    logRatio: { token: ratios.token[t], segment: ratios.segment[t], sequence: ratios.sequence[t] },
    under: evaluated.map((e) => {
      const mark = markAt(e, t);
      return {
        objective: e.objective.id,
        state: clipState(mark.ratio, mark.low, mark.high, isCutAt(e, t)),
        coefficient: e.results.coefficient[t] + 0,
        ratio: mark.ratio,
        low: mark.low,
        high: mark.high,
      };
    }),
  };
}

/** Where the token would have to stand for its unit to reach the edge at which the clip acts. */
function letsGo(one: OneRow, evaluated: Evaluated, t: number, lengths: Record<Level, number>): { tokenLogRatio: number | null; by: number | null; reachable: boolean } {
  const { objective, compact } = evaluated;
  const advantage = compact.advantage[t];
  const edge = bindingEdge(markAt(evaluated, t), advantage);
  if (objective.clipEffect !== 'cut' || advantage === 0 || !(edge > 0) || !Number.isFinite(edge)) return { tokenLogRatio: null, by: null, reachable: false };
  const ratios = logRatios(compact);
  const level = objective.importanceSamplingLevel;
  const by = lengths[level] * (Math.log(edge) - ratios[level][t]);
  return { tokenLogRatio: ratios.token[t] + by, by, reachable: one.row.newLogp[t] + by <= 0 };
}

/** Lengths of the "what if" curve, tokens. */
export const WHAT_IF_LENGTHS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/**
 * What the unit's log ratio would be at other lengths if its other tokens kept their mean (the rest of the response's mean
 * where it has no others), with the band as it is. Shows how many tokens it takes to hide an outlier.
 * @returns null when the address points nowhere
 */
export function longerUnit(source: LensSource, completion: number, token: number, objectiveId: string, settings: LensSettings): LongerUnit | null {
  const one = oneRow(source, completion, settings);
  if (!one || !Number.isInteger(token) || token < 0 || token >= one.row.tokens.length) return null;
  const evaluated = evaluateRow(one, objectiveId);
  const { objective, compact, hyper } = evaluated;
  const level = objective.importanceSamplingLevel === 'sequence' ? 'sequence' : 'segment';
  const delta = logRatios(compact).token;
  const [start, end] = level === 'segment' ? [compact.segStart[token], compact.segEnd[token]] : [0, compact.count];
  const meanWithout = (from: number, to: number): number => {
    let sum = 0;
    for (let t = from; t < to; t++) if (t !== token) sum += delta[t];
    return sum / (to - from - 1);
  };
  const others = end - start > 1 ? meanWithout(start, end) : compact.count > 1 ? meanWithout(0, compact.count) : 0;
  const mark = markAt(evaluated, token);
  const advantage = compact.advantage[token];
  // A dual clip on another level's ratio is no matter of this unit's length.
  const dualClip = 'dualClip' in hyper && !objective.ratioLevel ? hyper.dualClip : 0;
  const actual = end - start;
  const lengths = [...new Set([...WHAT_IF_LENGTHS, actual])].sort((a, b) => a - b);
  return {
    level,
    objective: objectiveId,
    actual,
    lengths,
    points: lengths.map((length) => {
      const logRatio = (delta[token] + (length - 1) * others) / length;
      const ratio = ratioOf(logRatio);
      const isClipped = (advantage > 0 && ratio > mark.high) || (advantage < 0 && (ratio < mark.low || (dualClip > 0 && ratio > dualClip)));
      return { length, logRatio, ratio, low: mark.low, high: mark.high, state: clipState(ratio, mark.low, mark.high, isClipped) };
    }),
  };
}
