import { ADVANTAGE_ESTIMATORS, ESTIMATORS, LOSS_AGG_MODES } from '../objectives';
import { MAX_TEXT } from '../objectives/custom';
import { DEFAULT_TASK, OBJECTIVE_CHOICES, TASK_CHOICES } from './choices';
import { OWN_FIELDS } from './ownFields';
import { PRESETS } from './presetList';
import type { Field, FieldName, FieldTable, NumberField } from './fieldTypes';
import type { RunConfig } from './runConfig';

export type { BoolField, ChoiceField, Field, FieldGroup, FieldName, NumberField, Problem } from './fieldTypes';

/** Ticks of the clip sliders: values that stand in the literature (algorithms.md), and those sized for this model. */
const TOKEN_WIDTHS = { PPO: 0.2, 'DAPO high': 0.28 };
const SEGMENT_WIDTHS = { LPO: 0.03, sized: 0.05, borrowed: 0.2 };
const SEQUENCE_WIDTHS = { 'paper low': 3e-4, 'paper high': 4e-4, sized: 0.01, borrowed: 0.2 };

function clipWidth(level: string, side: 'below' | 'above', value: number, named: Record<string, number>): NumberField {
  const user = { token: 'GRPO, SPPO and others', subsentence: 'SSPO and LPO', sequence: 'GSPO' }[level] ?? level;
  return {
    kind: 'number', label: `Clip width ${side} 1, ${level}`, unit: '', group: 'clip', live: true, log: true,
    help: `How far a ${level} ratio may go ${side} 1 before its gradient is cut. ${user} train with it; the other charts measure with it.`,
    // A ratio is never below 0, so a width of 1 below is no bound at all.
    min: 1e-4, max: side === 'below' ? 1 : 10, step: 1e-4, default: value, named,
  };
}

