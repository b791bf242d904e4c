import * as tf from '@tensorflow/tfjs-core';
import { invariant } from '../core/errors';
import { adamwCpu } from '../kernels/adamw/adamw.cpu';
import { valueLossCpu } from '../kernels/value/value.cpu';
import { paramLayout, type ModelConfig } from '../model/config';
import { NO_TARGET, type PackedBatch, type ValueNetwork, type ValueRecord } from './engine';
import { padBatch } from './padBatch';
import { forwardRows, named, weightTensors, type Weights } from './tfjsTransformer';

/** A value network in tfjs: network and derivative in tfjs, value loss and AdamW in f64 on the host. */
export function createTfjsValueNetwork(config: ModelConfig, decays: Uint8Array): ValueNetwork {
  const { flatSize, specs } = paramLayout(config);
  let params = new Float32Array(flatSize);
  const first = new Float64Array(flatSize);
  const second = new Float64Array(flatSize);
  let updates = 0;
  let records: ValueRecord[] = [];

  /** V at packed positions, and dLoss/dparams when `pull` says what each V's derivative is. */
  const run = (batch: PackedBatch, pull: ((values: Float32Array) => Float32Array) | null): { values: Float32Array; gradient: Float64Array } => {
    const padded = padBatch(batch, config.T);
    const gradient = new Float64Array(flatSize);
    let values: Float32Array = new Float32Array(batch.positions);
    tf.tidy(() => {
      const { names, tensors } = weightTensors(config, params);
      const valuesOf = (weights: Weights): tf.Tensor1D => {
        const { logits } = forwardRows(config, weights, padded.tokens, padded.rows, 0, null);
        const all = tf.reshape(tf.slice(logits, [0, 0], [padded.rows * padded.length, 1]), [-1]) as tf.Tensor1D;
        const data = all.dataSync();
        values = Float32Array.from(padded.source, (from, n) => (batch.targets[n] === NO_TARGET ? 0 : (data[from] as number)));
        return all;
      };
      if (!pull) {
        valuesOf(named(names, tensors));
        return;
      }
      const loss = (...weights: tf.Tensor[]): tf.Scalar => {
        const all = valuesOf(named(names, weights));
        const spread = new Float32Array(padded.rows * padded.length);
        pull(values).forEach((g, n) => (spread[padded.source[n] as number] = g));
        return tf.sum(tf.mul(all, tf.tensor1d(spread)));
      };
      tf.grads(loss)(tensors).forEach((g, i) => gradient.set(g.dataSync(), specs[i]?.offset));
    });
    return { values, gradient };
  };

  return {
    loadParams(flat) {
      invariant(flat.length === flatSize, `${flat.length} parameters for a value network of ${flatSize}`);
      params = Float32Array.from(flat);
      first.fill(0);
      second.fill(0);
      updates = 0;
    },
    readParams: async () => params.slice(),
    saveState: async () => ({ params: params.slice(), m: first.slice(), v: second.slice(), updates }),
    loadState(saved) {
      invariant(saved.params.length === flatSize, `a state of ${saved.params.length} parameters for a value network of ${flatSize}`);
      params = Float32Array.from(saved.params);
      first.set(saved.m);
      second.set(saved.v);
      updates = saved.updates;
    },
    values: async (batch) => run(batch, null).values,
    update(batch, { oldValues, returns, weight }, o) {
      const { values, gradient } = run(batch, (now) =>
        now.map((value, n) => (batch.targets[n] === NO_TARGET ? 0 : valueLossCpu(value, oldValues[n] as number, returns[n] as number, weight[n] as number, o.valueClip).gradient)),
      );
      const gradNorm = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0));
      updates++;
      const next = Float64Array.from(params);
      adamwCpu(next, first, second, gradient, decays, gradNorm, {
        lr: o.learningRate, beta1: o.beta1, beta2: o.beta2, eps: o.adamEps, decay: o.weightDecay, maxNorm: o.maxGradNorm, step: updates,
      });
      params = Float32Array.from(next);
      records.push({ values, gradNorm: Math.fround(gradNorm) });
    },
    async collect() {
      const collected = records;
      records = [];
      return collected;
    },
  };
}
