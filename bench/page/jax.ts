import { defaultDevice, getWebGPUDevice, init, jit, nn, numpy as np, valueAndGrad } from '@jax-js/jax';
import { paramLayout, type ModelConfig } from '../../src/model/config';
import { initialParams } from '../../src/model/parameters';
import { ropeTable } from '../../src/kernels/rope/rope';
import { ADAM, decodeNoise, firstTokens, matmulError, matrices, modelOf, PARAMS_SEED, repeatsOf, trainTokens } from '../lib/work';
import type { CellSpec, Subject, Work } from '../lib/types';

type Tensor = np.Array;
type Weights = Record<string, Tensor>;

/** jax-js on WebGPU: everything under jit, one compiled function per step. Arrays are consumed by use; `.ref` keeps one. */
export async function jaxSubject(): Promise<Subject> {
  const devices = await init('webgpu');
  if (!devices.includes('webgpu')) throw new Error('jax-js found no WebGPU device');
  defaultDevice('webgpu');
  const { adapterInfo } = getWebGPUDevice();
  return {
    adapter: [adapterInfo.vendor, adapterInfo.architecture].filter(Boolean).join(' '),
    open: (cell) => {
      if (cell.kind === 'matmul') return openMatmul(cell.n);
      if (cell.kind === 'train') return openTrain(cell);
      if (cell.kind === 'decode') return openDecode(cell);
      throw new Error('jax-js has no RL iteration');
    },
  };
}

const tensor = (values: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>, shape: number[]): Tensor => np.array(values).reshape(shape);

async function openMatmul(n: number): Promise<Work> {
  const [a, b] = matrices(n);
  const [x, w] = [tensor(a, [n, n]), tensor(b, [n, n])];
  const product = jit((p: Tensor, q: Tensor) => np.matmul(p, q));
  const repeats = repeatsOf(n);
  const first = product(x.ref, w.ref);
  const value = matmulError(n, a, b, (await first.data()) as Float32Array);
  return {
    proof: { kind: 'error', value },
    run: async () => {
      const started = performance.now();
      const results = Array.from({ length: repeats }, () => product(x.ref, w.ref));
      await Promise.all(results.map((y) => y.blockUntilReady()));
      const ms = (performance.now() - started) / repeats;
      for (const y of results) y.dispose();
      return { ms };
    },
    dispose: () => {
      x.dispose();
      w.dispose();
      product.dispose();
    },
  };
}

function weightsOf(config: ModelConfig, flat: Float32Array): Weights {
  return Object.fromEntries(paramLayout(config).specs.map((s) => [s.name, tensor(flat.slice(s.offset, s.offset + s.size) as Float32Array<ArrayBuffer>, [...s.shape])]));
}

const rmsnorm = (x: Tensor, g: Tensor, eps: number): Tensor => {
  const meanSquare = np.square(x.ref).mean(-1, { keepdims: true });
  return x.div(np.sqrt(meanSquare.add(eps))).mul(g);
};

/** Rotates pairs (i, i + hd/2) of x [..., hd]; the cosines and sines are consumed. */
const rotate = (x: Tensor, cos: Tensor, sin: Tensor): Tensor => {
  const [a, b] = np.split(x, 2, -1);
  return np.concatenate([a.ref.mul(cos.ref).sub(b.ref.mul(sin.ref)), a.mul(sin).add(b.mul(cos))], -1);
};

/** h sigmoid(1.702 h). */
const activate = (h: Tensor): Tensor => h.ref.mul(nn.sigmoid(h.mul(1.702)));

function ropeTables(config: ModelConfig): { cos: Float32Array<ArrayBuffer>; sin: Float32Array<ArrayBuffer>; half: number } {
  const { T, C, H } = config;
  const hd = C / H;
  const half = hd / 2;
  const table = ropeTable(T, hd, config.ropeBase);
  const pick = (at: number) => Float32Array.from({ length: T * half }, (_, i) => table[Math.floor(i / half) * hd + at + (i % half)]);
  return { cos: pick(0), sin: pick(half), half };
}

/** Mean cross-entropy of rows of T tokens. Consumes its arguments. */
function lossOf(config: ModelConfig, w: Weights, x: Tensor, y: Tensor, cos: Tensor, sin: Tensor, rows: number): Tensor {
  const { C, L, H, V, T } = config;
  const hd = C / H;
  let s = np.matmul(nn.oneHot(x, V), w.tokenEmbedding).add(w.positionEmbedding);
  for (let l = 0; l < L; l++) {
    const qkv = np.matmul(rmsnorm(s.ref, w[`l${l}.norm1`], config.normEps), w[`l${l}.qkv`]);
    const [q, k, v] = np.split(qkv, 3, -1).map((part) => part.reshape([rows, T, H, hd]));
    const attended = nn.dotProductAttention(rotate(q, cos.ref, sin.ref), rotate(k, cos.ref, sin.ref), v, { isCausal: true }).reshape([rows, T, C]);
    s = s.add(np.matmul(attended, w[`l${l}.attnOut`]));
    const h = np.matmul(rmsnorm(s.ref, w[`l${l}.norm2`], config.normEps), w[`l${l}.fc1`]);
    s = s.add(np.matmul(activate(h), w[`l${l}.fc2`]));
  }
  cos.dispose();
  sin.dispose();
  const logits = np.matmul(rmsnorm(s, w.finalNorm, config.normEps), w.unembed);
  return nn.logSoftmax(logits, -1).mul(nn.oneHot(y, V)).sum().mul(-1 / (rows * T));
}

