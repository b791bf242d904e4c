import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { paramLayout, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { ropeTable } from '../../src/kernels/rope/rope';
import { ADAM, decodeNoise, firstTokens, matmulError, matrices, modelOf, PARAMS_SEED, repeatsOf, trainTokens } from '../lib/work';
import type { CellSpec, Subject, Work } from '../lib/types';

type Weights = Record<string, tf.Variable>;

/** TensorFlow.js on WebGPU, written with its own operations and gradients; there is no graph compiler to use. */
export async function tfjsSubject(): Promise<Subject> {
  await import('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend('webgpu'))) throw new Error('TensorFlow.js could not start its WebGPU backend');
  await tf.ready();
  const { device } = tf.backend() as WebGPUBackend;
  const info = (device as unknown as { adapterInfo?: GPUAdapterInfo }).adapterInfo;
  return {
    adapter: [info?.vendor, info?.architecture].filter(Boolean).join(' '),
    open: (cell) => {
      if (cell.kind === 'matmul') return openMatmul(cell.n);
      if (cell.kind === 'train') return openTrain(cell);
      if (cell.kind === 'decode') return openDecode(cell);
      throw new Error('TensorFlow.js has no RL iteration');
    },
  };
}

/** Sends what is still being recorded and waits for the GPU. */
async function drain(): Promise<void> {
  const backend = tf.backend() as unknown as { commandEncoder: GPUCommandEncoder | null; endComputePassEncoder(): void; submitQueue(): void; queue: GPUQueue };
  if (backend.commandEncoder) {
    backend.endComputePassEncoder();
    backend.submitQueue();
  }
  await backend.queue.onSubmittedWorkDone();
}

async function openMatmul(n: number): Promise<Work> {
  const [a, b] = matrices(n);
  const [x, w] = [tf.tensor2d(a, [n, n]), tf.tensor2d(b, [n, n])];
  const repeats = repeatsOf(n);
  const first = tf.matMul(x, w);
  const value = matmulError(n, a, b, await first.data());
  first.dispose();
  return {
    proof: { kind: 'error', value },
    run: async () => {
      const started = performance.now();
      const results = Array.from({ length: repeats }, () => tf.matMul(x, w));
      await drain();
      const ms = (performance.now() - started) / repeats;
      tf.dispose(results);
      return { ms };
    },
    dispose: () => tf.dispose([x, w]),
  };
}

function weightsOf(config: ModelConfig, flat: Float32Array): Weights {
  return Object.fromEntries(paramLayout(config).specs.map((s) => [s.name, tf.variable(tf.tensor(flat.slice(s.offset, s.offset + s.size), [...s.shape]))]));
}

const rmsnorm = (x: tf.Tensor, g: tf.Tensor, eps: number): tf.Tensor => tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), eps))), g);

/** x [..., K] W [K, O]: a flat product, which TensorFlow.js does faster than a broadcast one. */
const multiply = (x: tf.Tensor, w: tf.Tensor): tf.Tensor => {
  const [K, O] = w.shape as [number, number];
  return tf.reshape(tf.matMul(tf.reshape(x, [-1, K]) as tf.Tensor2D, w as tf.Tensor2D), [...x.shape.slice(0, -1), O]);
};

const rotate = (x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor => {
  const [a, b] = tf.split(x, 2, -1);
  return tf.concat([tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(a, sin), tf.mul(b, cos))], -1);
};

const activate = (h: tf.Tensor): tf.Tensor => tf.mul(h, tf.sigmoid(tf.mul(h, 1.702)));

function ropeTensors(config: ModelConfig): { cos: tf.Tensor2D; sin: tf.Tensor2D } {
  const { T, C, H } = config;
  const hd = C / H;
  const half = hd / 2;
  const table = ropeTable(T, hd, config.ropeBase);
  const pick = (at: number) => tf.tensor2d(Float32Array.from({ length: T * half }, (_, i) => table[Math.floor(i / half) * hd + at + (i % half)]), [T, half]);
  return { cos: pick(0), sin: pick(half) };
}

