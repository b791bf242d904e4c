import type { Problem } from '../config/fieldTypes';
import type { Level } from '../core/levels';
import type { ClipWidths, LevelMetrics, LossAggMode, ObjectiveMetrics } from '../objectives/types';
import type { BatchRecord } from '../worker/protocol';
import type { Branches } from './marks';

/**
 * The contract of the lens: a stored batch and settings in, plain data out (structured clone and transfer safe), so that it can be
 * computed in a worker. Columns are over the n counted tokens of the chosen rows, row after row; nats unless said otherwise.
 */

export type { BatchRecord, CompletionRecord } from '../worker/protocol';

/** A stored batch, and what of its task the record does not hold. */
export interface LensSource {
  record: BatchRecord;
  /** Generation budget L_max, tokens, for the aggregation `constant`; null when not known (then `constant` is refused). */
  maxTokens: number | null;
  /** The token that ends a response; it never makes a subsentence of its own. */
  eos: string | null;
}

/** How responses are cut into subsentences. */
export type SegmentRule =
  /** As the task cut them when the batch was made. */
  | { kind: 'stored' }
  /** After any of these characters (algorithms.md section 8, item 1). */
  | { kind: 'delimiters'; marks: readonly string[] }
  /** After line breaks only. */
  | { kind: 'newline' }
  /** Every n tokens; n = 1 is the token level. */
  | { kind: 'everyN'; n: number }
  /** Before a token whose entropy lies above this quantile (0..1) of all tokens of the batch. */
  | { kind: 'entropyPeaks'; quantile: number }
  /** One subsentence per response: the sequence level. */
  | { kind: 'whole' };

/** Everything that the lens lets a person turn. */
export interface LensSettings {
  /** Clip width below and above 1 at each level. */
  widths: ClipWidths;
  /** Widths of single objectives, by id, where they differ from their level's (set by match). */
  overrides: Readonly<Record<string, { low: number; high: number }>>;
  rule: SegmentRule;
  /** Shorter subsentences are merged into the next one; tokens, 1 = off. Not applied to hand-edited completions. */
  minLength: number;
  /** Hand-edited cuts, by index into record.completions: ascending token indices (> 0) at which a new subsentence starts. */
  edits: Readonly<Record<number, readonly number[]>>;
  /** SSPO's factor stays between these; 1 and 1 turn it off. */
  entropyScaleLow: number;
  entropyScaleHigh: number;
  /** 'own': each objective by its own rule. */
  lossAggMode: LossAggMode | 'own';
  /** c > 1, or 0 for none; 'own': each objective's default (SPPO 3, others none). */
  dualClip: number | 'own';
  /** Weight of the KL term; 0 without refLogp. */
  beta: number;
  /** Only rows that this update of the iteration (from 1) trained on last; null = all rows. Update k alone = the trainer's live metrics of it. */
  minibatch: number | null;
}

/** What a unit's clip did with a token. `kept`: outside the band on the side where the gradient stays. */
export const CLIP_STATES = ['inside', 'keptLow', 'keptHigh', 'clippedLow', 'clippedHigh'] as const;
export type ClipState = (typeof CLIP_STATES)[number];

/** One objective over all tokens of the batch; columns [n]. Tokens of one unit agree in logRatio, low, high (and in state when their advantages agree). */
export interface ObjectiveColumns {
  /** At its own level, nats, clamped as the loss uses it. */
  logRatio: Float64Array;
  /** Edges of its band, as ratios; `low` <= 0 where nothing bounds it. */
  low: Float64Array;
  high: Float64Array;
  /** Index into CLIP_STATES. */
  state: Uint8Array;
  /** dLoss/dlogp. */
  coefficient: Float64Array;
}

/** The batch as the settings cut it. Row i of the columns is completion `completions[i]` of the record. */
export interface LensColumns {
  /** n, tokens. */
  count: number;
  /** Index into record.completions of each row; [rows]. */
  completions: Uint32Array;
  /** Row i holds tokens rowStart[i] .. rowStart[i + 1]; [rows + 1]. */
  rowStart: Uint32Array;
  /** Token range of each token's subsentence, as indices into the columns; [n]. */
  segStart: Uint32Array;
  segEnd: Uint32Array;
  /** Log ratio of the token, its subsentence and its sequence, not clamped; [n] each. */
  logRatio: Record<Level, Float64Array>;
  /** Mean entropy of the subsentence over that of the batch; [n]. */
  entropyRatio: Float64Array;
  /** By objective id. */
  objectives: Record<string, ObjectiveColumns>;
}