async function openTrain(cell: Extract<CellSpec, { kind: 'train' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const { rows } = cell;
  const { specs } = paramLayout(config);
  const decayed = new Set(specs.filter((s) => s.initSd !== 'gain').map((s) => s.name));
  const { inputs, targets } = trainTokens(config, rows);
  const tables = ropeTables(config);
  const x = tensor(inputs, [rows, config.T]);
  const y = tensor(targets, [rows, config.T]);
  const [cos, sin] = [tables.cos, tables.sin].map((t) => tensor(t, [config.T, 1, tables.half]));

  type State = { w: Weights; m: Weights; v: Weights };
  const step = jit((state: State, corrections: Tensor, xs: Tensor, ys: Tensor, c: Tensor, s: Tensor) => {
    const names = specs.map((spec) => spec.name);
    const kept: Weights = Object.fromEntries(names.map((name) => [name, state.w[name].ref]));
    const [loss, grads] = valueAndGrad((w: Weights) => lossOf(config, w, xs, ys, c, s, rows))(kept) as [Tensor, Weights];
    const norm = np.sqrt(names.map((name) => np.square(grads[name].ref).sum()).reduce((a, b) => a.add(b)));
    const scale = np.minimum(np.array(1), np.array(ADAM.maxNorm).div(norm.add(1e-6)));
    const [c1, c2] = np.split(corrections, 2).map((part) => part.reshape([]));
    const next: State = { w: {}, m: {}, v: {} };
    for (const name of names) {
      const g = grads[name].mul(scale.ref);
      const m = state.m[name].mul(ADAM.beta1).add(g.ref.mul(1 - ADAM.beta1));
      const v = state.v[name].mul(ADAM.beta2).add(np.square(g).mul(1 - ADAM.beta2));
      const move = m.ref.div(c1.ref).div(np.sqrt(v.ref.div(c2.ref)).add(ADAM.eps));
      const p = state.w[name];
      next.w[name] = decayed.has(name) ? p.ref.sub(move.add(p.mul(ADAM.decay)).mul(ADAM.lr)) : p.sub(move.mul(ADAM.lr));
      next.m[name] = m;
      next.v[name] = v;
    }
    scale.dispose();
    c1.dispose();
    c2.dispose();
    return { state: next, loss };
  });

  const w = weightsOf(config, initialParams(config, PARAMS_SEED));
  const zeros = (): Weights => Object.fromEntries(specs.map((s) => [s.name, np.zeros([...s.shape])]));
  let state: State = { w, m: zeros(), v: zeros() };
  let steps = 0;
  const once = async (): Promise<number> => {
    steps++;
    const corrections = np.array(Float32Array.of(1 - ADAM.beta1 ** steps, 1 - ADAM.beta2 ** steps));
    const result = step(state, corrections, x.ref, y.ref, cos.ref, sin.ref) as { state: State; loss: Tensor };
    state = result.state;
    return (await result.loss.data())[0];
  };
  const values = [await once(), await once()];
  return {
    proof: { kind: 'losses', values },
    run: async () => {
      const started = performance.now();
      await once();
      return { ms: performance.now() - started };
    },
    dispose: () => {
      for (const group of [state.w, state.m, state.v]) for (const t of Object.values(group)) t.dispose();
      for (const t of [x, y, cos, sin]) t.dispose();
      step.dispose();
    },
  };
}

async function openDecode(cell: Extract<CellSpec, { kind: 'decode' }>): Promise<Work> {
  const config = modelOf(cell.model);
  const { C, L, H, V } = config;
  const { rows, tokens } = cell;
  const hd = C / H;
  const S = tokens + 1;
  const tables = ropeTables(config);
  const w = weightsOf(config, initialParams(config, PARAMS_SEED));
  const noise = decodeNoise(rows, tokens).map((u) => tensor(u, [rows, 1]));
  const starts = firstTokens(config, rows);
  const triangle = np.triu(np.ones([V, V]));
  const positions = Array.from({ length: tokens }, (_, t) => ({
    index: np.array(Int32Array.of(t)),
    cos: tensor(tables.cos.slice(t * tables.half, (t + 1) * tables.half), [1, 1, tables.half]),
    sin: tensor(tables.sin.slice(t * tables.half, (t + 1) * tables.half), [1, 1, tables.half]),
    place: tensor(placeOf(config, t), [1, C]),
  }));

  type Cache = { k: Tensor[]; v: Tensor[] };
  const step = jit((p: Weights, cache: Cache, tok: Tensor, index: Tensor, cos: Tensor, sin: Tensor, place: Tensor, u: Tensor, triangle: Tensor) => {
    let s = np.matmul(nn.oneHot(tok, V), p.tokenEmbedding).add(place);
    p.positionEmbedding.dispose();
    const here = np.equal(np.arange(S), index.ref).reshape([1, S, 1, 1]);
    const seen = np.lessEqual(np.arange(S), index).reshape([1, 1, 1, S]);
    const next: Cache = { k: [], v: [] };
    for (let l = 0; l < L; l++) {
      const qkv = np.matmul(rmsnorm(s.ref, p[`l${l}.norm1`], config.normEps), p[`l${l}.qkv`]);
      const [q, k, v] = np.split(qkv, 3, -1).map((part) => part.reshape([rows, H, hd]));
      const keys = np.where(here.ref, rotate(k, cos.ref, sin.ref).reshape([rows, 1, H, hd]), cache.k[l]);
      const values = np.where(here.ref, v.reshape([rows, 1, H, hd]), cache.v[l]);
      const query = rotate(q, cos.ref, sin.ref).reshape([rows, 1, H, hd]);
      const attended = nn.dotProductAttention(query, keys.ref, values.ref, { mask: seen.ref }).reshape([rows, C]);
      next.k.push(keys);
      next.v.push(values);
      s = s.add(np.matmul(attended, p[`l${l}.attnOut`]));
      const h = np.matmul(rmsnorm(s.ref, p[`l${l}.norm2`], config.normEps), p[`l${l}.fc1`]);
      s = s.add(np.matmul(activate(h), p[`l${l}.fc2`]));
    }
    for (const t of [here, seen, cos, sin]) t.dispose();
    const logits = np.matmul(rmsnorm(s, p.finalNorm, config.normEps), p.unembed);
    const logp = nn.logSoftmax(logits, -1);
    // Inverse transform: the first token whose cumulative probability is above u. As a product with a triangle of ones,
    // since this version's cumsum takes minutes to compile.
    const below = np.lessEqual(np.matmul(np.exp(logp.ref), triangle), u).astype(np.int32).sum(-1);
    const chosen = np.minimum(below, np.array(V - 1, { dtype: np.int32 }));
    const chosenLogp = logp.mul(nn.oneHot(chosen.ref, V)).sum(-1);
    return { cache: next, chosen, chosenLogp };
  });

  const once = async (): Promise<number[]> => {
    let cache: Cache = { k: [], v: [] };
    for (let l = 0; l < L; l++) {
      cache.k.push(np.zeros([rows, S, H, hd]));
      cache.v.push(np.zeros([rows, S, H, hd]));
    }
    let tok = np.array(starts);
    const drawn: Tensor[] = [];
    const logps: Tensor[] = [];
    for (let t = 0; t < tokens; t++) {
      const at = positions[t];
      const kept = Object.fromEntries(Object.entries(w).map(([name, value]) => [name, value.ref]));
      const result = step(kept, cache, tok, at.index.ref, at.cos.ref, at.sin.ref, at.place.ref, noise[t].ref, triangle.ref) as { cache: Cache; chosen: Tensor; chosenLogp: Tensor };
      cache = result.cache;
      tok = result.chosen;
      drawn.push(tok.ref);
      logps.push(result.chosenLogp);
    }
    tok.dispose();
    for (const t of [...cache.k, ...cache.v]) t.dispose();
    const [ids] = (await Promise.all([np.stack(drawn).data(), np.stack(logps).data()])) as [Int32Array, Float32Array];
    return rowMajor(ids, rows, tokens);
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
      for (const t of [...Object.values(w), triangle, ...noise, ...positions.flatMap((p) => [p.index, p.cos, p.sin, p.place])]) t.dispose();
      step.dispose();
    },
  };
}

/** Row t of the position embedding. */
function placeOf(config: ModelConfig, t: number): Float32Array<ArrayBuffer> {
  const spec = paramLayout(config).byName.get('positionEmbedding');
  const at = (spec?.offset ?? 0) + t * config.C;
  return initialParams(config, PARAMS_SEED).slice(at, at + config.C) as Float32Array<ArrayBuffer>;
}

/** [tokens][rows] to [rows][tokens]. */
function rowMajor(ids: ArrayLike<number>, rows: number, tokens: number): number[] {
  return Array.from({ length: rows * tokens }, (_, i) => ids[(i % tokens) * rows + Math.floor(i / tokens)]);
}
