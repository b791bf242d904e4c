import type { Level } from '../core/levels';

/**
 * The contract between an objective and everything that uses it. Shapes: [B][T] is row-major over responses and
 * response tokens; masked slots may hold anything, NaN included, and must never reach a result.
 */

/** How the per-token losses of a batch become one number (verl's `loss_agg_mode` names; `constant` is Dr.GRPO's 1/(G L_max)). */
export const LOSS_AGG_MODES = ['seq-mean-token-mean', 'token-mean', 'seq-mean-token-sum', 'constant'] as const;
export type LossAggMode = (typeof LOSS_AGG_MODES)[number];

/** Documentation and bounds of one number that a person may set; the page's controls, `eval --list` and docs come from it. */
export interface HyperparameterSpec {
  name: string;
  /** Plain words for the control, e.g. "Clip width below 1". */
  label: string;
  /** One sentence of help. */
  help: string;
  /** "dimensionless", "nats", ... */
  unit: string;
  tex: string;
  default: number;
  min: number;
  max: number;
  step: number;
  /** Which named values stand in the literature, for ticks: { "paper": 3e-4 }. */
  named?: Record<string, number>;
  /** When present, the value must be 0 (off) or greater than this. */
  zeroOrAbove?: number;
}

/** Hyperparameters by name, all finite. */
export type Hyperparameters = Record<string, number>;

/** A batch of responses with everything an objective may read. Loss batch = all rows. */
export interface ObjectiveBatch {
  /** log pi_old(y_t), nats, temperature-scaled; [B][T]. */
  oldLogp: ArrayLike<number>[];
  /** log pi_theta(y_t), nats, same temperature; [B][T]. */
  newLogp: ArrayLike<number>[];
  /** 1 for a token that counts; [B][T]. */
  mask: ArrayLike<number>[];
  /** Subsentence id of each token, rising along the row; masked slots hold anything; [B][T]. */
  segments: ArrayLike<number>[];
  /** Entropy of pi_old at each token, nats; [B][T]. Missing: entropy scaling is off (factor 1). */
  entropy?: ArrayLike<number>[];
  /** log pi_ref(y_t), nats; [B][T]. Needed when beta > 0. */
  refLogp?: ArrayLike<number>[];
  /** Advantage per token; [B][T] (already broadcast when it was [B]). */
  advantages: ArrayLike<number>[];
  /**
   * Detached factors on the aggregation weights, for a sampler that is not the policy of oldLogp; [B][T]. `applied` multiplies w_t;
   * `whole` is what it was before it was truncated or masked. Missing: 1.
   */
  importance?: { applied: ArrayLike<number>[]; whole: ArrayLike<number>[] };
  /** Generation budget L_max, tokens, for `constant`. */
  maxTokens?: number;
  /** Mean entropy over the whole rollout batch, nats, when this is one minibatch of it; else computed from `entropy`. */
  meanEntropy?: number;
  /** Tokens, and rows with tokens, of the whole loss batch when this is one micro-batch of it; else counted here. */
  totalTokens?: number;
  totalSequences?: number;
}

/** Exact result of one objective on one batch, in f64. */
export interface ObjectiveResult {
  loss: number;
  /** dLoss/dlogp per token; [B][T]; 0 at masked slots. */
  coefficients: Float64Array[];
  /** Ratios: token and segment per token [B][T], sequence per row [B]; NaN at masked slots is never present (1 instead). */
  ratios: { token: Float64Array[]; segment: Float64Array[]; sequence: Float64Array };
  /**
   * 1 where the objective's own clip acts on the token: cut its policy gradient to zero (strict, sign-aware, dual clip included), or,
   * where its `clipEffect` is `hold`, held its weight at the bound; [B][T].
   */
  clipped: Uint8Array[];
}

/** Share of units, by side and in all. */
export interface LowHigh {
  low: number;
  high: number;
  both: number;
}

/** One definition of "clipped", counted four ways. "live" = over units (tokens) with advantage != 0. */
export interface Fractions {
  /** Share of units of this level. */
  units: LowHigh;
  /** Share of tokens (each unit weighted by its length). */
  tokens: LowHigh;
  liveUnits: LowHigh;
  liveTokens: LowHigh;
}

