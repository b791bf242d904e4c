import { defaultConfig } from '../../src/config/fields';
import { clipWidthsOf, hyperparametersOf } from '../../src/config/hyper';
import type { RunConfig } from '../../src/config/runConfig';
import { Rng } from '../../src/core/rng';
import { computeMetrics, gaeAdvantages, getObjective } from '../../src/objectives';
import type { BatchMetrics, ClipWidths } from '../../src/objectives/types';
import { columnAddition, columnExample } from '../../src/tasks/defs/columnAddition';
import type { BatchRecord, CompletionRecord, StepReport, UpdateReport } from '../../src/worker/protocol';

/** Invented numbers, seeded, for looking at the components; never measurements. */

export const CONFIG: RunConfig = {
  ...defaultConfig(),
  minibatches: 4,
  epochs: 4,
  totalSteps: 60,
  whitenAdvantages: false,
  clipLowToken: 0.2,
  clipHighToken: 0.2,
  clipLowSegment: 0.05,
  clipHighSegment: 0.05,
  clipLowSequence: 0.01,
  clipHighSequence: 0.01,
};

export const CLIP: ClipWidths = clipWidthsOf(CONFIG);

/** One minibatch whose token log ratios have grown to `spread` (nats; 0 = fresh rollout), measured by the product's own metrics. */
function fakeMetrics(rng: Rng, spread: number, objective: string): BatchMetrics {
  const rows = Array.from({ length: 32 }, () => {
    const advantage = rng.uniform() < 0.4 ? 0 : rng.uniform() < 0.6 ? 0.725 : -1.208;
    const lengths = Array.from({ length: 4 }, () => rng.int(3, 9));
    const segments = lengths.flatMap((length, k) => new Array<number>(length).fill(k));
    const isDecision = segments.map(() => rng.uniform() < 0.1);
    const oldLogp = isDecision.map((decision) => -0.02 - (decision ? 0.9 : 0.05) * rng.uniform());
    const newLogp = oldLogp.map((logp, t) => {
      const scale = isDecision[t] ? 1 : 0.06;
      const tail = isDecision[t] && rng.uniform() < 0.03 ? 5 : 1;
      return logp + spread * scale * tail * (0.6 * rng.normal() + 0.25 * Math.sign(advantage));
    });
    return { advantage, segments, oldLogp, newLogp, entropy: isDecision.map((decision) => (decision ? 0.77 : 0.09)) };
  });
  return computeMetrics(
    getObjective(objective),
    {
      oldLogp: rows.map((r) => r.oldLogp),
      newLogp: rows.map((r) => r.newLogp),
      mask: rows.map((r) => r.segments.map(() => 1)),
      segments: rows.map((r) => r.segments),
      entropy: rows.map((r) => r.entropy),
      advantages: rows.map((r) => r.segments.map(() => r.advantage)),
    },
    { hyper: hyperparametersOf({ ...CONFIG, objective }), widths: clipWidthsOf(CONFIG) },
  );
}

/** Updates of the last `steps` iterations, `perStep` each; `growth` 0 keeps every ratio at 1. */
export function fakeUpdates(seed: number, steps: number, perStep: number, growth = 1, objective = 'grpo'): UpdateReport[] {
  const rng = new Rng(seed, 7);
  const updates: UpdateReport[] = [];
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < perStep; i++) {
      const spread = growth * (i === 0 ? 0 : 0.15 + 1.2 * (i / 16));
      updates.push({ update: updates.length, step: 30 + step, epoch: 1 + Math.floor(i / 4), minibatch: 1 + (i % 4), metrics: fakeMetrics(rng, spread, objective), gradNorm: 0.6, learningRate: 3e-4 });
    }
  }
  return updates;
}

/** A reward curve like the drawn one. */
export function fakeRewards(seed: number, count: number): Pick<StepReport, 'step' | 'reward'>[] {
  const rng = new Rng(seed, 11);
  return Array.from({ length: count }, (_, i) => ({ step: i + 1, reward: Math.min(1, 0.36 + 0.5 * (1 - Math.exp(-i / 6)) + 0.03 * rng.normal()) }));
}

export function fakeEvals(count: number): { step: number; greedy: number }[] {
  return Array.from({ length: count }, (_, i) => ({ step: i * 5, greedy: 0.41 + 0.52 * (1 - Math.exp(-i / 1.3)) }));
}

