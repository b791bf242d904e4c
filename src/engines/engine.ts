import type { TokenLoss } from '../objectives/types';
import type { AdapterFacts } from '../gpu/device';
import type { ModelConfig } from '../model/config';

/**
 * What can run a policy. The trainer speaks to this interface only; `webgpu` implements all of it.
 * R = rollout rows, S = promptLength + maxNewTokens (positions of a row), all arrays row-major.
 */

export const SAMPLER_PRECISIONS = ['f32', 'e4m3', 'e5m2'] as const;
export type SamplerPrecision = (typeof SAMPLER_PRECISIONS)[number];
/** Mantissa bits kept when the sampler's weights are rounded. */
export const MANTISSA_BITS: Record<SamplerPrecision, number> = { f32: 23, e4m3: 3, e5m2: 2 };

export interface RolloutRequest {
  /** Prompt token ids; [R][promptLength]. */
  prompts: Uint32Array;
  rows: number;
  promptLength: number;
  maxNewTokens: number;
  /** Token id that ends a response. */
  eos: number;
  /** Logits are divided by it before sampling and in every log-prob; > 0. */
  temperature: number;
  /** Take the most likely token instead of sampling. */
  greedy: boolean;
  /** Key of the sampling noise: (seed, iteration, row, position). */
  seed: number;
  iteration: number;
  /** Sampler weights: rounded to this precision, taken from the parameters of `lag` iterations ago. */
  precision: SamplerPrecision;
  lag: number;
}

export interface RolloutResult {
  /** Token ids, prompt included; [R][S]; positions past the end hold 0. */
  tokens: Uint32Array;
  /** Response tokens of each row, EOS included when there is one; [R]. */
  lengths: Uint32Array;
  /** Log-prob of each response token under the sampler, nats; [R][maxNewTokens]; 0 past the end. */
  logp: Float32Array;
  /** Entropy of the sampler's distribution at each response token, nats; [R][maxNewTokens]. */
  entropy: Float32Array;
}

/** Responses packed end to end for one minibatch: N = sum of (promptLength + length - 1) positions over rows. */
export interface PackedBatch {
  rows: number;
  /** N. */
  positions: number;
  /** Input token, position in its row, and target token (NO_TARGET at prompt positions that predict nothing of the response); [N]. */
  inputs: Uint32Array;
  pos: Uint32Array;
  targets: Uint32Array;
  /** Row r occupies positions rowStart[r] .. rowStart[r+1]; [rows + 1]. */
  rowStart: Uint32Array;
}

export const NO_TARGET = 0xffffffff;

/**
 * What the policy loss reads at each packed position, [N] each; values at positions without a target are never read.
 * `segStart`/`segEnd`: packed positions of the token's subsentence; `respStart`: first packed position of the row's response (its end is the row's end).
 */
export interface LossInputs {
  oldLogp: Float32Array;
  refLogp: Float32Array;
  advantage: Float32Array;
  /** Aggregation weight w_t. */
  weight: Float32Array;
  /** Segment entropy over batch mean entropy, H_k / mean H (1 when unknown). */
  entropyRatio: Float32Array;
  /** Entropy of the old policy, nats. */
  entropy: Float32Array;
  segStart: Uint32Array;
  segEnd: Uint32Array;
  respStart: Uint32Array;
}

export interface UpdateOptions {
  learningRate: number;
  beta1: number;
  beta2: number;
  adamEps: number;
  weightDecay: number;
  maxGradNorm: number;
  temperature: number;
  /** Values for the token loss's slots, by name. */
  hyper: Record<string, number>;
}

/** What one update leaves behind, at packed positions [N] (zeros where there is no target). */
export interface UpdateRecord {
  newLogp: Float32Array;
  entropy: Float32Array;
  /** dLoss/dlogp as the GPU computed it. */
  coefficient: Float32Array;
  /** Global norm of the gradient before clipping. */
  gradNorm: number;
}

export interface ScoreResult {
  /** Log-prob and entropy of the targets at packed positions; [N]. */
  logp: Float32Array;
  entropy: Float32Array;
}

/** What the value loss reads at packed positions with a target; [N] each. */
export interface ValueInputs {
  /** V before the first update on this rollout. */
  oldValues: Float32Array;
  /** What V is trained towards. */
  returns: Float32Array;
  /** Aggregation weight. */
  weight: Float32Array;
}

