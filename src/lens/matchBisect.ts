import { evaluateTokens, type CompactBatch, type Objective } from '../objectives';
import { clippedShares } from '../objectives/levelMetrics';
import { gradientWeights } from '../objectives/metrics';
import type { Hyperparameters } from '../objectives/types';
import { shapeOf } from './match';
import type { MatchRequest, MatchResult } from './types';

/** Match for bands that are no plain 1 - low .. 1 + high (bounds on a log scale, or that depend on the token). */

const HALVINGS = 48;

/** Halves a log scale of widths until the share stands still; the clipped share must not rise with the width. */
export function solveByBisection(objective: Objective, compact: CompactBatch, hyper: Hyperparameters, request: MatchRequest, current: { low: number; high: number }): MatchResult {
  const ratio = shapeOf(request, current);
  const bounds = (name: string) => objective.hyperparameters.find((h) => h.name === name) ?? { min: 0, max: 10 };
  const widthsAt = (epsilon: number) => ({ low: held(epsilon * ratio.low, bounds('clipLow')), high: held(epsilon * ratio.high, bounds('clipHigh')) });
  const at = (epsilon: number) => {
    const widths = widthsAt(epsilon);
    const results = evaluateTokens(objective, compact, { ...hyper, clipLow: widths.low, clipHigh: widths.high });
    const tokens = results.clipped.reduce((sum, flag) => sum + flag, 0);
    const share = request.quantity === 'clippedTokens' ? tokens / Math.max(1, compact.count) : clippedShares(compact, results.clipped, gradientWeights(objective, compact, results.logRatio)).gradientClipped;
    return { widths, tokens, share };
  };
  let [low, high] = [1e-6, 10];
  let [narrow, wide] = [at(low), at(high)];
  for (let i = 0; i < HALVINGS && narrow.tokens - wide.tokens > 1; i++) {
    const middle = Math.sqrt(low * high);
    const probe = at(middle);
    if (probe.share >= request.target) [low, narrow] = [middle, probe];
    else [high, wide] = [middle, probe];
  }
  const best = Math.abs(wide.share - request.target) <= Math.abs(narrow.share - request.target) ? wide : narrow;
  const isWide = best === wide;
  return {
    objective: objective.id,
    widths: best.widths,
    achieved: best.share,
    tokens: best.tokens,
    nextTokens: { narrower: isWide ? narrow.tokens : null, wider: isWide ? null : wide.tokens },
  };
}

function held(x: number, { min, max }: { min: number; max: number }): number {
  return Math.min(Math.max(x, min), max);
}
