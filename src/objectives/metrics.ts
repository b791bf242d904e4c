import { LEVELS, type Level } from '../core/levels';
import { aliases } from './aliases';
import type { CompactBatch } from './compact';
import { evaluateCompact, logRatios, nominalWidths, ratioOf, sum, type TokenResults } from './evaluateObjective';
import { LOG_RATIO_CLAMP } from './expr';
import { k3 } from './klEstimators';
import { clippedShares, levelMetrics } from './levelMetrics';
import type { Objective } from './objective';
import type { BatchMetrics, ClipWidths, Hyperparameters, LevelMetrics, LossAggMode, ObjectiveBatch, ObjectiveMetrics } from './types';

export { HISTOGRAM_EDGES, histogramBin, quantile } from './levelMetrics';

/**
 * Bands for the levels that the objective does not clip at: each level's usual width (algorithms.md section 8),
 * so that one width is never read across levels.
 */
export const DEFAULT_WIDTHS: ClipWidths = {
  token: { low: 0.2, high: 0.2 },
  segment: { low: 0.03, high: 0.03 },
  sequence: { low: 3e-4, high: 4e-4 },
};

/** The ratio's part in the share-of-gradient weight stops here, so that one exploded ratio is not the whole share. */
const RATIO_CAP = 5;

export interface MetricsOptions {
  /** The objective's hyperparameters; defaults where missing. */
  hyper?: Readonly<Record<string, number>>;
  lossAggMode?: LossAggMode;
  /** Bands of the levels. The objective's own level always uses the objective's own band (entropy scaling included). */
  widths?: Partial<ClipWidths>;
}

/**
 * Everything measured on one minibatch before its update, at all three levels whichever objective trains.
 * @throws UserError as evaluateObjective does
 */
export function computeMetrics(objective: Objective, batch: ObjectiveBatch, options: MetricsOptions = {}): BatchMetrics {
  const { compact, results, hyper } = evaluateCompact(objective, batch, options.hyper, options.lossAggMode);
  return metricsOf(objective, compact, results, hyper, options.widths);
}

/** The same from columns and results at hand (of the f64 reference or of the GPU). */
export function metricsOf(objective: Objective, c: CompactBatch, results: TokenResults, hyper: Hyperparameters, widths: Partial<ClipWidths> = {}): BatchMetrics {
  const { own, metrics, ratios, gradientWeight } = measureOwn(objective, c, results, hyper, widths);
  const other = (level: Level): LevelMetrics => {
    const band = widths[level] ?? DEFAULT_WIDTHS[level];
    const column = (x: number) => new Float64Array(c.count).fill(x);
    return levelMetrics(c, { level, logRatio: ratios[level], unitEnd: unitEnds(c)[level], low: column(band.low), high: column(band.high), widths: band, gradientWeight });
  };
  const levels = Object.fromEntries(LEVELS.map((level) => [level, level === own.level ? own : other(level)])) as BatchMetrics['levels'];
  return { ...metrics, levels };
}

/**
 * The objective's own part of metricsOf, without the levels at which it does not clip: for callers that measure many objectives at once.
 * @param widths bands of the levels, for an objective that has none of its own
 */
export function ownMetricsOf(
  objective: Objective,
  c: CompactBatch,
  results: TokenResults,
  hyper: Hyperparameters,
  widths: Partial<ClipWidths> = {},
): { metrics: ObjectiveMetrics; own: LevelMetrics } {
  const { metrics, own } = measureOwn(objective, c, results, hyper, widths);
  return { metrics, own };
}

const unitEnds = (c: CompactBatch): Record<Level, Uint32Array | null> => ({ token: null, segment: c.segEnd, sequence: c.seqEnd });