/** One line of the table: an objective on this batch. */
export interface LensTableRow {
  objective: string;
  title: string;
  level: Level;
  /** What it was computed with; null for an objective without clip widths. */
  widths: { low: number; high: number } | null;
  /** What its clip does: cuts the gradient, holds the weight (CISPO), or there is none. */
  clipEffect: 'cut' | 'hold' | 'none';
  lossAggMode: LossAggMode;
  dualClip: number;
  /** Name of the widths where they are not those in force: 'paper', 'sized', 'borrowed'; null for the settings' own. */
  variant: 'paper' | 'sized' | 'borrowed' | null;
  /** computeMetrics' own result: the same numbers as `eval` and the live charts. */
  metrics: ObjectiveMetrics;
  /** Its own level's part of them: outside and binding fractions, effective sample size, spread, histogram. */
  own: LevelMetrics;
  /** Greatest ratio at its own level. */
  maxRatio: number;
  /** Cosine of its coefficients and those without any clip; null when either is all zero. */
  cosine: number | null;
  /** What to know about its advantages on this batch, or null. */
  note: string | null;
}

/** A column of the table: its definition and its names elsewhere. */
export interface LensColumnSpec {
  id: string;
  title: string;
  /** One or two sentences. */
  definition: string;
  /** '' for a pure number. */
  unit: 'share' | 'ratio' | 'nats' | '';
  value(row: LensTableRow): number | null;
  /** Name of the same number in TRL, verl or another library, or null where it logs none; may depend on the level. */
  trl(row: LensTableRow): string | null;
  verl(row: LensTableRow): string | null;
}

/** One unit of a completion: a token, subsentence or sequence, judged by an objective of its level. */
export interface IcicleCell {
  level: Level;
  /** Tokens of the completion, first and one past the last. */
  start: number;
  end: number;
  logRatio: number;
  ratio: number;
  /** The band, as ratios. */
  low: number;
  high: number;
  state: ClipState;
}

/** A completion at three levels: tokens at the bottom, then subsentences, the sequence on top. */
export interface Icicle {
  completion: number;
  objectives: Record<Level, string>;
  token: IcicleCell[];
  segment: IcicleCell[];
  sequence: IcicleCell;
}

export type MatchQuantity = 'clippedTokens' | 'clippedGradient';

export interface MatchRequest {
  /** Share of tokens (or of gradient) to be clipped, 0..1. */
  target: number;
  quantity: MatchQuantity;
  /** `symmetric`: equal width on both sides. `keepRatio`: low over high as in the settings. */
  shape: 'symmetric' | 'keepRatio';
  /** Objective ids; all when left out. */
  objectives?: readonly string[];
}

export interface MatchResult {
  objective: string;
  widths: { low: number; high: number };
  /** The share that these widths give, as the table will show it. */
  achieved: number;
  /** Tokens (live or not) that are clipped at these widths, and at the next narrower and next wider achievable setting; null at the end of the range. */
  tokens: number;
  nextTokens: { narrower: number | null; wider: number | null };
}

/** Clip share over epsilon of one objective; width low = high = epsilon. */
export interface EpsCurve {
  objective: string;
  level: Level;
  /** Ascending, a log grid; [m]. */
  epsilon: Float64Array;
  /** Share of tokens and of gradient that is clipped; [m]. Neither rises. */
  tokens: Float64Array;
  gradient: Float64Array;
  marks: EpsMark[];
  /** Tokens, and those with advantage != 0: the share of live tokens is `tokens` times count over live. */
  count: number;
  live: number;
}

/** A value of epsilon with a name: from the paper, sized for these lengths, borrowed from GRPO, the one in force. */
export interface EpsMark {
  kind: 'paper' | 'sized' | 'borrowed' | 'current' | 'sdEquivalent';
  label: string;
  /** Where it stands on the axis: the mean of low and high in log space. */
  epsilon: number;
  low: number;
  high: number;
  /** Shares at (low, high). */
  tokens: number;
  gradient: number;
}

