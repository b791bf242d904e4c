import { logRatios, OBJECTIVES } from '../objectives';
import { advantageNote, storedAdvantages } from './advantage';
import { bindingEdge, clipState, isCutAt, markAt, segmentSpans, surrogateBranches } from './marks';
import { evaluateRow, oneRow, type OneRow } from './oneRow';
import type { Evaluated } from './prepare';
import type { LensSettings, LensSource, TokenExplanation, TokenUnder } from './types';

/** The number behind a token: each objective's formula with this token's own numbers. */

/**
 * Everything that the lens says of one token.
 * @param objectives ids; all when left out
 * @returns null when the address points nowhere
 */
export function explainToken(
  source: LensSource,
  completion: number,
  token: number,
  settings: LensSettings,
  objectives: readonly string[] = OBJECTIVES.map((o) => o.id),
): TokenExplanation | null {
  const one = oneRow(source, completion, settings);
  if (!one || !Number.isInteger(token) || token < 0 || token >= one.row.tokens.length || objectives.length === 0) return null;
  const evaluated = objectives.map((id) => evaluateRow(one, id));
  const { compact } = evaluated[0];
  const ratios = logRatios(compact);
  const spans = segmentSpans(one.segments);
  const index = spans.findIndex(({ start, end }) => token >= start && token < end);
  const { start, end } = spans[index];
  const { row } = one;
  return {
    completion,
    token,
    text: row.tokens[token],
    oldLogp: row.oldLogp[token],
    newLogp: row.newLogp[token],
    entropy: row.entropy[token],
    advantage: storedAdvantages(row)[token],
    logRatio: { token: ratios.token[token], segment: ratios.segment[token], sequence: ratios.sequence[token] },
    segment: { index, count: spans.length, start, end, entropyRatio: compact.entropyRatio[token] },
    neighbours: Array.from({ length: end - start }, (_, i) => start + i).map((t) => ({
      token: t,
      text: row.tokens[t],
      logRatio: ratios.token[t],
      coefficients: Object.fromEntries(evaluated.map((e) => [e.objective.id, e.results.coefficient[t] + 0])),
    })),
    under: evaluated.map((e) => underOf(one, e, token)),
  };
}

function underOf(one: OneRow, evaluated: Evaluated, t: number): TokenUnder {
  const { objective, compact, results, hyper } = evaluated;
  const { record } = one.source;
  const advantage = compact.advantage[t];
  const mark = markAt(evaluated, t);
  const dualClip = 'dualClip' in hyper ? hyper.dualClip : 0;
  const level = objective.importanceSamplingLevel;
  // The branches are the policy term's; KL is no part of them.
  const bare = hyper.beta > 0 ? markAt(evaluateRow({ ...one, settings: { ...one.settings, beta: 0 } }, objective.id), t) : mark;
  return {
    objective: objective.id,
    title: objective.title,
    level,
    advantage,
    ratio: mark.ratio,
    logRatio: mark.logRatio,
    low: mark.low,
    high: mark.high,
    edge: bindingEdge(mark, advantage),
    state: clipState(mark.ratio, mark.low, mark.high, isCutAt(evaluated, t)),
    branches: objective.ratioLevel ? null : surrogateBranches(bare, advantage, dualClip),
    // Adding 0 turns -0 into 0.
    coefficient: results.coefficient[t] + 0,
    weight: compact.weight[t],
    unitTokens: level === 'token' ? 1 : level === 'segment' ? compact.segEnd[t] - compact.segStart[t] : compact.count,
    dualClip,
    note: advantageNote(objective.id, record),
  };
}
