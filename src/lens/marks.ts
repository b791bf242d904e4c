import { hyperparametersOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { evaluateCompact, getObjective, type CompactBatch, type Objective, type TokenResults } from '../objectives';
import { storedAdvantages } from './advantage';
import { CLIP_STATES, type ClipState, type CompletionRecord } from './types';

/**
 * What each clip says about stored completions: the objectives' own f64 evaluation, turned into marks.
 * A mark never depends on how losses are aggregated, so any group of rows may be judged by itself.
 */

/** Inside the band; outside it but with its gradient kept; or with its gradient cut to zero. */
export type Verdict = 'inside' | 'kept' | 'clipped';

/** One unit (token, subsentence or sequence) under one objective. */
export interface Mark {
  /** Nats, clamped as the loss uses it. */
  logRatio: number;
  ratio: number;
  /** The band: ratios, not widths. `low` is at or below 0 where nothing bounds it. */
  low: number;
  high: number;
  verdict: Verdict;
  /** On which side of the band the ratio lies; null inside. */
  side: 'low' | 'high' | null;
  /** Loss of a token of the unit, aggregation left out. */
  loss: number;
  /** Size of the push on log pi of a token of the unit, aggregation left out: |A| times ratio, or 0 when clipped. */
  weight: number;
}

const INSIDE = CLIP_STATES.indexOf('inside');
const KEPT_LOW = CLIP_STATES.indexOf('keptLow');
const KEPT_HIGH = CLIP_STATES.indexOf('keptHigh');
const CLIPPED_LOW = CLIP_STATES.indexOf('clippedLow');
const CLIPPED_HIGH = CLIP_STATES.indexOf('clippedHigh');

/** Index into CLIP_STATES. A dual clip may cut inside the band: then the side is the ratio's own side of 1. */
export function clipStateIndex(ratio: number, low: number, high: number, isClipped: boolean): number {
  if (isClipped) return ratio < low || (ratio <= high && ratio < 1) ? CLIPPED_LOW : CLIPPED_HIGH;
  return ratio < low ? KEPT_LOW : ratio > high ? KEPT_HIGH : INSIDE;
}

export function clipState(ratio: number, low: number, high: number, isClipped: boolean): ClipState {
  return CLIP_STATES[clipStateIndex(ratio, low, high, isClipped)];
}

/** An objective's results on some columns. */
export interface Judged {
  objective: Objective;
  compact: CompactBatch;
  results: TokenResults;
}

/** True where the clip took the token's gradient; one that only holds the weight (CISPO) leaves it: outside, but kept. */
export function isCutAt({ objective, results }: Pick<Judged, 'objective' | 'results'>, t: number): boolean {
  return objective.clipEffect === 'cut' && results.clipped[t] === 1;
}

/** The mark of token t of evaluated columns. */
export function markAt(judged: Judged, t: number): Mark {
  const { compact, results } = judged;
  const logRatio = results.logRatio[t];
  const ratio = Math.exp(logRatio);
  const low = 1 - results.low[t];
  const high = 1 + results.high[t];
  const side = ratio < low ? 'low' : ratio > high ? 'high' : null;
  const verdict = isCutAt(judged, t) ? 'clipped' : side ? 'kept' : 'inside';
  const aggregation = compact.weight[t];
  return { logRatio, ratio, low, high, verdict, side, loss: results.loss[t] / aggregation, weight: Math.abs(results.coefficient[t] / aggregation) };
}

/**
 * One objective's verdict on every token of some rows of a rollout batch, with the run's own settings and cuts; [rows][tokens].
 * Tokens of one unit agree, unless their advantages differ or a dual clip looks at another level's ratio. KL is left out: it is no part of the clip.
 * @param advantages [rows][tokens]; the stored ones when left out
 */
export function judge(
  objectiveId: string,
  rows: readonly CompletionRecord[],
  config: RunConfig,
  meanEntropy: number,
  advantages: ArrayLike<number>[] = rows.map(storedAdvantages),
): Mark[][] {
  if (rows.length === 0) return [];
  const objective = getObjective(objectiveId);
  const hyper = hyperparametersOf({ ...config, objective: objectiveId });
  const { compact, results } = evaluateCompact(
    objective,
    {
      oldLogp: rows.map((row) => row.oldLogp),
      newLogp: rows.map((row) => row.newLogp),
      mask: rows.map((row) => new Uint8Array(row.tokens.length).fill(1)),
      segments: rows.map((row) => row.segments),
      entropy: rows.map((row) => row.entropy),
      advantages,
      meanEntropy,
    },
    { ...hyper, ...('beta' in hyper && { beta: 0 }) },
    'token-mean',
  );
  const marks: Mark[][] = rows.map(() => []);
  for (let t = 0; t < compact.count; t++) marks[compact.rowOf[t]].push(markAt({ objective, compact, results }, t));
  return marks;
}

/** Runs of equal subsentence ids: first token and the one after the last. */
export function segmentSpans(segments: ArrayLike<number>): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (let t = 0; t < segments.length; t++) {
    const open = spans[spans.length - 1];
    if (t > 0 && segments[t] === segments[t - 1]) open.end = t + 1;
    else spans.push({ start: t, end: t + 1 });
  }
  return spans;
}

/** The edge beyond which the gradient is cut: above for A > 0, below for A < 0; for A = 0 the one on the ratio's side. */
export function bindingEdge(mark: Pick<Mark, 'ratio' | 'low' | 'high'>, advantage: number): number {
  if (advantage === 0) return mark.ratio >= 1 ? mark.high : mark.low;
  return advantage > 0 ? mark.high : mark.low;
}

/** The two branches of the clipped surrogate for one token, in numbers; `dual` is c times A where a dual clip acts. */
export interface Branches {
  ratio: number;
  clippedRatio: number;
  advantage: number;
  plain: number;
  clipped: number;
  dual: number | null;
  /** Which of them is the objective's value. */
  winner: 'plain' | 'clipped' | 'dual' | 'tie';
}

/** min(r A, clip(r) A), and for A < 0 with dual clip c the larger of that and c A (PPO eq. 7; arXiv 1912.09729). */
export function branchesOf(mark: Pick<Mark, 'ratio' | 'low' | 'high'>, advantage: number, dualClip: number): Branches {
  const clippedRatio = Math.min(Math.max(mark.ratio, mark.low), mark.high);
  const plain = mark.ratio * advantage;
  const clipped = clippedRatio * advantage;
  const dual = dualClip > 0 && advantage < 0 ? dualClip * advantage : null;
  const smaller = Math.min(plain, clipped);
  const winner = dual !== null && dual > smaller ? 'dual' : plain === clipped ? 'tie' : plain < clipped ? 'plain' : 'clipped';
  return { ratio: mark.ratio, clippedRatio, advantage, plain, clipped, dual, winner };
}

/** The branches, if the objective's own loss (KL left out) agrees that its value is the winner's; else null, and no numbers are made up. */
export function surrogateBranches(mark: Mark, advantage: number, dualClip: number): Branches | null {
  const b = branchesOf(mark, advantage, dualClip);
  const value = b.winner === 'dual' && b.dual !== null ? b.dual : Math.min(b.plain, b.clipped);
  return Math.abs(mark.loss + value) <= 1e-9 * Math.max(1, Math.abs(value)) ? b : null;
}
