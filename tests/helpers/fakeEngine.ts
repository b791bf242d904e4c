import { uniformAt } from '../../src/core/rng';
import { MANTISSA_BITS, NO_TARGET } from '../../src/engines/engine';
import type { EngineState, LossInputs, NetworkState, PackedBatch, PolicyEngine, RolloutRequest, RolloutResult, ScoreResult, UpdateOptions, UpdateRecord, ValueInputs, ValueNetwork, ValueRecord, ValueUpdateOptions } from '../../src/engines/engine';
import { valueLossCpu } from '../../src/kernels/value/value.cpu';
import { MODEL_CONFIGS } from '../../src/model/config';
import { evaluateTokens, getObjective, resolveHyperparameters } from '../../src/objectives';
import type { TokenLoss } from '../../src/objectives/types';

const V = MODEL_CONFIGS.small.V;
/** Positions the table has: enough for the fake task, few enough to be quick. */
const T = 8;

export interface FakeEngineOptions {
  /** Logit that the parameters start with. */
  initial?: (position: number, previous: number, next: number) => number;
  limits?: Partial<PolicyEngine['limits']>;
}

/**
 * A policy engine on the CPU: a table of logits for every (position, previous token), trained for real by the coefficients of
 * the objective (f64 reference) and Adam. Small enough to check the trainer's bookkeeping; keeps a log of the calls it got.
 */
export class FakeEngine implements PolicyEngine {
  readonly config = MODEL_CONFIGS.small;
  readonly limits: PolicyEngine['limits'];
  readonly calls: string[] = [];
  /** What each update was given, in order. */
  readonly updates: { batch: PackedBatch; inputs: LossInputs; options: UpdateOptions }[] = [];
  readonly requests: RolloutRequest[] = [];
  params = new Float64Array(T * V * V);
  /** Set to make the n-th update from now (0 = the next) report this instead. */
  poison: { inUpdates: number; field: 'newLogp' | 'gradNorm' } | null = null;
  private m = new Float64Array(T * V * V);
  private v = new Float64Array(T * V * V);
  private adamSteps = 0;
  private history: Float64Array[] = [];
  valueNetwork: FakeValueNetwork | null = null;
  private pending: UpdateRecord[] = [];
  private loss: TokenLoss | null = null;

  constructor(options: FakeEngineOptions = {}) {
    this.limits = { rolloutRows: 512, updateRows: 512, updatePositions: 512 * T, updatesPerIteration: 64, ...options.limits };
    const { initial } = options;
    if (initial) for (let i = 0; i < this.params.length; i++) this.params[i] = Math.fround(initial(Math.floor(i / (V * V)), Math.floor(i / V) % V, i % V));
    this.history = [this.params.slice()];
  }

  loadParams(flat: Float32Array): void {
    this.calls.push('loadParams');
    this.params = new Float64Array(T * V * V);
    this.params.set(flat.subarray(0, this.params.length));
    this.m.fill(0);
    this.v.fill(0);
    this.adamSteps = 0;
    this.history = [this.params.slice()];
  }

  readParams(): Promise<Float32Array> {
    return Promise.resolve(Float32Array.from(this.params));
  }

  setTokenLoss(loss: TokenLoss): Promise<void> {
    this.calls.push(`setTokenLoss ${loss.id}`);
    this.loss = loss;
    return Promise.resolve();
  }

  rollout(request: RolloutRequest): Promise<RolloutResult> {
    this.calls.push(request.greedy ? 'rollout greedy' : 'rollout');
    this.requests.push(request);
    const { rows, promptLength, maxNewTokens, eos, temperature, seed, iteration, lag, greedy } = request;
    const params = roundMantissa(lag === 0 ? this.params : this.history[Math.max(0, this.history.length - 1 - lag)], MANTISSA_BITS[request.precision]);
    const stride = promptLength + maxNewTokens;
    const out: RolloutResult = {
      tokens: new Uint32Array(rows * stride), lengths: new Uint32Array(rows),
      logp: new Float32Array(rows * maxNewTokens), entropy: new Float32Array(rows * maxNewTokens),
    };
    for (let r = 0; r < rows; r++) {
      out.tokens.set(request.prompts.subarray(r * promptLength, (r + 1) * promptLength), r * stride);
      for (let t = 0; t < maxNewTokens; t++) {
        const p = promptLength - 1 + t;
        const { logp, entropy } = distribution(params, p, out.tokens[r * stride + p], temperature);
        let token = 0;
        if (greedy) token = logp.indexOf(Math.max(...logp));
        else for (let u = uniformAt(seed, iteration, r, p); token < V - 1; token++) if ((u -= Math.exp(logp[token])) < 0) break;
        out.tokens[r * stride + p + 1] = token;
        out.logp[r * maxNewTokens + t] = logp[token];
        out.entropy[r * maxNewTokens + t] = entropy;
        out.lengths[r] = t + 1;
        if (token === eos) break;
      }
    }
    return Promise.resolve(out);
  }