/** Every setting: its kind, bounds, default and words. The controls, the URL, `--set` and the validator all read this table. */
export const FIELDS: FieldTable = {
  preset: {
    kind: 'choice', label: 'Preset', unit: '', group: 'run', live: true, default: 'grpo',
    help: 'A named setting to start from. Everything it sets can be changed afterwards.',
    choices: PRESETS.map((p) => ({ value: p.id, label: p.title })),
  },
  objective: {
    kind: 'choice', label: 'Objective', unit: '', group: 'run', live: true, default: 'grpo',
    help: 'Which loss turns ratios and advantages into a gradient.',
    choices: OBJECTIVE_CHOICES,
  },
  customObjective: {
    kind: 'text', label: 'Your objective', unit: '', group: 'run', live: true, default: '', maxLength: MAX_TEXT,
    help: 'Text of an objective that you wrote: the loss of one token, in the language of the editor.',
  },
  customParameters: {
    kind: 'text', label: 'Its parameters', unit: '', group: 'run', live: true, default: '', maxLength: 1000,
    help: 'Values of the parameters that it declares, as name=value, separated by commas.',
  },
  task: {
    kind: 'choice', label: 'Task', unit: '', group: 'run', live: false, default: DEFAULT_TASK,
    help: 'What the model is asked, and how its answers are checked.',
    choices: TASK_CHOICES,
  },
  model: {
    kind: 'choice', label: 'Model', unit: '', group: 'run', live: false, default: 'small',
    help: 'main suits a GPU, small a software adapter.',
    choices: [
      { value: 'main', label: 'main, 61,680 parameters' },
      { value: 'small', label: 'small, 28,832 parameters' },
    ],
  },
  seed: {
    kind: 'int', label: 'Seed', unit: '', group: 'run', live: false, min: 0, max: 4294967295, step: 1, default: 1,
    help: 'Decides prompts, samples and shuffles. The same seed on the same device gives the same run.',
  },
  totalSteps: {
    kind: 'int', label: 'Planned iterations', unit: 'iterations', group: 'run', live: true, min: 1, max: 10000, step: 1, default: 60,
    help: 'The run pauses here. Raise it to go on.',
  },
  speed: {
    kind: 'number', label: 'Speed limit', unit: 'iterations/s', group: 'run', live: true, min: 0, max: 60, step: 0.5, default: 0,
    help: 'At most this many iterations a second; 0 is as fast as it goes.',
  },
  prompts: {
    kind: 'int', label: 'Prompts', unit: 'prompts', group: 'rollout', live: true, min: 1, max: 512, step: 1, default: 16,
    help: 'Different prompts in one rollout (P).',
  },
  groupSize: {
    kind: 'int', label: 'Answers per prompt', unit: 'answers', group: 'rollout', live: true, min: 1, max: 64, step: 1, default: 8,
    help: 'Completions sampled for each prompt (G). Their mean reward is what each is compared with. SPPO takes 1.',
  },
  temperature: {
    kind: 'number', label: 'Temperature', unit: '', group: 'rollout', live: true, min: 0.1, max: 2, step: 0.05, default: 1,
    help: 'Logits are divided by it when sampling and in every log-prob.',
  },
  minibatches: {
    kind: 'int', label: 'Minibatches', unit: 'per rollout', group: 'staleness', live: true, min: 1, max: 16, step: 1, default: 4,
    help: 'Updates per pass over one rollout. Must divide the number of answers. With 1 minibatch and 1 epoch every ratio is 1 and the clip is inert.',
  },
  epochs: {
    kind: 'int', label: 'Epochs', unit: 'passes', group: 'staleness', live: true, min: 1, max: 8, step: 1, default: 1,
    help: 'Passes over one rollout. More passes carry the policy further from the one that sampled.',
  },
  samplerLag: {
    kind: 'int', label: 'Sampler lag', unit: 'iterations', group: 'staleness', live: true, min: 0, max: 8, step: 1, default: 0,
    help: 'The sampler uses the parameters of this many iterations ago.',
  },
  samplerPrecision: {
    kind: 'choice', label: 'Sampler precision', unit: '', group: 'staleness', live: true, default: 'f32',
    help: 'The weights of the sampler are rounded to this many mantissa bits; the trainer stays in f32.',
    choices: [
      { value: 'f32', label: 'f32 (exact)' },
      { value: 'e4m3', label: 'E4M3-like (3 bits)' },
      { value: 'e5m2', label: 'E5M2-like (2 bits)' },
    ],
  },
  oldLogpSource: {
    kind: 'choice', label: 'Old log-probs from', unit: '', group: 'staleness', live: true, default: 'sampler',
    help: 'The sampler’s own numbers, or recomputed by the trainer before its first update, which hides a mismatch between the two.',
    choices: [
      { value: 'sampler', label: 'sampler' },
      { value: 'trainer', label: 'trainer (recomputed)' },
    ],
  },
  mismatchCorrection: {
    kind: 'choice', label: 'Mismatch correction', unit: '', group: 'staleness', live: true, default: 'none',
    help: 'When the sampler is not quite the trainer, each token can be weighed by how likely the trainer would have sampled it, cut off at a limit or masked beyond it. Needs old log-probs from the trainer.',
    choices: [
      { value: 'none', label: 'none' },
      { value: 'token-truncate', label: 'token weights, truncated' },
      { value: 'token-mask', label: 'token weights, masked' },
      { value: 'sequence-truncate', label: 'answer weights, truncated' },
      { value: 'sequence-mask', label: 'answer weights, masked (TRL default)' },
    ],
  },
  mismatchCap: {
    kind: 'number', label: 'Mismatch limit', unit: '', group: 'staleness', live: true, min: 1, max: 100, step: 0.1, default: 3, log: true,
    help: 'Trainer’s over sampler’s probability, of a token or of a whole answer, above which the weight is truncated or masked.',
    named: { 'verl': 2, 'TRL': 3 },
  },
  mismatchFloor: {
    kind: 'number', label: 'Mismatch floor', unit: '', group: 'staleness', live: true, min: 0, max: 1, step: 0.05, default: 0,
    help: 'When masking: weights below this are masked as well; 0 masks none.',
    named: { 'one over the limit 2': 0.5 },
  },
  clipLowToken: clipWidth('token', 'below', 0.2, TOKEN_WIDTHS),
  clipHighToken: clipWidth('token', 'above', 0.2, TOKEN_WIDTHS),
  clipLowSegment: clipWidth('subsentence', 'below', 0.05, SEGMENT_WIDTHS),
  clipHighSegment: clipWidth('subsentence', 'above', 0.05, SEGMENT_WIDTHS),
  clipLowSequence: clipWidth('sequence', 'below', 0.01, SEQUENCE_WIDTHS),
  clipHighSequence: clipWidth('sequence', 'above', 0.01, SEQUENCE_WIDTHS),
  dualClip: {
    kind: 'number', label: 'Dual clip', unit: '', group: 'clip', live: true, min: 0, max: 20, step: 0.5, default: 0,
    help: 'With a negative advantage the loss is flat once the ratio passes this bound, which is above 1; 0 turns it off. SPPO uses 3.',
    named: { SPPO: 3 },
  },
  entropyScaleLow: {
    kind: 'number', label: 'Entropy scaling, lower bound', unit: '', group: 'clip', live: true, min: 0.05, max: 1, step: 0.05, default: 0.5,
    help: 'SSPO multiplies its clip width by the entropy of a subsentence over the mean entropy, but never by less than this. 1 and 1 turn it off.',
  },
  entropyScaleHigh: {
    kind: 'number', label: 'Entropy scaling, upper bound', unit: '', group: 'clip', live: true, min: 1, max: 10, step: 0.1, default: 2,
    help: 'SSPO multiplies its clip width by the entropy of a subsentence over the mean entropy, but never by more than this.',
  },
  beta: {
    kind: 'number', label: 'KL weight β', unit: '', group: 'clip', live: true, min: 0, max: 1, step: 0.005, default: 0,
    help: 'Weight of the KL (k3) to the frozen base policy, in the loss. Above 0 the reference model is loaded.',
    named: { 'R1': 0.001, 'DeepSeekMath': 0.04 },
  },
  klPlacement: {
    kind: 'choice', label: 'KL goes into', unit: '', group: 'clip', live: true, default: 'loss',
    help: 'The loss of each token (k3, as GRPO has it), or off the reward of the whole answer before advantages are formed (k1, as PPO for language models has it).',
    choices: [
      { value: 'loss', label: 'the loss (k3)' },
      { value: 'reward', label: 'the reward (k1)' },
    ],
  },
  lossAggMode: {
    kind: 'choice', label: 'Loss aggregation', unit: '', group: 'clip', live: true, default: 'seq-mean-token-mean',
    help: 'How the losses of single tokens become one number: whether long answers weigh more.',
    choices: LOSS_AGG_MODES.map((value) => ({ value, label: { 'seq-mean-token-mean': 'mean over answers of mean over tokens', 'token-mean': 'mean over all tokens', 'seq-mean-token-sum': 'mean over answers of sum over tokens', constant: 'sum over tokens by a constant (Dr. GRPO)' }[value] })),
  },
  learningRate: {
    kind: 'number', label: 'Learning rate', unit: '', group: 'optimiser', live: true, min: 0, max: 0.01, step: 1e-5, default: 4e-4, log: true,
    help: 'Adam’s step size after warm-up. 2e-4 to 4e-4 learn well; 1e-3 is jagged; 3e-3 destroys the policy.',
  },
  warmupUpdates: {
    kind: 'int', label: 'Warm-up', unit: 'updates', group: 'optimiser', live: true, min: 1, max: 1000, step: 1, default: 10,
    help: 'The learning rate rises over this many updates. Fresh Adam steps are large: below 10, the first step can throw ratios into the thousands.',
  },
  maxGradNorm: {
    kind: 'number', label: 'Gradient norm limit', unit: '', group: 'optimiser', live: true, min: 0.01, max: 100, step: 0.01, default: 1, log: true,
    help: 'A larger gradient is scaled down to this norm.',
  },
  baseline: {
    kind: 'choice', label: 'Baseline (SPPO)', unit: '', group: 'advantage', live: true, default: 'value',
    help: 'What SPPO subtracts from the reward: the critic’s V(prompt), the mean reward of the batch, or nothing.',
    choices: [
      { value: 'value', label: 'learned V(prompt)' },
      { value: 'batchMean', label: 'batch mean' },
      { value: 'zero', label: 'zero' },
    ],
  },
  normalizeAdvantage: {
    kind: 'bool', label: 'Normalise the advantage (SPPO)', unit: '', group: 'advantage', live: true, default: true,
    help: 'Divide R − V by its spread over the batch (at least 0.1). Ours; the paper does not.',
  },
  criticLearningRate: {
    kind: 'number', label: 'Critic learning rate (SPPO, PPO)', unit: '', group: 'advantage', live: true, min: 0, max: 0.1, step: 1e-4, default: 3e-3, log: true,
    help: 'Adam’s step size for the critic: V(prompt) for SPPO, V of every state of an answer for PPO.',
  },
  gaeGamma: {
    kind: 'number', label: 'Discount γ (PPO)', unit: '', group: 'advantage', live: true, min: 0.5, max: 1, step: 0.005, default: 1,
    help: 'How much a reward one token later is worth. Below 1 the critic learns lower values early in an answer.',
    named: { 'TRL, verl': 1, 'PPO, MuJoCo': 0.99 },
  },
  gaeLambda: {
    kind: 'number', label: 'GAE λ (PPO)', unit: '', group: 'advantage', live: true, min: 0, max: 1, step: 0.05, default: 0.95,
    help: 'How far a surprise is credited back. 1: every token gets reward minus its own V; 0: only the change of V at the token itself.',
    named: { 'TRL, PPO': 0.95, 'verl': 1 },
  },
  whitenAdvantages: {
    kind: 'bool', label: 'Whiten advantages (PPO)', unit: '', group: 'advantage', live: true, default: true,
    help: 'Shift and scale the advantages of all tokens of a batch to mean 0 and variance 1, as verl and TRL do.',
  },
  valueClip: {
    kind: 'number', label: 'Value clip (PPO)', unit: '', group: 'advantage', live: true, min: 0, max: 10, step: 0.05, default: 0.2,
    help: 'V gets no gradient once it has moved this far towards its return from where it was before the updates; 0 is no clip.',
    named: { off: 0, TRL: 0.2, verl: 0.5 },
  },
  advantage: {
    kind: 'choice', label: 'Advantage from', unit: '', group: 'advantage', live: true, default: 'own',
    help: 'How rewards become advantages: the objective’s own rule, or any other.',
    choices: [{ value: 'own', label: 'the objective’s own rule' }, ...ADVANTAGE_ESTIMATORS.map((value) => ({ value, label: ESTIMATORS[value].title }))],
  },
  dynamicSampling: {
    kind: 'bool', label: 'Leave out dead groups', unit: '', group: 'advantage', live: true, default: false,
    help: 'Groups whose answers all earn the same are left out of the updates, as DAPO does; whether other prompts take their place is the next setting.',
  },
  refillGroups: {
    kind: 'bool', label: 'Draw others in their place', unit: '', group: 'advantage', live: true, default: false,
    help: 'Further prompts are sampled until as many groups can teach something as were asked for, up to four rollouts in all (DAPO’s dynamic sampling). Steps then take longer as the policy gets better. Reward counts every answer drawn.',
  },
  overlongFilter: {
    kind: 'bool', label: 'Leave out cut-off answers', unit: '', group: 'advantage', live: true, default: false,
    help: 'Answers that met the length budget before they ended are left out of the updates (DAPO’s overlong filtering).',
  },
  overlongCache: {
    kind: 'int', label: 'Soft length penalty', unit: 'tokens', group: 'advantage', live: true, min: 0, max: 64, step: 1, default: 0,
    help: 'Over this many tokens before the length budget the reward that trains falls from 0 to −1 below what was earned (DAPO); 0 is no penalty. The reward chart shows what was earned.',
  },
  shuffleRewards: {
    kind: 'bool', label: 'Shuffle rewards (control)', unit: '', group: 'advantage', live: true, default: false,
    help: 'Rewards are dealt out at random over the batch. Nothing can be learnt: whatever still moves is not learning.',
  },
  evalEvery: {
    kind: 'int', label: 'Evaluate every', unit: 'iterations', group: 'evaluation', live: true, min: 0, max: 1000, step: 1, default: 10,
    help: 'Held-out prompts are answered greedily every n iterations; 0 is never.',
  },
  evalPrompts: {
    kind: 'int', label: 'Held-out prompts', unit: 'prompts', group: 'evaluation', live: true, min: 8, max: 4096, step: 8, default: 128,
    help: 'How many held-out prompts one evaluation answers.',
  },
  ...OWN_FIELDS,
};

