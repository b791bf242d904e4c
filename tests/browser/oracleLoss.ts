import * as tf from '@tensorflow/tfjs-core';
import { NO_TARGET, type PackedBatch } from '../../src/engines/engine';
import type { PaddedBatch } from '../../src/engines/padBatch';
import type { RowData } from '../../src/trainer/batch';

/**
 * The losses of the objectives as their papers write them (algorithms.md), in tfjs ops, for tfjs's own automatic
 * differentiation: ratios, means over units, clipping, aggregation. Nothing here comes from src/objectives.
 */

export interface OracleBatch {
  rows: number;
  length: number;
  /** Where there is a response token; [R, S] each, zeros elsewhere. */
  mask: tf.Tensor2D;
  oldLogp: tf.Tensor2D;
  refLogp: tf.Tensor2D;
  /** [R, 1]. */
  advantage: tf.Tensor2D;
  /** Response tokens of each row; [R, 1]. */
  lengths: tf.Tensor2D;
  /** Averages over each segment, [R, K, S]; tokens in it [R, K, 1] (0 for a segment that a row lacks); its entropy over the batch's [R, K, 1]. */
  segmentMean: tf.Tensor3D;
  segmentSize: tf.Tensor3D;
  entropyRatio: tf.Tensor3D;
  tokens: number;
  /** Generation budget, tokens. */
  maxTokens: number;
}

/** Spreads rows of response data over a padded batch. `meanEntropy` in nats. */
export function oracleBatch(batch: PackedBatch, padded: PaddedBatch, rows: readonly RowData[], meanEntropy: number, maxTokens: number): OracleBatch {
  const { length: S } = padded;
  const R = batch.rows;
  const K = Math.max(...rows.map((row) => 1 + Math.max(...Array.from(row.segments))));
  const fill = () => new Float32Array(R * S);
  const [mask, oldLogp, refLogp] = [fill(), fill(), fill()];
  const segmentMean = new Float32Array(R * K * S);
  const segmentSize = new Float32Array(R * K);
  const entropyRatio = new Float32Array(R * K);
  rows.forEach((row, r) => {
    const start = batch.rowStart[r]!;
    const first = batch.targets.subarray(start, batch.rowStart[r + 1]).findIndex((target) => target !== NO_TARGET);
    const ids = Array.from(row.segments);
    ids.forEach((k, t) => {
      const at = r * S + first + t;
      mask[at] = 1;
      oldLogp[at] = row.oldLogp[t]!;
      refLogp[at] = row.refLogp![t]!;
      const size = ids.filter((id) => id === k).length;
      segmentMean[(r * K + k) * S + first + t] = 1 / size;
      segmentSize[r * K + k] = size;
      entropyRatio[r * K + k]! += row.entropy[t]! / size / meanEntropy;
    });
  });
  const lengths = rows.map((row) => row.oldLogp.length);
  return {
    rows: R, length: S,
    mask: tf.tensor2d(mask, [R, S]), oldLogp: tf.tensor2d(oldLogp, [R, S]), refLogp: tf.tensor2d(refLogp, [R, S]),
    advantage: tf.tensor2d(rows.map((row) => [row.advantages[0] ?? 0])), lengths: tf.tensor2d(lengths.map((n) => [n])),
    segmentMean: tf.tensor3d(segmentMean, [R, K, S]), segmentSize: tf.tensor3d(segmentSize, [R, K, 1]), entropyRatio: tf.tensor3d(entropyRatio, [R, K, 1]),
    tokens: lengths.reduce((a, b) => a + b, 0),
    maxTokens,
  };
}

type Hyper = Readonly<Record<string, number>>;

/** min(r A, clip(r, low, high) A). */
function surrogate(ratio: tf.Tensor, low: tf.Tensor | number, high: tf.Tensor | number, advantage: tf.Tensor): tf.Tensor {
  const held = tf.minimum(tf.maximum(ratio, low), high);
  return tf.minimum(tf.mul(ratio, advantage), tf.mul(held, advantage));
}

/** A tensor's numbers as a constant: where the papers stop the gradient. */
const frozen = <T extends tf.Tensor>(x: T): T => tf.tensor(x.dataSync(), x.shape) as T;