  score(batch: PackedBatch, temperature: number): Promise<ScoreResult> {
    this.calls.push('score');
    return Promise.resolve(this.forward(batch, temperature));
  }

  update(batch: PackedBatch, inputs: LossInputs, options: UpdateOptions): void {
    if (!this.loss) throw new Error('update before setTokenLoss');
    if (batch.rows > this.limits.updateRows) throw new Error('too many rows');
    this.calls.push('update');
    this.updates.push({ batch, inputs, options });
    const { logp, entropy } = this.forward(batch, options.temperature);
    const coefficient = coefficients(this.loss.id, batch, inputs, logp, options.hyper);
    const gradient = new Float64Array(this.params.length);
    for (let i = 0; i < batch.positions; i++) {
      if (batch.targets[i] === NO_TARGET) continue;
      const { logp: all } = distribution(this.params, batch.pos[i], batch.inputs[i], options.temperature);
      const base = (batch.pos[i] * V + batch.inputs[i]) * V;
      for (let k = 0; k < V; k++) gradient[base + k] += (coefficient[i] * ((k === batch.targets[i] ? 1 : 0) - Math.exp(all[k]))) / options.temperature;
    }
    let gradNorm = Math.sqrt(gradient.reduce((s, g) => s + g * g, 0));
    this.adam(gradient, Math.min(1, options.maxGradNorm / Math.max(gradNorm, 1e-12)), options);
    if (this.poison && this.poison.inUpdates-- === 0) {
      if (this.poison.field === 'gradNorm') gradNorm = Infinity;
      else logp[batch.positions - 1] = NaN;
    }
    this.pending.push({ newLogp: logp, entropy, coefficient: Float32Array.from(coefficient), gradNorm });
  }

  collect(): Promise<UpdateRecord[]> {
    this.calls.push('collect');
    return Promise.resolve(this.pending.splice(0));
  }

  saveState(): Promise<EngineState> {
    const f32 = (x: Float64Array) => Float32Array.from(x);
    return Promise.resolve({ params: f32(this.params), m: this.m.slice(), v: this.v.slice(), history: this.history.map(f32), updates: this.adamSteps, iteration: this.history.length });
  }

  loadState(state: EngineState): void {
    this.calls.push('loadState');
    this.params = Float64Array.from(state.params);
    this.m = Float64Array.from(state.m);
    this.v = Float64Array.from(state.v);
    this.history = state.history.map((past) => Float64Array.from(past));
    this.adamSteps = state.updates;
  }

  openValueNetwork(): Promise<ValueNetwork> {
    this.calls.push('openValueNetwork');
    return Promise.resolve((this.valueNetwork ??= new FakeValueNetwork()));
  }

  endIteration(): void {
    this.calls.push('endIteration');
    this.history.push(this.params.slice());
    if (this.history.length > 9) this.history.shift();
  }

  destroy(): void {
    this.calls.push('destroy');
  }

  private forward(batch: PackedBatch, temperature: number): { logp: Float32Array; entropy: Float32Array } {
    const logp = new Float32Array(batch.positions);
    const entropy = new Float32Array(batch.positions);
    for (let i = 0; i < batch.positions; i++) {
      if (batch.targets[i] === NO_TARGET) continue;
      const d = distribution(this.params, batch.pos[i], batch.inputs[i], temperature);
      logp[i] = d.logp[batch.targets[i]];
      entropy[i] = d.entropy;
    }
    return { logp, entropy };
  }

  private adam(gradient: Float64Array, scale: number, o: UpdateOptions): void {
    this.adamSteps++;
    for (let i = 0; i < gradient.length; i++) {
      const g = gradient[i] * scale;
      this.m[i] = o.beta1 * this.m[i] + (1 - o.beta1) * g;
      this.v[i] = o.beta2 * this.v[i] + (1 - o.beta2) * g * g;
      const m = this.m[i] / (1 - o.beta1 ** this.adamSteps);
      const v = this.v[i] / (1 - o.beta2 ** this.adamSteps);
      // Parameters are f32 on every engine; a checkpoint would round them otherwise.
      this.params[i] = Math.fround(this.params[i] - o.learningRate * (m / (Math.sqrt(v) + o.adamEps) + o.weightDecay * this.params[i]));
    }
  }
}

/** A table of values for every (position, token there), moved a third of the way along the value loss's mean gradient; keeps a log of its updates. */
export class FakeValueNetwork implements ValueNetwork {
  readonly updates: { batch: PackedBatch; inputs: ValueInputs; options: ValueUpdateOptions }[] = [];
  readonly loaded: Float32Array[] = [];
  private table = new Float64Array(T * V);
  private pending: ValueRecord[] = [];

