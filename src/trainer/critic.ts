import { invariant } from '../core/errors';
import { Rng } from '../core/rng';
import { criticLoss } from '../objectives';
import { STREAM } from './streams';

const HIDDEN = 32;
const BETA1 = 0.9;
const BETA2 = 0.99;
const ADAM_EPS = 1e-8;

/** All that training has changed in a critic. */
export interface CriticState {
  params: Float64Array;
  m: Float64Array;
  v: Float64Array;
  updates: number;
}

/**
 * SPPO's V(prompt): the chance that the policy answers this prompt rightly, from the prompt alone (arXiv 2604.08865; a small
 * network of its own instead of a second LM). One learnt vector for every (position, token), summed, tanh, one logit:
 * logit = w2 . tanh(b1 + sum_p W1[p, token_p]) + b2. Trained with binary cross-entropy by Adam, in f64 on the CPU.
 */
export class Critic {
  readonly promptLength: number;
  readonly vocabulary: number;
  /** W1 [promptLength * V][HIDDEN], b1 [HIDDEN], w2 [HIDDEN], b2 [1], end to end. */
  readonly params: Float64Array;
  private readonly m: Float64Array;
  private readonly v: Float64Array;
  private updates = 0;

  constructor(promptLength: number, vocabulary: number, seed: number) {
    this.promptLength = promptLength;
    this.vocabulary = vocabulary;
    const inputs = promptLength * vocabulary;
    this.params = new Float64Array(inputs * HIDDEN + 2 * HIDDEN + 1);
    this.m = new Float64Array(this.params.length);
    this.v = new Float64Array(this.params.length);
    const rng = new Rng(seed, STREAM.critic);
    const sd = 1 / Math.sqrt(promptLength);
    // w2 starts at 0, so that V is .5 for every prompt until something was learnt.
    for (let i = 0; i < inputs * HIDDEN; i++) this.params[i] = sd * rng.normal();
  }

  saveState(): CriticState {
    return { params: this.params.slice(), m: this.m.slice(), v: this.v.slice(), updates: this.updates };
  }

  /** Throws when the state is of another prompt length or vocabulary. */
  loadState(state: CriticState): void {
    invariant(state.params.length === this.params.length, `a state of ${state.params.length} parameters for a critic of ${this.params.length}`);
    this.params.set(state.params);
    this.m.set(state.m);
    this.v.set(state.v);
    this.updates = state.updates;
  }

  /** Logits of V for prompts [n][promptLength]; [n]. */
  logits(prompts: Uint32Array): Float64Array {
    const n = prompts.length / this.promptLength;
    const out = new Float64Array(n);
    const hidden = new Float64Array(HIDDEN);
    for (let i = 0; i < n; i++) out[i] = this.forward(prompts, i, hidden);
    return out;
  }

  /** V(prompt) as probabilities; [n]. */
  values(prompts: Uint32Array): Float64Array {
    return this.logits(prompts).map(sigmoid);
  }

  /**
   * Mean binary cross-entropy (nats) of rewards in [0, 1] and its gradient, in the order of `params`.
   * d BCE / d logit = (V - R) / n.
   */
  lossAndGradient(prompts: Uint32Array, rewards: ArrayLike<number>): { loss: number; gradient: Float64Array } {
    const { params, promptLength, vocabulary } = this;
    const n = rewards.length;
    const gradient = new Float64Array(params.length);
    const hidden = new Float64Array(HIDDEN);
    const b1 = promptLength * vocabulary * HIDDEN;
    const w2 = b1 + HIDDEN;
    const b2 = w2 + HIDDEN;
    const { loss, gradient: byLogit } = criticLoss(rewards, this.logits(prompts));
    for (let i = 0; i < n; i++) {
      this.forward(prompts, i, hidden);
      const d = at(byLogit, i);
      add(gradient, b2, d);
      for (let h = 0; h < HIDDEN; h++) {
        const a = at(hidden, h);
        add(gradient, w2 + h, d * a);
        const back = d * at(params, w2 + h) * (1 - a * a);
        add(gradient, b1 + h, back);
        for (let p = 0; p < promptLength; p++) add(gradient, this.row(prompts, i, p) + h, back);
      }
    }
    return { loss, gradient };
  }

  /** One Adam step on a minibatch; returns the loss before it. */
  update(prompts: Uint32Array, rewards: ArrayLike<number>, learningRate: number): number {
    const { loss, gradient } = this.lossAndGradient(prompts, rewards);
    this.updates++;
    const c1 = 1 - BETA1 ** this.updates;
    const c2 = 1 - BETA2 ** this.updates;
    for (let i = 0; i < gradient.length; i++) {
      const g = at(gradient, i);
      const m = BETA1 * at(this.m, i) + (1 - BETA1) * g;
      const v = BETA2 * at(this.v, i) + (1 - BETA2) * g * g;
      this.m[i] = m;
      this.v[i] = v;
      add(this.params, i, (-learningRate * (m / c1)) / (Math.sqrt(v / c2) + ADAM_EPS));
    }
    return loss;
  }

  /** Offset of the learnt vector for the token at position p of prompt i. */
  private row(prompts: Uint32Array, i: number, p: number): number {
    return (p * this.vocabulary + at(prompts, i * this.promptLength + p)) * HIDDEN;
  }

  /** The logit of prompt i; leaves the activations in `hidden`. */
  private forward(prompts: Uint32Array, i: number, hidden: Float64Array): number {
    const { params, promptLength, vocabulary } = this;
    const b1 = promptLength * vocabulary * HIDDEN;
    let logit = at(params, b1 + 2 * HIDDEN);
    for (let h = 0; h < HIDDEN; h++) {
      let sum = at(params, b1 + h);
      for (let p = 0; p < promptLength; p++) sum += at(params, this.row(prompts, i, p) + h);
      hidden[h] = Math.tanh(sum);
      logit += at(hidden, h) * at(params, b1 + HIDDEN + h);
    }
    return logit;
  }
}

function at(array: ArrayLike<number>, i: number): number {
  return array[i] as number;
}

function add(array: Float64Array, i: number, value: number): void {
  array[i] = at(array, i) + value;
}

/** 1 / (1 + e^-x), without overflow. */
export function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}