/** One objective's arithmetic for one token. */
export interface TokenUnder {
  objective: string;
  title: string;
  level: Level;
  advantage: number;
  ratio: number;
  logRatio: number;
  low: number;
  high: number;
  /** The edge beyond which the gradient is cut: above for A > 0, below for A < 0; on the ratio's side for A = 0. */
  edge: number;
  state: ClipState;
  /**
   * min(r A, clip(r) A), and c A for A < 0 with dual clip c (the loss takes the larger of that and the min); null for an objective whose
   * value is no such surrogate's (CISPO, GMPO, SAPO, ...).
   */
  branches: Branches | null;
  /** dLoss/dlogp with the batch's aggregation weight, and that weight. */
  coefficient: number;
  weight: number;
  /** Tokens of its unit. */
  unitTokens: number;
  dualClip: number;
  note: string | null;
}

/** Everything the lens says of one token. */
export interface TokenExplanation {
  completion: number;
  token: number;
  text: string;
  oldLogp: number;
  newLogp: number;
  entropy: number;
  advantage: number;
  logRatio: Record<Level, number>;
  /** First and one past the last token of its subsentence; the neighbours with it. */
  segment: { index: number; count: number; start: number; end: number; entropyRatio: number };
  neighbours: { token: number; text: string; logRatio: number; coefficients: Record<string, number> }[];
  under: TokenUnder[];
}

/** An outlier of the batch. */
export interface WorstToken {
  completion: number;
  token: number;
  text: string;
  logRatio: number;
  advantage: number;
}

/** One state of the dilution experiment. */
export interface DilutionPoint {
  logRatio: Record<Level, number>;
  /** By objective id. */
  under: { objective: string; state: ClipState; coefficient: number; ratio: number; low: number; high: number }[];
}

/** A token's log ratio moved by `by` nats, everything else held. */
export interface TokenMove {
  completion: number;
  token: number;
  by: number;
  /** Tokens of its units: the move reaches a unit's log ratio divided by this. */
  lengths: Record<Level, number>;
  before: DilutionPoint;
  after: DilutionPoint;
  /**
   * For each objective the token log ratio at which its verdict on this token flips, on the side where its clip acts, and how far that is
   * from where it stands; null when it never does (A = 0, or no lower bound). `reachable`: the new log-prob would not exceed 0.
   */
  letsGo: { objective: string; tokenLogRatio: number | null; by: number | null; reachable: boolean }[];
}

/** What if the token's subsentence (or response) had other lengths, its other tokens keeping their mean. */
export interface LongerUnit {
  level: 'segment' | 'sequence';
  /** Tokens. */
  lengths: number[];
  /** Log ratio of the unit at each length, and whether the objective of that level clips it. */
  points: { length: number; logRatio: number; ratio: number; low: number; high: number; state: ClipState }[];
  objective: string;
  actual: number;
}

/** Spread against length. */
export interface LengthScaling {
  /** Window lengths, tokens, that fit at least two windows; sd of the window's mean log ratio; count of windows. */
  windows: { length: number; sd: number; count: number }[];
  /** sd of the token log ratios divided by sqrt(length): what independent tokens would give. */
  guide: { length: number; sd: number }[];
  /** Slope of log sd over log length by least squares; null with fewer than two windows of positive sd. */
  slope: number | null;
  /** Each level: mean unit length, sd of its log ratios, and the epsilon that is as many sd as the token level's. */
  levels: Record<Level, { meanLength: number; sd: number; epsilon: { low: number; high: number }; current: { low: number; high: number } }>;
  /** Shares of units per bin of log ratio, one axis for all levels: edges ascending, [edges + 1] each, ends open. */
  histogram: { edges: readonly number[]; shares: Record<Level, number[]> };
}

/** What one request can ask for; what is not asked for is not computed. */
export interface LensWanted {
  /** Ids; every objective when left out. */
  objectives?: readonly string[];
  columns?: boolean;
  table?: boolean;
  /** Adds rows for the named widths (paper, sized, borrowed) to the table. */
  variants?: boolean;
  curves?: boolean;
  scaling?: boolean;
  match?: MatchRequest;
}

/** Answer to one request. */
export interface LensAnswer {
  columns: LensColumns | null;
  table: LensTableRow[] | null;
  curves: EpsCurve[] | null;
  scaling: LengthScaling | null;
  match: MatchResult[] | null;
  /** Tokens by |log ratio|, greatest first, at most 20; with `columns`. */
  worst: WorstToken[];
  /** Time of the computation, ms. */
  ms: number;
}

/** Settings read from an address, with what was wrong in it. */
export interface DecodedLens {
  settings: LensSettings;
  problems: Problem[];
}