  loadParams(flat: Float32Array): void {
    this.loaded.push(flat);
    this.table = new Float64Array(T * V);
  }

  readParams(): Promise<Float32Array> {
    return Promise.resolve(Float32Array.from(this.table));
  }

  saveState(): Promise<NetworkState> {
    const params = Float32Array.from(this.table);
    return Promise.resolve({ params, m: new Float32Array(), v: new Float32Array(), updates: this.updates.length });
  }

  loadState(state: NetworkState): void {
    this.table = Float64Array.from(state.params);
  }

  values(batch: PackedBatch): Promise<Float32Array> {
    return Promise.resolve(this.forward(batch));
  }

  update(batch: PackedBatch, inputs: ValueInputs, options: ValueUpdateOptions): void {
    this.updates.push({ batch, inputs, options });
    const values = this.forward(batch);
    const gradient = new Float64Array(T * V);
    const weight = new Float64Array(T * V);
    for (let i = 0; i < batch.positions; i++) {
      if (batch.targets[i] === NO_TARGET) continue;
      weight[batch.pos[i] * V + batch.inputs[i]] += inputs.weight[i];
      gradient[batch.pos[i] * V + batch.inputs[i]] += valueLossCpu(values[i], inputs.oldValues[i], inputs.returns[i], inputs.weight[i], options.valueClip).gradient;
    }
    gradient.forEach((g, k) => (this.table[k] = Math.fround(this.table[k] - (weight[k] > 0 ? g / weight[k] / 3 : 0))));
    this.pending.push({ values, gradNorm: Math.sqrt(gradient.reduce((s, g) => s + g * g, 0)) });
  }

  collect(): Promise<ValueRecord[]> {
    return Promise.resolve(this.pending.splice(0));
  }

  private forward(batch: PackedBatch): Float32Array {
    return Float32Array.from({ length: batch.positions }, (_, i) => (batch.targets[i] === NO_TARGET ? 0 : this.table[batch.pos[i] * V + batch.inputs[i]]));
  }
}

/** dLoss/dlogp at packed positions, by the objective's f64 reference. */
function coefficients(id: string, batch: PackedBatch, inputs: LossInputs, logp: Float32Array, hyper: Record<string, number>): Float64Array {
  const at: number[] = [];
  for (let i = 0; i < batch.positions; i++) if (batch.targets[i] !== NO_TARGET) at.push(i);
  const indexOf = new Map(at.map((p, k) => [p, k]));
  const rowEnd = new Uint32Array(batch.positions);
  for (let r = 0; r < batch.rows; r++) rowEnd.fill(batch.rowStart[r + 1], batch.rowStart[r], batch.rowStart[r + 1]);
  const pick = (x: ArrayLike<number>): Float64Array => Float64Array.from(at, (p) => x[p]);
  // Ends are exclusive: one past the packed position of the unit's last token.
  const start = (p: number): number => indexOf.get(p) as number;
  const end = (p: number): number => (indexOf.get(p - 1) as number) + 1;
  const objective = getObjective(id);
  const { coefficient } = evaluateTokens(
    objective,
    {
      count: at.length,
      logp: pick(logp), oldLogp: pick(inputs.oldLogp), refLogp: pick(inputs.refLogp), advantage: pick(inputs.advantage),
      entropyRatio: pick(inputs.entropyRatio), entropy: pick(inputs.entropy), weight: pick(inputs.weight),
      segStart: at.map((p) => start(inputs.segStart[p])), segEnd: at.map((p) => end(inputs.segEnd[p])),
      seqStart: at.map((p) => start(inputs.respStart[p])), seqEnd: at.map((p) => end(rowEnd[p])),
    },
    resolveHyperparameters(objective, hyper),
  );
  const out = new Float64Array(batch.positions);
  at.forEach((p, k) => {
    out[p] = coefficient[k];
  });
  return out;
}

/** Log-probs of every next token (f32, as the engine stores them) and the entropy, nats. */
function distribution(params: Float64Array, position: number, previous: number, temperature: number): { logp: Float64Array; entropy: number } {
  const base = (position * V + previous) * V;
  const logp = new Float64Array(V);
  let max = -Infinity;
  for (let k = 0; k < V; k++) max = Math.max(max, params[base + k] / temperature);
  let sum = 0;
  for (let k = 0; k < V; k++) sum += Math.exp(params[base + k] / temperature - max);
  let entropy = 0;
  for (let k = 0; k < V; k++) {
    logp[k] = params[base + k] / temperature - max - Math.log(sum);
    entropy -= Math.exp(logp[k]) * logp[k];
  }
  return { logp, entropy };
}

/** Rounds to `bits` mantissa bits, to nearest. */
function roundMantissa(x: Float64Array, bits: number): Float64Array {
  if (bits >= 23) return x;
  return x.map((value) => {
    if (value === 0) return 0;
    const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits);
    return Math.round(value / unit) * unit;
  });
}
