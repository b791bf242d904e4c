import type { CompactBatch } from './compact';
import { ratioOf } from './evaluateObjective';
import type { Objective } from './objective';
import type { LevelMetrics, LoggedToken } from './types';

/** Other libraries' names for our numbers (algorithms.md section 9): TRL's GRPOTrainer and PPOTrainer, verl's actor, ROLL's. */

/** What the aliases are read from: the objective's own level, and the parts that depend on other fields. */
export interface AliasInputs {
  objective: Objective;
  compact: CompactBatch;
  own: LevelMetrics;
  /** The objective's own log ratio and widths; [n]. */
  logRatio: Float64Array;
  low: Float64Array;
  high: Float64Array;
  /** Token log ratio, nats; [n]. */
  delta: Float64Array;
  dualClip: number;
  k1: number;
  loss: number;
  entropy: number | null;
}

/** Metric names of other libraries, with the values that those libraries would log for this batch. */
export function aliases(input: AliasInputs): Record<string, number> {
  const ownNames = input.objective.aliases?.({ own: input.own, share: (counts) => shareOfTokens(input, counts) });
  return { ...clipAliases(input), ...policyAliases(input), ...ownNames };
}

function shareOfTokens({ compact: c, logRatio, low, high }: AliasInputs, counts: (token: LoggedToken) => boolean): number {
  let found = 0;
  for (let t = 0; t < c.count; t++) {
    const ratio = ratioOf(logRatio[t]);
    if (counts({ isOutside: ratio < 1 - low[t] || ratio > 1 + high[t], advantage: c.advantage[t] })) found++;
  }
  return found / Math.max(1, c.count);
}

/** What the libraries say of the clip; nothing for an objective that has none. */
function clipAliases(input: AliasInputs): Record<string, number> {
  const { own, objective } = input;
  if (!objective.widths) return {};
  // TRL counts sequences when the ratio is the sequence's, tokens otherwise; verl always counts tokens.
  const trl = objective.importanceSamplingLevel === 'sequence' ? own.binding.units : own.binding.tokens;
  const { lowMin, highMax } = completionExtremes(input);
  return {
    'clip_ratio/low_mean': trl.low,
    'clip_ratio/low_min': lowMin,
    'clip_ratio/high_mean': trl.high,
    'clip_ratio/high_max': highMax,
    'clip_ratio/region_mean': trl.both,
    'policy/clipfrac_avg': own.binding.tokens.both,
    'actor/pg_clipfrac': own.binding.tokens.both,
    'actor/pg_clipfrac_lower': tokenSums(input).dual / Math.max(1, input.compact.count),
    'actor/ppo_ratio_clipfrac': own.outside.tokens.both,
  };
}

/** What they say of the policy and the token ratios, whichever objective trains. */
function policyAliases(input: AliasInputs): Record<string, number> {
  const { squares, ratioSum, ratioSquares } = tokenSums(input);
  const n = Math.max(1, input.compact.count);
  return {
    'policy/approxkl_avg': (0.5 * squares) / n,
    'val/ratio': ratioSum / n,
    'val/ratio_var': ratioSquares / n - (ratioSum / n) ** 2,
    'actor/pg_loss': input.loss,
    'actor/ppo_kl': input.k1,
    ...(input.entropy !== null && { 'actor/entropy': input.entropy }),
  };
}

/** TRL's low_min and high_max: least and greatest over completions of the completion's own fraction. */
function completionExtremes({ compact: c, logRatio, low, high }: AliasInputs): { lowMin: number; highMax: number } {
  let lowMin = Infinity;
  let highMax = -Infinity;
  for (let r = 0; r < c.rows; r++) {
    const [first, end] = [c.rowStart[r], c.rowStart[r + 1]];
    if (end === first) continue;
    let lows = 0;
    let highs = 0;
    for (let t = first; t < end; t++) {
      const ratio = ratioOf(logRatio[t]);
      if (ratio < 1 - low[t] && c.advantage[t] < 0) lows++;
      else if (ratio > 1 + high[t] && c.advantage[t] > 0) highs++;
    }
    lowMin = Math.min(lowMin, lows / (end - first));
    highMax = Math.max(highMax, highs / (end - first));
  }
  return { lowMin: Number.isFinite(lowMin) ? lowMin : 0, highMax: Number.isFinite(highMax) ? highMax : 0 };
}

function tokenSums({ compact: c, delta, logRatio, dualClip, objective }: AliasInputs): { squares: number; ratioSum: number; ratioSquares: number; dual: number } {
  const sums = { squares: 0, ratioSum: 0, ratioSquares: 0, dual: 0 };
  // verl counts dual clipping for its token-level loss only; its gspo logs a constant 0.
  const counts = dualClip > 0 && objective.importanceSamplingLevel === 'token' && objective.ratioLevel === undefined;
  for (let t = 0; t < c.count; t++) {
    const ratio = ratioOf(delta[t]);
    sums.squares += delta[t] ** 2;
    sums.ratioSum += ratio;
    sums.ratioSquares += ratio * ratio;
    if (counts && c.advantage[t] < 0 && ratioOf(logRatio[t]) > dualClip) sums.dual++;
  }
  return sums;
}