async function openTrain(cell: Extract<CellSpec, { kind: 'train' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const { C, L, H, V, T } = config;
  const { rows } = cell;
  const hd = C / H;
  const w = weightsOf(config, initialParams(config, PARAMS_SEED));
  const { specs } = paramLayout(config);
  const { inputs, targets } = trainTokens(config, rows);
  // One-hot inputs are made once, outside the clock: the gather's own gradient is slower still.
  const x = tf.cast(tf.oneHot(tf.tensor1d(inputs, 'int32'), V), 'float32');
  const y = tf.cast(tf.oneHot(tf.tensor1d(targets, 'int32'), V), 'float32');
  const { cos, sin } = ropeTensors(config);
  const mask = tf.tensor2d(Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)), [T, T]);

  const loss = (): tf.Scalar => {
    let s = tf.add(tf.reshape(multiply(x, w.tokenEmbedding), [rows, T, C]), w.positionEmbedding) as tf.Tensor;
    for (let l = 0; l < L; l++) {
      const qkv = multiply(rmsnorm(s, w[`l${l}.norm1`], config.normEps), w[`l${l}.qkv`]);
      const [q, k, v] = tf.split(qkv, 3, -1).map((part) => tf.transpose(tf.reshape(part, [rows, T, H, hd]), [0, 2, 1, 3]));
      const scores = tf.mul(tf.matMul(rotate(q, cos, sin), rotate(k, cos, sin), false, true), 1 / Math.sqrt(hd));
      const attended = tf.matMul(tf.softmax(tf.add(scores, mask)), v);
      s = tf.add(s, multiply(tf.reshape(tf.transpose(attended, [0, 2, 1, 3]), [rows, T, C]), w[`l${l}.attnOut`]));
      s = tf.add(s, multiply(activate(multiply(rmsnorm(s, w[`l${l}.norm2`], config.normEps), w[`l${l}.fc1`])), w[`l${l}.fc2`]));
    }
    const logits = tf.reshape(multiply(rmsnorm(s, w.finalNorm, config.normEps), w.unembed), [rows * T, V]);
    return tf.mul(tf.sum(tf.mul(tf.logSoftmax(logits), y)), -1 / (rows * T)) as tf.Scalar;
  };

  const moments = Object.fromEntries(specs.map((s) => [s.name, { m: tf.variable(tf.zeros([...s.shape])), v: tf.variable(tf.zeros([...s.shape])), decay: s.initSd === 'gain' ? 0 : ADAM.decay }]));
  let steps = 0;
  const step = async (): Promise<number> => {
    steps++;
    const value = tf.tidy(() => {
      const { value: l, grads } = tf.variableGrads(loss);
      const gradOf = (name: string): tf.Tensor => grads[w[name].name];
      // Not addN: over as many tensors the weights then do not move here (bench/notes.md).
      const norm = tf.sqrt(specs.map((s) => tf.sum(tf.square(gradOf(s.name)))).reduce((a, b) => tf.add(a, b)));
      const scale = tf.minimum(1, tf.div(ADAM.maxNorm, tf.add(norm, 1e-6)));
      for (const { name } of specs) {
        const g = tf.mul(gradOf(name), scale);
        const { m, v, decay } = moments[name];
        const m1 = tf.add(tf.mul(m, ADAM.beta1), tf.mul(g, 1 - ADAM.beta1));
        const v1 = tf.add(tf.mul(v, ADAM.beta2), tf.mul(tf.square(g), 1 - ADAM.beta2));
        const move = tf.div(tf.mul(m1, 1 / (1 - ADAM.beta1 ** steps)), tf.add(tf.sqrt(tf.mul(v1, 1 / (1 - ADAM.beta2 ** steps))), ADAM.eps));
        const p = w[name];
        m.assign(m1);
        v.assign(v1);
        p.assign(tf.sub(p, tf.mul(decay > 0 ? tf.add(move, tf.mul(p, decay)) : move, ADAM.lr)));
      }
      return l;
    });
    const number = (await value.data())[0];
    value.dispose();
    return number;
  };
  const values = [await step(), await step()];
  return {
    proof: { kind: 'losses', values },
    run: async () => {
      const started = performance.now();
      await step();
      return { ms: performance.now() - started };
    },
    dispose: () => {
      tf.dispose([x, y, cos, sin, mask]);
      for (const v of [...Object.values(w), ...Object.values(moments).flatMap((m) => [m.m, m.v])]) v.dispose();
    },
  };
}