function measureOwn(
  objective: Objective,
  c: CompactBatch,
  results: TokenResults,
  hyper: Hyperparameters,
  widths: Partial<ClipWidths> = {},
): { metrics: ObjectiveMetrics; own: LevelMetrics; ratios: Record<Level, Float64Array>; gradientWeight: Float64Array } {
  const ratios = logRatios(c);
  const n = Math.max(1, c.count);
  const gradientWeight = gradientWeights(objective, c, results.logRatio);
  const level = objective.importanceSamplingLevel;
  const ownWidths = nominalWidths(objective, hyper);
  // An objective without a band is measured with the one that its level usually has.
  const band = ownWidths ?? widths[level] ?? DEFAULT_WIDTHS[level];
  const column = (x: number) => new Float64Array(c.count).fill(x);
  const own = levelMetrics(c, {
    level,
    logRatio: ratios[level],
    unitEnd: unitEnds(c)[level],
    low: ownWidths ? results.low : column(band.low),
    high: ownWidths ? results.high : column(band.high),
    widths: band,
    gradientWeight,
  });
  const kl = klSums(c, ratios.token);
  const counts = tokenCounts(c, results);
  const loss = sum(results.loss);
  const entropy = c.entropy ? sum(c.entropy) / n : null;
  const metrics: ObjectiveMetrics = {
    loss,
    tokens: c.count,
    liveTokens: counts.live,
    sequences: counts.sequences,
    clippedTokens: counts.clipped / n,
    clippedLiveTokens: counts.clippedLive / Math.max(1, counts.live),
    ...clippedShares(c, results.clipped, gradientWeight),
    deadGradient: counts.dead / n,
    absCoefficientSum: counts.absCoefficient,
    k1: kl.k1,
    k3: kl.k3,
    refK3: c.hasRef ? kl.refK3 : null,
    entropy,
    maxAbsLogRatio: kl.maxAbs,
    clamped: kl.clamped,
    weightKept: c.weightKept,
    aliases: aliases({
      objective,
      compact: c,
      own,
      logRatio: results.logRatio,
      low: results.low,
      high: results.high,
      delta: ratios.token,
      dualClip: hyper.dualClip ?? 0,
      k1: kl.k1,
      loss,
      entropy,
    }),
  };
  return { metrics, own, ratios, gradientWeight };
}

/**
 * |A| w min(rho, 5) (1 - pi(token)): about how much gradient each live token would bring; rho is the ratio that weighs the advantage.
 * @param ownLogRatio the objective's own, which is rho's where it does not name another
 */
export function gradientWeights({ ratioLevel }: Objective, c: CompactBatch, ownLogRatio: Float64Array): Float64Array {
  const logRatio = ratioLevel ? logRatios(c)[ratioLevel] : ownLogRatio;
  const out = new Float64Array(c.count);
  for (let t = 0; t < c.count; t++) {
    out[t] = Math.abs(c.advantage[t]) * c.weight[t] * Math.min(ratioOf(logRatio[t]), RATIO_CAP) * Math.max(0, -Math.expm1(c.logp[t]));
  }
  return out;
}

/** KL estimates per token, nats; estimators see log ratios behind the +-20 guard, k1 sees them as they are. */
function klSums(c: CompactBatch, delta: Float64Array): { k1: number; k3: number; refK3: number; maxAbs: number; clamped: number } {
  const guard = (x: number) => Math.min(Math.max(x, -LOG_RATIO_CLAMP), LOG_RATIO_CLAMP);
  const n = Math.max(1, c.count);
  const out = { k1: 0, k3: 0, refK3: 0, maxAbs: 0, clamped: 0 };
  for (let t = 0; t < c.count; t++) {
    const x = delta[t];
    out.k1 -= x / n;
    out.k3 += k3(guard(x)) / n;
    out.refK3 += k3(guard(c.refLogp[t] - c.logp[t])) / n;
    out.maxAbs = Math.max(out.maxAbs, Math.abs(x));
    if (Math.abs(x) > LOG_RATIO_CLAMP) out.clamped++;
  }
  return out;
}

function tokenCounts(c: CompactBatch, results: TokenResults): { live: number; clipped: number; clippedLive: number; dead: number; absCoefficient: number; sequences: number } {
  const out = { live: 0, clipped: 0, clippedLive: 0, dead: 0, absCoefficient: 0, sequences: 0 };
  for (let t = 0; t < c.count; t++) {
    if (c.advantage[t] !== 0) out.live++;
    if (results.clipped[t]) {
      out.clipped++;
      // A clip that holds weights (CISPO) acts on tokens without an advantage too.
      if (c.advantage[t] !== 0) out.clippedLive++;
    }
    if (results.coefficient[t] === 0) out.dead++;
    out.absCoefficient += Math.abs(results.coefficient[t]);
  }
  for (let r = 0; r < c.rows; r++) if (c.rowStart[r + 1] > c.rowStart[r]) out.sequences++;
  return out;
}