/** The loss of an objective; logp [R, S], 0 where there is no target. */
export function oracleLoss(id: string, logp: tf.Tensor2D, b: OracleBatch, hyper: Hyper): tf.Scalar {
  const { clipLow = NaN, clipHigh = NaN, beta = NaN, dualClip = NaN, entropyScaleLow = NaN, entropyScaleHigh = NaN, floor = NaN, cap = NaN, tauPos = NaN, tauNeg = NaN } = hyper;
  const logRatio = tf.sub(logp, b.oldLogp);
  const toReference = tf.sub(b.refLogp, logp);
  /** k3 of KL to the reference, times beta; [R, S], 0 off the mask since both are 0 there. */
  const penalty = tf.mul(tf.sub(tf.sub(tf.exp(toReference), toReference), 1), beta);
  const overTokens = (perToken: tf.Tensor): tf.Scalar => tf.div(tf.sum(perToken), b.tokens);
  const masked = (perToken: tf.Tensor): tf.Tensor => tf.mul(perToken, b.mask);
  const meanOfRows = (perToken: tf.Tensor): tf.Scalar => tf.mean(tf.div(tf.sum(perToken, 1, true), b.lengths));

  const bySegment = (low: tf.Tensor | number, high: tf.Tensor | number): tf.Scalar => {
    const ratio = tf.exp(tf.matMul(b.segmentMean, tf.reshape(logRatio, [b.rows, b.length, 1])));
    const gain = surrogate(ratio, low, high, tf.reshape(b.advantage, [b.rows, 1, 1]));
    return tf.sub(overTokens(penalty), overTokens(tf.mul(gain, b.segmentSize)));
  };
  const isGood = tf.tile(tf.greater(b.advantage, 0), [1, b.length]);
  const ratios = () => tf.exp(logRatio);
  /** Dual clip: a token with A < 0 never counts for less than c A. */
  const dual = (gain: tf.Tensor, c: number) => (c === 0 ? gain : tf.where(tf.tile(tf.less(b.advantage, 0), [1, b.length]), tf.maximum(gain, tf.mul(b.advantage, c)), gain));
  switch (id) {
    case 'drGrpo':
      return tf.div(tf.sum(tf.sub(penalty, masked(surrogate(ratios(), 1 - clipLow, 1 + clipHigh, b.advantage)))), b.rows * b.maxTokens);
    case 'dapo':
      return overTokens(tf.sub(penalty, masked(surrogate(ratios(), 1 - clipLow, 1 + clipHigh, b.advantage))));
    case 'gspoToken': {
      const whole = tf.exp(tf.div(tf.sum(logRatio, 1, true), b.lengths));
      const carried = tf.mul(frozen(whole), tf.exp(tf.sub(logp, frozen(logp))));
      return meanOfRows(tf.sub(penalty, masked(surrogate(carried, 1 - clipLow, 1 + clipHigh, b.advantage))));
    }
    case 'gmpo': {
      const held = tf.where(isGood, tf.minimum(logRatio, clipHigh), tf.maximum(logRatio, -clipLow));
      const geometric = tf.exp(tf.div(tf.sum(masked(held), 1, true), b.lengths));
      return tf.sub(meanOfRows(penalty), tf.mean(tf.mul(geometric, b.advantage)));
    }
    case 'cispo':
      return overTokens(tf.sub(penalty, masked(tf.mul(tf.mul(frozen(tf.clipByValue(ratios(), floor, cap)), b.advantage), logp))));
    case 'dcpo': {
      const old = tf.exp(b.oldLogp);
      const edge = (sign: number, width: number) => tf.add(0.5, tf.mul(0.5, tf.sqrt(tf.maximum(tf.add(1, tf.div(4 * sign * width, old)), 0))));
      const gain = surrogate(ratios(), edge(-1, clipLow), tf.minimum(edge(1, clipHigh), 10), b.advantage);
      return overTokens(tf.sub(penalty, masked(dual(gain, Math.max(dualClip, 10)))));
    }
    case 'sapo': {
      const tau = tf.where(isGood, tf.fill([b.rows, b.length], tauPos), tf.fill([b.rows, b.length], tauNeg));
      const gate = tf.mul(tf.sigmoid(tf.mul(tau, tf.sub(ratios(), 1))), tf.div(4, tau));
      return meanOfRows(tf.sub(penalty, masked(tf.mul(gate, b.advantage))));
    }
    case 'reinforce':
      return overTokens(tf.sub(penalty, masked(tf.mul(logp, b.advantage))));
    case 'rft':
      return overTokens(tf.sub(penalty, masked(tf.mul(logp, tf.maximum(b.advantage, 0)))));
    case 'grpo':
      return meanOfRows(tf.sub(penalty, masked(surrogate(tf.exp(logRatio), 1 - clipLow, 1 + clipHigh, b.advantage))));
    case 'gspo': {
      const ratio = tf.exp(tf.div(tf.sum(logRatio, 1, true), b.lengths));
      return tf.sub(meanOfRows(penalty), tf.mean(surrogate(ratio, 1 - clipLow, 1 + clipHigh, b.advantage)));
    }
    case 'lpo':
      return bySegment(1 - clipLow, 1 + clipHigh);
    case 'sspo': {
      const scale = tf.clipByValue(b.entropyRatio, entropyScaleLow, entropyScaleHigh);
      return bySegment(tf.sub(1, tf.mul(scale, clipLow)), tf.add(1, tf.mul(scale, clipHigh)));
    }
    case 'sppo':
    case 'ppo': {
      const gain = surrogate(ratios(), 1 - clipLow, 1 + clipHigh, b.advantage);
      return overTokens(tf.sub(penalty, masked(dual(gain, dualClip))));
    }
    default:
      throw new Error(`no oracle for ${id}`);
  }
}