async function openDecode(cell: Extract<CellSpec, { kind: 'decode' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const { C, L, H, V } = config;
  const { rows, tokens } = cell;
  const hd = C / H;
  const w = weightsOf(config, initialParams(config, PARAMS_SEED));
  const table = ropeTensors(config);
  const at = Array.from({ length: tokens }, (_, t) => ({
    cos: tf.slice(table.cos, [t, 0], [1, hd / 2]),
    sin: tf.slice(table.sin, [t, 0], [1, hd / 2]),
    place: tf.slice(w.positionEmbedding as tf.Tensor, [t, 0], [1, C]),
  }));
  const noise = decodeNoise(rows, tokens).map((u) => tf.tensor2d(u, [rows, 1]));
  const starts = tf.tensor1d(firstTokens(config, rows), 'int32');

  const decode = (): tf.Tensor[] =>
    tf.tidy(() => {
      const keys: tf.Tensor[] = [];
      const values: tf.Tensor[] = [];
      const drawn: tf.Tensor[] = [];
      const logps: tf.Tensor[] = [];
      let tok: tf.Tensor = starts;
      for (let t = 0; t < tokens; t++) {
        const { cos, sin, place } = at[t];
        let s = tf.add(tf.gather(w.tokenEmbedding, tok as tf.Tensor1D), place) as tf.Tensor;
        for (let l = 0; l < L; l++) {
          const qkv = multiply(rmsnorm(s, w[`l${l}.norm1`], config.normEps), w[`l${l}.qkv`]);
          const [q, k, v] = tf.split(qkv, 3, -1).map((part) => tf.reshape(part, [rows, H, 1, hd]));
          const key = rotate(k, cos, sin);
          keys[l] = t === 0 ? key : tf.concat([keys[l], key], 2);
          values[l] = t === 0 ? v : tf.concat([values[l], v], 2);
          const scores = tf.mul(tf.matMul(rotate(q, cos, sin), keys[l], false, true), 1 / Math.sqrt(hd));
          const attended = tf.reshape(tf.matMul(tf.softmax(scores), values[l]), [rows, C]);
          s = tf.add(s, multiply(attended, w[`l${l}.attnOut`]));
          s = tf.add(s, multiply(activate(multiply(rmsnorm(s, w[`l${l}.norm2`], config.normEps), w[`l${l}.fc1`])), w[`l${l}.fc2`]));
        }
        const logp = tf.logSoftmax(multiply(rmsnorm(s, w.finalNorm, config.normEps), w.unembed));
        // Inverse transform: the first token whose cumulative probability is above u.
        const below = tf.sum(tf.cast(tf.lessEqual(tf.cumsum(tf.exp(logp), 1), noise[t]), 'int32'), -1);
        tok = tf.cast(tf.minimum(below, tf.scalar(V - 1, 'int32')), 'int32');
        drawn.push(tok);
        logps.push(tf.sum(tf.mul(logp, tf.cast(tf.oneHot(tok as tf.Tensor1D, V), 'float32')), -1));
      }
      return [tf.stack(drawn, 1), tf.stack(logps, 1)];
    });
  const once = async (): Promise<number[]> => {
    const results = decode();
    const [ids] = await Promise.all(results.map((r) => r.data()));
    tf.dispose(results);
    return [...ids];
  };
  const values = await once();
  return {
    proof: { kind: 'tokens', values },
    run: async () => {
      const started = performance.now();
      await once();
      return { ms: performance.now() - started, counts: { tokens: rows * tokens } };
    },
    dispose: () => {
      tf.dispose([table.cos, table.sin, starts, ...noise, ...at.flatMap((p) => [p.cos, p.sin, p.place])]);
      for (const v of Object.values(w)) v.dispose();
    },
  };
}
