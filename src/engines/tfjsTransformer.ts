import * as tf from '@tensorflow/tfjs-core';
import { ropeTable } from '../kernels/rope/rope';
import { paramLayout, type ModelConfig } from '../model/config';

/** The policy in tfjs ops, on rows of one length: R rows, S positions. Call everything here inside tf.tidy. */

/** Weights by name, as paramLayout names them. */
export type Weights = Readonly<Record<string, tf.Tensor>>;

/** Rotated keys and values of the positions so far, one pair per layer; [R, H, S, C/H] each. */
export type KeyValues = readonly { k: tf.Tensor4D; v: tf.Tensor4D }[];

/** The flat vector cut into tensors, in paramLayout's order. */
export function weightTensors(config: ModelConfig, flat: Float32Array): { names: string[]; tensors: tf.Tensor[] } {
  const { specs } = paramLayout(config);
  return {
    names: specs.map((spec) => spec.name),
    tensors: specs.map((spec) => tf.tensor(flat.slice(spec.offset, spec.offset + spec.size), [...spec.shape], 'float32')),
  };
}

export function named(names: readonly string[], tensors: readonly tf.Tensor[]): Weights {
  return Object.fromEntries(names.map((name, i) => [name, tensors[i] as tf.Tensor]));
}

/**
 * One-hot rows [n, V] made on the host; ids at or above V give a row of zeros. Looking a row up is then a matrix product,
 * whose gradient every backend has (that of tf.gather is missing in WASM).
 */
export function oneHotRows(ids: ArrayLike<number>, V: number): tf.Tensor2D {
  const data = new Float32Array(ids.length * V);
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    if (id < V) data[i * V + id] = 1;
  }
  return tf.tensor2d(data, [ids.length, V]);
}

/** Added to the scores of a position's own future. */
const MASKED = -1e9;

/**
 * Logits of positions start .. start + S - 1 of each row, given the keys and values of those before (null at the start
 * of a row), and the keys and values up to there. tokens [R, S]; logits [R * S, V].
 */
export function forwardRows(config: ModelConfig, w: Weights, tokens: ArrayLike<number>, rows: number, start: number, before: KeyValues | null): { logits: tf.Tensor2D; cache: KeyValues } {
  const { C, L, H, V } = config;
  const hd = C / H;
  const S = tokens.length / rows;
  const { cos, sin } = rotation(config, start, S);
  const mask = S > 1 ? causalMask(S, start) : null;
  const weight = (name: string) => w[name] as tf.Tensor2D;

  const positions = tf.slice(weight('positionEmbedding'), [start, 0], [S, C]);
  const embedded = tf.reshape(tf.matMul(oneHotRows(tokens, V), weight('tokenEmbedding')), [rows, S, C]);
  let x = tf.reshape(tf.add(embedded, positions), [rows * S, C]) as tf.Tensor2D;
  const cache: { k: tf.Tensor4D; v: tf.Tensor4D }[] = [];
  const heads = (part: tf.Tensor): tf.Tensor4D => tf.reshape(part, [rows, S, H, hd]);
  const byHead = (part: tf.Tensor4D): tf.Tensor4D => tf.transpose(part, [0, 2, 1, 3]);
  for (let l = 0; l < L; l++) {
    const qkv = tf.matMul(norm(x, weight(`l${l}.norm1`), config.normEps), weight(`l${l}.qkv`));
    const [q, k, v] = tf.split(qkv, 3, 1) as [tf.Tensor, tf.Tensor, tf.Tensor];
    const query = byHead(rotate(heads(q), cos, sin));
    let key = byHead(rotate(heads(k), cos, sin));
    let value = byHead(heads(v));
    const past = before?.[l];
    if (past) {
      key = tf.concat([past.k, key], 2);
      value = tf.concat([past.v, value], 2);
    }
    cache.push({ k: key, v: value });
    const scores = tf.mul(tf.matMul(query, key, false, true), 1 / Math.sqrt(hd));
    const attended = tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), value);
    const merged = tf.reshape(byHead(attended as tf.Tensor4D), [rows * S, C]) as tf.Tensor2D;
    x = tf.add(x, tf.matMul(merged, weight(`l${l}.attnOut`)));
    const h = tf.matMul(norm(x, weight(`l${l}.norm2`), config.normEps), weight(`l${l}.fc1`));
    x = tf.add(x, tf.matMul(tf.mul(h, tf.sigmoid(tf.mul(h, 1.702))) as tf.Tensor2D, weight(`l${l}.fc2`)));
  }
  return { logits: tf.matMul(norm(x, weight('finalNorm'), config.normEps), weight('unembed')), cache };
}

/** Log-probs of softmax(logits / temperature); [n, V]. */
export function logProbs(logits: tf.Tensor2D, temperature: number): tf.Tensor2D {
  return tf.logSoftmax(tf.mul(logits, 1 / temperature));
}

/** Log-prob of each row's one-hot target, 0 where that row is all zeros; [n]. */
export function targetLogp(all: tf.Tensor2D, targets: tf.Tensor2D): tf.Tensor1D {
  return tf.sum(tf.mul(all, targets), 1);
}

/** Entropy of each row's distribution, nats; [n]. */
export function entropyOf(all: tf.Tensor2D): tf.Tensor1D {
  return tf.neg(tf.sum(tf.mul(tf.exp(all), all), 1));
}

function norm(x: tf.Tensor2D, gain: tf.Tensor, eps: number): tf.Tensor2D {
  const meanSquare = tf.mean(tf.square(x), 1, true);
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(meanSquare, eps))), gain);
}

/** Cosines and sines of positions start .. start + S - 1, [S, 1, hd / 2], ready to spread over rows and heads. */
function rotation(config: ModelConfig, start: number, S: number): { cos: tf.Tensor3D; sin: tf.Tensor3D } {
  const hd = config.C / config.H;
  const table = ropeTable(start + S, hd, config.ropeBase);
  const half = hd / 2;
  const part = (offset: number) => tf.tensor3d(Float32Array.from({ length: S * half }, (_, i) => table[(start + Math.floor(i / half)) * hd + offset + (i % half)] as number), [S, 1, half]);
  return { cos: part(0), sin: part(half) };
}

/** Turns each head's two halves against each other; x [R, S, H, hd]. */
function rotate(x: tf.Tensor4D, cos: tf.Tensor3D, sin: tf.Tensor3D): tf.Tensor4D {
  const [a, b] = tf.split(x, 2, 3) as [tf.Tensor4D, tf.Tensor4D];
  return tf.concat([tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(a, sin), tf.mul(b, cos))], 3) as tf.Tensor4D;
}

/** 0 where the position may look, a large negative number where it may not; [S, start + S]. */
function causalMask(S: number, start: number): tf.Tensor2D {
  const width = start + S;
  return tf.tensor2d(Float32Array.from({ length: S * width }, (_, i) => (i % width <= start + Math.floor(i / width) ? 0 : MASKED)), [S, width]);
}
