import { invariant } from '../core/errors';
import { adamwCpu } from '../kernels/adamw/adamw.cpu';
import { roundMantissaCpu } from '../kernels/roundMantissa/roundMantissa.cpu';
import { paramLayout, type ModelConfig } from '../model/config';
import type { TokenLoss } from '../objectives/types';
import { MANTISSA_BITS, type LossInputs, type PackedBatch, type PolicyEngine, type UpdateOptions, type UpdateRecord, type ValueNetwork } from './engine';
import { decodeTfjs } from './tfjsDecoder';
import { gradientTfjs, scoreTfjs } from './tfjsGradient';
import { createTfjsValueNetwork } from './tfjsValue';

export interface TfjsEngineOptions {
  rolloutRows?: number;
  updatePositions?: number;
  /** How many iterations back the sampler may lag. */
  maxLag?: number;
}

export interface TfjsEngine extends PolicyEngine {
  /** Gradient of the last update before clipping, flat: for tests. */
  readGradient(): Promise<Float32Array>;
}

/**
 * The engine for browsers without WebGPU: the same interface, numbers and noise, on whatever tfjs backend was opened
 * (openTfjs). Network and gradient run in tfjs, the token loss and AdamW in f64 on the host. Work is done when it is
 * asked for: `update` returns when the update has been made.
 */
export function createTfjsEngine(config: ModelConfig, options: TfjsEngineOptions = {}): TfjsEngine {
  const { rolloutRows = 512, updatePositions = 8192, maxLag = 8 } = options;
  const { flatSize, specs } = paramLayout(config);
  const decays = new Uint8Array(flatSize);
  for (const spec of specs) if (spec.initSd !== 'gain') decays.fill(1, spec.offset, spec.offset + spec.size);

  let params = new Float32Array(flatSize);
  const first = new Float64Array(flatSize);
  const second = new Float64Array(flatSize);
  let gradient = new Float64Array(flatSize);
  /** Parameters after each of the last iterations, at iteration modulo the length. */
  const history = Array.from({ length: maxLag + 1 }, () => params);
  let records: UpdateRecord[] = [];
  let loss: TokenLoss | null = null;
  let updates = 0;
  let iteration = 0;
  let valueNetwork: ValueNetwork | undefined;

  const update = (batch: PackedBatch, inputs: LossInputs, o: UpdateOptions): void => {
    invariant(loss, 'update before setTokenLoss');
    invariant(batch.positions <= updatePositions, `an update of ${batch.positions} positions is over the engine's ${updatePositions}`);
    for (const name of Object.keys(loss.slots)) invariant(Number.isFinite(o.hyper[name]), `hyperparameter ${name} of ${loss.id} is ${o.hyper[name]}`);
    const result = gradientTfjs(config, params, batch, inputs, loss, o);
    gradient = result.gradient;
    const gradNorm = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0));
    updates++;
    const next = Float64Array.from(params);
    adamwCpu(next, first, second, gradient, decays, gradNorm, {
      lr: o.learningRate, beta1: o.beta1, beta2: o.beta2, eps: o.adamEps, decay: o.weightDecay, maxNorm: o.maxGradNorm, step: updates,
    });
    // A new array: the history holds on to the old one.
    params = Float32Array.from(next);
    records.push({ newLogp: result.logp, entropy: result.entropy, coefficient: result.coefficient, gradNorm: Math.fround(gradNorm) });
  };

  return {
    config,
    limits: { rolloutRows, updateRows: updatePositions, updatePositions, updatesPerIteration: 256 },
    loadParams(flat) {
      invariant(flat.length === flatSize, `${flat.length} parameters for a model of ${flatSize}`);
      params = Float32Array.from(flat);
      history.fill(params);
      first.fill(0);
      second.fill(0);
      updates = 0;
      iteration = 0;
    },
    readParams: async () => params.slice(),
    async setTokenLoss(wanted) {
      loss = wanted;
    },
    async rollout(request) {
      const { rows, promptLength, maxNewTokens, lag } = request;
      invariant(rows <= rolloutRows && promptLength + maxNewTokens <= config.T && request.temperature > 0, `a rollout of ${rows} rows by ${promptLength + maxNewTokens} positions at temperature ${request.temperature}`);
      invariant(lag <= maxLag, `a lag of ${lag} iterations`);
      const source = lag === 0 || iteration === 0 ? params : (history[Math.max(0, iteration - lag) % history.length] as Float32Array<ArrayBuffer>);
      const bits = MANTISSA_BITS[request.precision];
      return decodeTfjs(config, bits < 23 ? Float32Array.from(roundMantissaCpu(source, bits)) : source, request);
    },
    score: async (batch, temperature) => scoreTfjs(config, params, batch, temperature),
    update,
    async collect() {
      const collected = records;
      records = [];
      return collected;
    },
    endIteration() {
      iteration++;
      history[iteration % history.length] = params;
    },
    saveState: async () => ({ params: params.slice(), m: first.slice(), v: second.slice(), history: history.map((past) => past.slice()), updates, iteration }),
    loadState(saved) {
      invariant(saved.params.length === flatSize && saved.history.length === history.length, `a state of ${saved.params.length} parameters for a model of ${flatSize}`);
      params = Float32Array.from(saved.params);
      first.set(saved.m);
      second.set(saved.v);
      saved.history.forEach((past, i) => (history[i] = Float32Array.from(past)));
      updates = saved.updates;
      iteration = saved.iteration;
    },
    openValueNetwork: async () => (valueNetwork ??= createTfjsValueNetwork(config, decays)),
    readGradient: async () => Float32Array.from(gradient),
    destroy() {},
  };
}