export interface ValueUpdateOptions extends Omit<UpdateOptions, 'hyper' | 'temperature'> {
  /** V is held within this of its old value where that makes the loss larger; 0: no clip. */
  valueClip: number;
}

/** What one update of a value network leaves behind. */
export interface ValueRecord {
  /** V at packed positions, before the update; [N], 0 where there is no target. */
  values: Float32Array;
  gradNorm: number;
}

/** Parameters and optimiser of one network, so that training goes on from here as if nothing had happened; all [flat]. */
export interface NetworkState {
  params: Float32Array;
  /** Adam's moments, in the precision that the engine keeps them. */
  m: Float32Array | Float64Array;
  v: Float32Array | Float64Array;
  /** Optimiser steps taken. */
  updates: number;
}

/** The same of a policy engine, with what its sampler may lag behind to. */
export interface EngineState extends NetworkState {
  /** Parameters after each of the last iterations, at iteration modulo the length; [flat] each. */
  history: Float32Array[];
  iteration: number;
}

/**
 * A critic: a network of the policy's shape with weights of its own. Its first logit at a position is V of the state there, which
 * is the prompt and the answer up to and including that position's token; the other logits are not used.
 */
export interface ValueNetwork {
  /** Replaces all parameters (flat, paramLayout) and clears optimiser state. */
  loadParams(flat: Float32Array): void;
  readParams(): Promise<Float32Array>;
  /** V at packed positions; [N], 0 where there is no target. */
  values(batch: PackedBatch): Promise<Float32Array>;
  /** Enqueues one optimiser update and returns at once; its record comes from the next `collect`. */
  update(batch: PackedBatch, inputs: ValueInputs, options: ValueUpdateOptions): void;
  /** Records of all updates since the last call, in order. */
  collect(): Promise<ValueRecord[]>;
  /** Between iterations only. */
  saveState(): Promise<NetworkState>;
  loadState(state: NetworkState): void;
}

export interface PolicyEngine {
  readonly config: ModelConfig;
  /** Replaces all parameters (flat, paramLayout) and clears optimiser state and lag history. */
  loadParams(flat: Float32Array): void;
  readParams(): Promise<Float32Array>;
  /** Compiles the token loss; a second call with the same id is free. */
  setTokenLoss(loss: TokenLoss): Promise<void>;
  /** Resolves when the tokens have been read back: the one readback of the rollout. */
  rollout(request: RolloutRequest): Promise<RolloutResult>;
  /** Log-probs of the current parameters (forward only). */
  score(batch: PackedBatch, temperature: number): Promise<ScoreResult>;
  /** Enqueues one optimiser update and returns at once; its record comes from the next `collect`. */
  update(batch: PackedBatch, inputs: LossInputs, options: UpdateOptions): void;
  /** Records of all updates since the last call, in order. Resolves when the GPU has finished them. */
  collect(): Promise<UpdateRecord[]>;
  /** Call once per iteration, after its updates: remembers the parameters for `lag`. */
  endIteration(): void;
  /** Everything that a run changes on the engine; one readback, between iterations only. */
  saveState(): Promise<EngineState>;
  /** Takes such a state back. Throws when it is of another model size. */
  loadState(state: EngineState): void;
  /** The critic's network: made at the first call, the same one after that, freed with the engine. It holds any parameters. */
  openValueNetwork(): Promise<ValueNetwork>;
  /** Most rows and positions that one update (and one rollout) can take. */
  readonly limits: { rolloutRows: number; updateRows: number; updatePositions: number; updatesPerIteration: number };
  destroy(): void;
}

/** The frozen policy that KL is measured against. */
export interface ReferencePolicy {
  /** Log-probs of the targets under the reference; [N], 0 where there is no target. */
  logp(batch: PackedBatch, temperature: number): Promise<Float32Array>;
  /** E.g. "onnxruntime-web, WASM provider". */
  readonly description: string;
  destroy(): Promise<void>;
}

/** What computes. */
export interface AdapterReport extends AdapterFacts {
  /** Present when tfjs trains in place of WebGPU. */
  fallback?: Fallback;
}

export interface Fallback {
  /** E.g. "tfjs WASM". */
  title: string;
  /** Why there is no WebGPU, as sentences for a person. */
  reason: string;
}