export function fakeSeries(seed: number, count: number, from: number, to: number): number[] {
  const rng = new Rng(seed, 13);
  return Array.from({ length: count }, (_, i) => to + (from - to) * Math.exp(-i / 8) + 0.06 * (from - to) * rng.normal());
}

/** A rollout batch of worked examples with invented log probs; groupSize 1 gives one answer a prompt. */
export function fakeBatch(seed: number, objective: string, groups: number, groupSize: number): BatchRecord {
  const rng = new Rng(seed, 17);
  const critic = new Rng(seed, 19);
  const prompts = Array.from({ length: groups }, (_, i) => (i === 0 ? '147+285=' : columnAddition.samplePrompt(rng, 'train')));
  const completions: CompletionRecord[] = [];
  prompts.forEach((prompt, group) => {
    const texts = Array.from({ length: groupSize }, () => columnExample(rng, prompt, { dropCarry: 0.25, slip: 0.05 }));
    const rewards = texts.map((text) => columnAddition.verify(prompt, text));
    const mean = rewards.reduce<number>((sum, r) => sum + r, 0) / groupSize;
    const sd = Math.sqrt(rewards.reduce<number>((sum, r) => sum + (r - mean) ** 2, 0) / groupSize);
    texts.forEach((text, i) => {
      const reward = rewards[i] as number;
      const values = fakeValues(critic, objective, text.length, reward);
      const advantage = groupSize === 1 ? reward - (values?.[0] ?? 0.83) : sd === 0 ? 0 : (reward - mean) / (sd + 1e-4);
      const completion = fakeCompletion(rng, group, text, reward, advantage, values?.[0] ?? null);
      completions.push(objective === 'ppo' && values ? { ...completion, ...perToken(values, reward) } : completion);
    });
  });
  const entropies = completions.flatMap((c) => [...c.entropy]);
  return { step: 34, objective, config: { ...CONFIG, objective, groupSize, prompts: groups }, prompts, completions, meanEntropy: entropies.reduce((a, b) => a + b, 0) / entropies.length };
}

/** V before each token as a critic might have it that knows a little: it starts near the mean and parts in the second half. Null without a critic. */
function fakeValues(rng: Rng, objective: string, tokens: number, reward: number): Float32Array | null {
  if (objective !== 'sppo' && objective !== 'ppo') return null;
  const start = Math.max(0.03, Math.min(0.97, 0.45 + 0.3 * reward + 0.14 * rng.normal()));
  return Float32Array.from({ length: tokens }, (_, t) => start + (reward - start) * Math.max(0, t / tokens - 0.4) + 0.02 * rng.normal() * Math.sign(t));
}

/** Advantages of each token by GAE, as the trainer has them when nothing is whitened. */
function perToken(values: Float32Array, reward: number): Pick<CompletionRecord, 'advantage' | 'advantages' | 'values'> {
  const rewards = Array.from(values, (_, t) => (t === values.length - 1 ? reward : 0));
  const advantages = Float32Array.from(gaeAdvantages(rewards, values, CONFIG.gaeGamma, CONFIG.gaeLambda).advantages);
  return { values, advantages, advantage: advantages.reduce((sum, a) => sum + a, 0) / advantages.length };
}

function fakeCompletion(rng: Rng, group: number, text: string, reward: number, advantage: number, value: number | null): CompletionRecord {
  const tokens = [...text];
  let segment = 0;
  const segments = new Uint32Array(tokens.length);
  const oldLogp = new Float32Array(tokens.length);
  const newLogp = new Float32Array(tokens.length);
  const entropy = new Float32Array(tokens.length);
  tokens.forEach((token, t) => {
    segments[t] = segment;
    if ('.,;'.includes(token)) segment++;
    const isDecision = token === '+' && tokens[t + 1] === '1' ? 1 : tokens[t - 1] === '=' || 'shok'.includes(token) ? 0.6 : 0.03;
    oldLogp[t] = -Math.abs(0.02 + isDecision * (0.4 + 0.6 * rng.uniform()));
    newLogp[t] = Math.min(-0.001, (oldLogp[t] as number) + isDecision * (0.25 * Math.sign(advantage) + 0.3 * rng.normal()) + 0.004 * rng.normal());
    entropy[t] = 0.05 + isDecision * 0.6;
  });
  return { group, tokens, oldLogp, newLogp, entropy, refLogp: null, segments, reward, advantage, advantages: null, value, values: null, minibatch: rng.int(1, 16) };
}
