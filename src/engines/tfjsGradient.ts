import * as tf from '@tensorflow/tfjs-core';
import { policyLossCpu } from '../kernels/policyLoss/policyLoss.cpu';
import { paramLayout, type ModelConfig } from '../model/config';
import type { TokenLoss } from '../objectives/types';
import { NO_TARGET, type LossInputs, type PackedBatch, type ScoreResult, type UpdateOptions } from './engine';
import { padBatch, type PaddedBatch } from './padBatch';
import { entropyOf, forwardRows, logProbs, named, oneHotRows, targetLogp, weightTensors, type Weights } from './tfjsTransformer';

/** What the backward pass of one update gives. */
export interface TfjsGradient {
  /** Flat (paramLayout), before clipping. */
  gradient: Float64Array<ArrayBuffer>;
  /** At packed positions [N], zeros where there is no target. */
  logp: Float32Array;
  entropy: Float32Array;
  coefficient: Float32Array;
}

/** Log-probs and entropies of a batch's targets, at packed positions. */
export function scoreTfjs(config: ModelConfig, flat: Float32Array, batch: PackedBatch, temperature: number): ScoreResult {
  const padded = padBatch(batch, config.T);
  let result: ScoreResult = { logp: new Float32Array(0), entropy: new Float32Array(0) };
  tf.tidy(() => {
    const { names, tensors } = weightTensors(config, flat);
    const { logp, entropy } = targetsOf(config, named(names, tensors), padded, paddedTargets(batch, padded, config.V), temperature);
    result = pack(batch, padded, logp, entropy);
  });
  return result;
}

/**
 * Gradient of the token loss: tfjs runs the network and its derivative, the token loss is evaluated in f64 on the host
 * between the two. What is differentiated is sum(coefficient * logp), whose gradient is the loss's own.
 */
export function gradientTfjs(config: ModelConfig, flat: Float32Array, batch: PackedBatch, inputs: LossInputs, loss: TokenLoss, { temperature, hyper }: UpdateOptions): TfjsGradient {
  const layout = paramLayout(config);
  const padded = padBatch(batch, config.T);
  const at = { logp: new Float32Array(0), entropy: new Float32Array(0) };
  const coefficient = new Float32Array(batch.positions);
  const gradient = new Float64Array(layout.flatSize);
  tf.tidy(() => {
    const { names, tensors } = weightTensors(config, flat);
    const objective = (...weights: tf.Tensor[]): tf.Scalar => {
      const { logp, entropy } = targetsOf(config, named(names, weights), padded, paddedTargets(batch, padded, config.V), temperature);
      Object.assign(at, pack(batch, padded, logp, entropy));
      const results = policyLossCpu(loss.reference, { newLogp: at.logp, targets: batch.targets, rowStart: batch.rowStart, ...inputs }, hyper);
      const spread = new Float32Array(padded.rows * padded.length);
      for (let n = 0; n < batch.positions; n++) spread[padded.source[n] as number] = coefficient[n] = results[4 * n] as number;
      return tf.sum(tf.mul(logp, tf.tensor1d(spread)));
    };
    tf.grads(objective)(tensors).forEach((g, i) => gradient.set(g.dataSync(), layout.specs[i]?.offset));
  });
  return { gradient, coefficient, ...at };
}

function targetsOf(config: ModelConfig, weights: Weights, padded: PaddedBatch, targets: tf.Tensor2D, temperature: number): { logp: tf.Tensor1D; entropy: tf.Tensor1D } {
  const all = logProbs(forwardRows(config, weights, padded.tokens, padded.rows, 0, null).logits, temperature);
  return { logp: targetLogp(all, targets), entropy: entropyOf(all) };
}

/** One-hot targets of the padded batch; rows of zeros where there is none. */
function paddedTargets(batch: PackedBatch, padded: PaddedBatch, V: number): tf.Tensor2D {
  const ids = new Uint32Array(padded.rows * padded.length).fill(NO_TARGET);
  padded.source.forEach((to, n) => {
    ids[to] = batch.targets[n] as number;
  });
  return oneHotRows(ids, V);
}

/** From rows of one length back to packed positions. */
function pack(batch: PackedBatch, padded: PaddedBatch, logp: tf.Tensor1D, entropy: tf.Tensor1D): ScoreResult {
  const pick = (tensor: tf.Tensor1D) => {
    const data = tensor.dataSync();
    return Float32Array.from(padded.source, (from, n) => (batch.targets[n] === NO_TARGET ? 0 : (data[from] as number)));
  };
  return { logp: pick(logp), entropy: pick(entropy) };
}