/** Statistics of one level on one minibatch, whichever objective trains. */
export interface LevelMetrics {
  level: Level;
  /** The band that was counted; for the objective's own level before any scaling by entropy. */
  widths: { low: number; high: number };
  /** Count of units (tokens, segments or sequences), and of those with advantage != 0. */
  units: number;
  liveUnits: number;
  /** Of log ratio, nats, each unit counted once. sd is the population sd. */
  logRatio: { mean: number; sd: number; min: number; max: number; p01: number; p10: number; p50: number; p90: number; p99: number };
  /** Unit counts over HISTOGRAM_EDGES (metrics.ts): bins of a signed log scale of log ratio, ends open. */
  histogram: number[];
  /** Ratio outside [1 - clipLow, 1 + clipHigh], whatever the sign of the advantage. */
  outside: Fractions;
  /** Outside on the side where the gradient becomes zero: low with A < 0, high with A > 0 (strict). */
  binding: Fractions;
  /** Share of gradient on clipped tokens (design.md, seam 1): weight |A| w min(rho,5) (1-exp(newLogp)) over live tokens. */
  gradientClipped: number;
  /** Mean entropy (nats) of this level's clipped and kept tokens; null where the set is empty or no entropy was given. */
  entropyClipped: number | null;
  entropyKept: number | null;
  /** Effective sample size of the units' ratios over their count: (sum r)^2 / (n sum r^2). */
  ess: number;
}

/** One token as another library's logger sees it. */
export interface LoggedToken {
  /** Ratio outside the objective's band, whatever the sign of the advantage. */
  isOutside: boolean;
  advantage: number;
}

/** What an objective's own aliases (other libraries' names for its numbers) are computed from. */
export interface LoggedBatch {
  /** At the objective's own level. */
  own: LevelMetrics;
  /** Share of tokens for which `counts` holds. */
  share(counts: (token: LoggedToken) => boolean): number;
}

/** Everything measured on one minibatch, before its update. */
export interface BatchMetrics extends ObjectiveMetrics {
  levels: Record<Level, LevelMetrics>;
}

/** What is measured of the objective in use, its own level's statistics aside. */
export interface ObjectiveMetrics {
  loss: number;
  tokens: number;
  liveTokens: number;
  sequences: number;
  /** Of the objective in use: share of tokens / live tokens whose gradient its clip cut to zero, and share of gradient. */
  clippedTokens: number;
  clippedLiveTokens: number;
  gradientClipped: number;
  entropyClipped: number | null;
  entropyKept: number | null;
  /** Share of tokens with coefficient exactly 0 (clipped, or advantage 0), and the sum of |coefficient|. */
  deadGradient: number;
  absCoefficientSum: number;
  /** KL(old || new) estimates per token, nats: k1 = mean(-delta), k3 = mean(exp(delta) - 1 - delta). */
  k1: number;
  k3: number;
  /** KL(new || ref) k3 estimate, nats; null without refLogp. */
  refK3: number | null;
  /** Mean entropy of the old policy over tokens, nats; null when not given. */
  entropy: number | null;
  /** max |log ratio| over tokens, nats. */
  maxAbsLogRatio: number;
  /** How many token log ratios met the +-20 clamp. */
  clamped: number;
  /** Share of the sampler's importance weight that truncation or masking left, weighted as the loss is; 1 without a correction. */
  weightKept: number;
  /** Other libraries' names for the same numbers, e.g. "clip_ratio/region_mean", "actor/pg_clipfrac". */
  aliases: Record<string, number>;
}

/** Per-level widths for the metrics: each level is measured with its own band. */
export type ClipWidths = Record<Level, { low: number; high: number }>;

/**
 * The WGSL of one objective, as the policy-loss kernel takes it (kernels/policyLoss). `slots` maps hyperparameter names
 * to indices of its `hyper: array<vec4f, 4>` uniform, so that a slider moves without a recompilation.
 */
export interface TokenLoss {
  id: string;
  wgsl: string;
  slots: Record<string, number>;
  /** The same in f64 on the host, for engines without shaders. */
  reference: TokenLossReference;
}

/** A batch as columns over its n counted tokens, row after row; units (segments, sequences) are ranges of tokens. */
export interface TokenColumns {
  /** n, tokens. */
  count: number;
  /** Nats; [n] each. */
  logp: ArrayLike<number>;
  oldLogp: ArrayLike<number>;
  refLogp: ArrayLike<number>;
  advantage: ArrayLike<number>;
  /** Aggregation weight w_t; [n]. */
  weight: ArrayLike<number>;
  /** Entropy of the old policy at the token, nats; [n]; null or missing where nobody knows it. */
  entropy?: ArrayLike<number> | null;
  /** Mean entropy of the token's segment over mean entropy of the rollout batch; [n]. */
  entropyRatio: ArrayLike<number>;
  /** First token and one past the last of each token's segment; [n]. */
  segStart: ArrayLike<number>;
  segEnd: ArrayLike<number>;
  /** The same for its sequence; [n]. */
  seqStart: ArrayLike<number>;
  seqEnd: ArrayLike<number>;
}

/** What a token loss says of every token; [n] each. `loss` is weighted and sums to the batch's loss; `logRatio` is the own level's. */
export interface TokenLossColumns {
  coefficient: Float64Array;
  loss: Float64Array;
  logRatio: Float64Array;
  clipped: Float64Array;
}

/** The f64 counterpart of TokenLoss.wgsl, for the kernel's twin. `hyper` must name every hyperparameter. */
export type TokenLossReference = (columns: TokenColumns, hyper: Hyperparameters) => TokenLossColumns;