/** Every setting's name, in the order of the table. */
export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

/** True when `name` is a setting. */
export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name);
}

/** The field of a setting, for code that treats all alike. */
export function fieldOf(name: FieldName): Field {
  return FIELDS[name];
}

/** Every default, before a preset or a model size has its say. */
export function defaultConfig(): RunConfig {
  return Object.fromEntries(FIELD_NAMES.map((name) => [name, FIELDS[name].default])) as unknown as RunConfig;
}

/** Words for a value: a choice by its label, a number in short form. */
export function formatValue(name: FieldName, value: RunConfig[FieldName]): string {
  const field = fieldOf(name);
  if (field.kind === 'text') return `${String(value).length} characters`;
  if (field.kind === 'choice') return field.choices.find((c) => c.value === value)?.label ?? String(value);
  if (field.kind === 'bool') return value === true ? 'on' : 'off';
  return String(value);
}

const SHORT: Partial<Record<FieldName, string>> = {
  learningRate: 'lr', clipLowToken: 'token clip low', clipHighToken: 'token clip high', clipLowSegment: 'subsentence clip low',
  clipHighSegment: 'subsentence clip high', clipLowSequence: 'sequence clip low', clipHighSequence: 'sequence clip high',
  samplerPrecision: 'sampler', oldLogpSource: 'old log-probs', samplerLag: 'lag', groupSize: 'answers', beta: 'β', lossAggMode: 'aggregation',
  totalSteps: 'iterations', maxGradNorm: 'gradient norm limit', warmupUpdates: 'warm-up', speed: 'speed limit', dualClip: 'dual clip', klPlacement: 'KL in', dynamicSampling: 'dead groups left out',
  mismatchCorrection: 'mismatch', overlongCache: 'length penalty', baseline: 'baseline', normalizeAdvantage: 'advantage normalised', criticLearningRate: 'critic lr',
  gaeGamma: 'γ', gaeLambda: 'GAE λ', whitenAdvantages: 'whitening', valueClip: 'value clip',
};

/** A short mark for the charts, e.g. "epochs 1 → 4". */
export function describeChange(name: FieldName, from: RunConfig[FieldName], to: RunConfig[FieldName]): string {
  if (name === 'customObjective') return 'your objective edited';
  if (name === 'customParameters') return `parameters ${String(to).replaceAll(',', ', ') || 'as declared'}`;
  const short = (value: RunConfig[FieldName]): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));
  return `${SHORT[name] ?? fieldOf(name).label.toLowerCase()} ${short(from)} → ${short(to)}`;
}
