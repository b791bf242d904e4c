import { UserError } from '../core/errors';
import type { LossAggMode } from './types';

/** What the denominators count when a batch is only part (a micro-batch) of the loss batch. */
export interface LossBatchTotals {
  /** Generation budget L_max, tokens; `constant` needs it. */
  maxTokens?: number;
  /** Tokens of the whole loss batch. */
  totalTokens?: number;
  /** Rows with at least one token in the whole loss batch. */
  totalSequences?: number;
}

/**
 * Aggregation weight w of every token of each row (within a row all tokens weigh the same); [rows].
 * algorithms.md section 0: seq-mean-token-mean 1/(G|y|), token-mean 1/N, seq-mean-token-sum 1/G, constant 1/(G L_max).
 * G counts the rows that have tokens; denominators are at least 1, so an empty batch weighs nothing and divides by nothing.
 */
export function rowWeights(lengths: ArrayLike<number>, mode: LossAggMode, totals: LossBatchTotals = {}): Float64Array {
  const rows = lengths.length;
  let tokens = 0;
  let sequences = 0;
  for (let r = 0; r < rows; r++) {
    tokens += lengths[r];
    if (lengths[r] > 0) sequences++;
  }
  const N = Math.max(1, totals.totalTokens ?? tokens);
  const G = Math.max(1, totals.totalSequences ?? sequences);
  const weights = new Float64Array(rows);
  for (let r = 0; r < rows; r++) {
    switch (mode) {
      case 'seq-mean-token-mean':
        weights[r] = 1 / (G * Math.max(1, lengths[r]));
        break;
      case 'token-mean':
        weights[r] = 1 / N;
        break;
      case 'seq-mean-token-sum':
        weights[r] = 1 / G;
        break;
      case 'constant':
        if (!totals.maxTokens || !(totals.maxTokens > 0)) {
          throw new UserError('lossAggMode "constant" divides by the generation budget, but maxTokens is missing.', 'Give maxTokens (tokens, > 0).');
        }
        weights[r] = 1 / (G * totals.maxTokens);
        break;
    }
  }
  return weights;
}

/** The sums in front of the token loss, as TeX; G responses, |y_i| tokens each, L_max tokens of budget. */
export const AGGREGATION_TEX: Record<LossAggMode, string> = {
  'seq-mean-token-mean': '\\frac{1}{G}\\sum_{i=1}^{G}\\frac{1}{|y_i|}\\sum_{t=1}^{|y_i|}',
  'token-mean': '\\frac{1}{\\sum_{i=1}^{G}|y_i|}\\sum_{i=1}^{G}\\sum_{t=1}^{|y_i|}',
  'seq-mean-token-sum': '\\frac{1}{G}\\sum_{i=1}^{G}\\sum_{t=1}^{|y_i|}',
  constant: '\\frac{1}{G\\,L_{\\max}}\\sum_{i=1}^{G}\\sum_{t=1}^{|y_i|}',
};

/** Plain words for the control that chooses it. */
export const AGGREGATION_HELP: Record<LossAggMode, string> = {
  'seq-mean-token-mean': 'Each response counts the same, whatever its length (GRPO, GSPO).',
  'token-mean': 'Each token counts the same, so long responses weigh more (DAPO, LPO, SPPO).',
  'seq-mean-token-sum': 'Token losses are summed per response, then averaged over responses.',
  constant: 'Token losses are summed and divided by a fixed generation budget (Dr.GRPO).',
};
