import type { ModelId } from '../model/config';
import { ESTIMATORS, OBJECTIVES, type Objective } from '../objectives';
import { isShared } from './ownFields';
import type { RunConfig } from './runConfig';

/** A named setting: what differs from the common ground of experiments.md section 5. Data only; presets.ts makes configurations of it. */
export interface Preset {
  id: string;
  title: string;
  /** One line for the page. */
  description: string;
  /** `stable`: near on-policy data. `stress`: the off-policy dials are turned up. `reference`: something to measure the others by. */
  kind: 'stable' | 'stress' | 'reference';
  patch: Partial<RunConfig>;
  /** What a model size needs differently. */
  byModel?: Partial<Record<ModelId, Partial<RunConfig>>>;
}

const sppo = { objective: 'sppo', groupSize: 1, dualClip: 3 } as const;
/** One answer per prompt; on software adapters half as many prompts, so that a step stays short. */
const sppoRows = { main: { prompts: 128 }, small: { prompts: 64 } } as const;

const LISTED: readonly Preset[] = [
  {
    id: 'grpo',
    title: 'GRPO',
    description: 'Token ratios, clip band 0.2, advantages from groups of 8 answers.',
    kind: 'stable',
    patch: { objective: 'grpo' },
  },
  {
    id: 'gspo',
    title: 'GSPO, sized',
    description: 'Sequence ratios with a clip band of 0.01, sized for answers of about 24 tokens.',
    kind: 'stable',
    patch: { objective: 'gspo' },
  },
  {
    id: 'gspo-paper',
    title: 'GSPO, paper',
    description: 'Sequence ratios with the band of the GSPO paper, 0.0003 below and 0.0004 above: most tokens are cut.',
    kind: 'stable',
    patch: { objective: 'gspo', clipLowSequence: 3e-4, clipHighSequence: 4e-4 },
  },
  {
    id: 'gspo-borrowed',
    title: 'GSPO, borrowed',
    description: 'Sequence ratios with the 0.2 band of token ratios: the clip never binds.',
    kind: 'stable',
    patch: { objective: 'gspo', clipLowSequence: 0.2, clipHighSequence: 0.2 },
  },
  {
    id: 'sspo',
    title: 'SSPO, 0.05',
    description: 'Subsentence ratios, clip band 0.05, scaled by the entropy of each subsentence. Re-implemented from the abstract and LPO; constants are ours.',
    kind: 'stable',
    patch: { objective: 'sspo' },
  },
  {
    id: 'sspo-wide',
    title: 'SSPO, 0.2',
    description: 'Subsentence ratios with the 0.2 band of token ratios, for contrast.',
    kind: 'stable',
    patch: { objective: 'sspo', clipLowSegment: 0.2, clipHighSegment: 0.2 },
  },
  {
    id: 'lpo',
    title: 'LPO',
    description: 'Subsentence ratios with the fixed 0.03 band of the Ling 2.0 report: SSPO without entropy scaling.',
    kind: 'stable',
    patch: { objective: 'lpo', clipLowSegment: 0.03, clipHighSegment: 0.03 },
  },
  {
    id: 'sppo',
    title: 'SPPO',
    description: 'One answer per prompt; a critic that sees only the prompt supplies the baseline. Token ratios, dual clip 3.',
    kind: 'stable',
    patch: { ...sppo },
    byModel: sppoRows,
  },
  {
    id: 'sppo-segment',
    title: 'SPPO, subsentence ratio (ours)',
    description: 'SPPO with its ratio and clip per subsentence, band 0.05: our extension. The paper’s SPPO has token ratios.',
    kind: 'stable',
    patch: { ...sppo, objective: 'sppo@segment' },
    byModel: sppoRows,
  },
  {
    id: 'sppo-sequence',
    title: 'SPPO, sequence ratio (ours)',
    description: 'SPPO with its ratio and clip per sequence, band 0.01: our extension. The paper’s SPPO has token ratios.',
    kind: 'stable',
    patch: { ...sppo, objective: 'sppo@sequence' },
    byModel: sppoRows,
  },
  {
    id: 'sppo-quarter',
    title: 'SPPO, quarter budget',
    description: 'SPPO on 32 answers per step: a quarter of the rollouts of the GRPO preset.',
    kind: 'stable',
    patch: { ...sppo, prompts: 32, totalSteps: 120 },
  },
  {
    id: 'ppo',
    title: 'PPO',
    description: 'One answer per prompt; a critic with a network of its own gives every token a value, GAE (λ 0.95) an advantage. Token ratios, clip band 0.2.',
    kind: 'stable',
    patch: { objective: 'ppo', groupSize: 1, criticLearningRate: 1e-3 },
    byModel: sppoRows,
  },
  {
    id: 'drGrpo',
    title: 'Dr.GRPO',
    description: 'GRPO without its two divisions: by answer length, and by the spread of rewards.',
    kind: 'stable',
    patch: { objective: 'drGrpo', lossAggMode: 'constant' },
  },
  {
    id: 'dapo',
    title: 'DAPO',
    description: 'Clip-higher (0.2 below, 0.28 above), the mean over all tokens, other prompts drawn in place of dead groups, a soft length penalty over the last 8 tokens.',
    kind: 'stable',
    patch: { objective: 'dapo', clipHighToken: 0.28, lossAggMode: 'token-mean', dynamicSampling: true, refillGroups: true, overlongCache: 8 },
  },
  {
    id: 'gspoToken',
    title: 'GSPO-token, sized',
    description: 'GSPO with the ratio carried by each token, clip band 0.01: the same run as GSPO while an answer has one advantage.',
    kind: 'stable',
    patch: { objective: 'gspoToken' },
  },
  {
    id: 'gmpo',
    title: 'GMPO, 0.2',
    description: 'Tokens are clipped at 0.2 nats before their geometric mean is taken. The paper has 0.4, which would hardly bind here.',
    kind: 'stable',
    patch: { objective: 'gmpo' },
  },
  {
    id: 'gmpo-paper',
    title: 'GMPO, paper',
    description: 'GMPO with the log band of its paper, 0.4.',
    kind: 'stable',
    patch: { objective: 'gmpo', clipLowToken: 0.4, clipHighToken: 0.4 },
  },
  {
    id: 'cispo',
    title: 'CISPO',
    description: 'Token ratios only weigh the gradient and are held at 5: no token is ever cut.',
    kind: 'stable',
    patch: { objective: 'cispo', lossAggMode: 'token-mean' },
  },
  {
    id: 'cispo-trap',
    title: 'CISPO, cap 0.2',
    description: 'The width of GRPO read as an absolute cap: every weight is 0.2, and the ratio no longer matters.',
    kind: 'stable',
    patch: { objective: 'cispo', lossAggMode: 'token-mean', 'cispo.cap': 0.2 },
  },
  {
    id: 'dcpo',
    title: 'DCPO',
    description: 'Token ratios in a band that widens for tokens the old policy found unlikely.',
    kind: 'stable',
    patch: { objective: 'dcpo', clipLowToken: 0.16, clipHighToken: 0.2, dualClip: 3, lossAggMode: 'token-mean' },
  },
  {
    id: 'sapo',
    title: 'SAPO',
    description: 'A sigmoid gate on the token ratio in place of a clip.',
    kind: 'stable',
    patch: { objective: 'sapo' },
  },
  {
    id: 'reinforce',
    title: 'REINFORCE',
    description: 'No ratio and no clip; the mean reward of the batch is subtracted.',
    kind: 'reference',
    patch: { objective: 'reinforce' },
  },
  {
    id: 'rloo',
    title: 'REINFORCE, leave one out',
    description: 'RLOO: no ratio; each answer is compared with the mean of the others to the same prompt.',
    kind: 'reference',
    patch: { objective: 'reinforce', advantage: 'leaveOneOut' },
  },
  {
    id: 'rft',
    title: 'RFT reference',
    description: 'Only right answers are reinforced, with no ratio and no baseline. A hard reference on a task with one right answer.',
    kind: 'reference',
    patch: { objective: 'rft', groupSize: 1 },
    byModel: sppoRows,
  },
  {
    id: 'squeeze',
    title: 'Squeeze the batch',
    description: '4 epochs: 16 updates reuse one rollout, so ratios travel far from 1.',
    kind: 'stress',
    patch: { objective: 'grpo', epochs: 4 },
  },
  {
    id: 'fp8',
    title: 'FP8 rollouts',
    description: 'The sampler rounds its weights to 2 mantissa bits (E5M2); its own log-probs serve as the old ones.',
    kind: 'stress',
    patch: { objective: 'grpo', samplerPrecision: 'e5m2' },
  },
  {
    id: 'fp8-wide',
    title: 'FP8 rollouts, one band',
    description: 'E5M2 rollouts with the same 0.2 band at all three levels: averaging the ratio decides, not the width.',
    kind: 'stress',
    patch: {
      objective: 'grpo', samplerPrecision: 'e5m2',
      clipLowSegment: 0.2, clipHighSegment: 0.2, clipLowSequence: 0.2, clipHighSequence: 0.2,
    },
  },
  {
    id: 'fp8-truncated',
    title: 'FP8 rollouts, truncated weights',
    description: 'E5M2 rollouts; old log-probs from the trainer, and token weights truncated at 2 make up for the sampler.',
    kind: 'stress',
    patch: { objective: 'grpo', samplerPrecision: 'e5m2', oldLogpSource: 'trainer', mismatchCorrection: 'token-truncate', mismatchCap: 2 },
  },
  {
    id: 'fp8-masked',
    title: 'FP8 rollouts, masked answers',
    description: 'E5M2 rollouts; answers that the trainer finds over 3 times likelier than the sampler did are masked.',
    kind: 'stress',
    patch: { objective: 'grpo', samplerPrecision: 'e5m2', oldLogpSource: 'trainer', mismatchCorrection: 'sequence-mask' },
  },
  {
    id: 'stale',
    title: 'Stale sampler',
    description: 'The sampler is 4 iterations (16 updates) behind the trainer.',
    kind: 'stress',
    patch: { objective: 'grpo', samplerLag: 4 },
  },
];

/** The preset of an objective that nobody has sized for the tiny model: what its definition says. */
export function definitionPreset(objective: Objective): Preset {
  const { id, title, summary, hyperparameters, advantageEstimator, lossAggMode } = objective;
  const level = { token: 'Token', segment: 'Segment', sequence: 'Sequence' }[objective.importanceSamplingLevel];
  const settings = hyperparameters.filter(({ name }) => isShared(name)).map(({ name, default: value }) => [name.startsWith('clip') ? `${name}${level}` : name, value] as const);
  const isSingle = ESTIMATORS[advantageEstimator].answers === 'one';
  return {
    id,
    title,
    description: summary.split(/(?<=\.) /)[0],
    kind: 'stable',
    patch: { objective: id, lossAggMode, ...Object.fromEntries(settings), ...(isSingle && { groupSize: 1 }) },
    ...(isSingle && { byModel: sppoRows }),
  };
}

/** Those of the list, and one for every objective that has none there. */
export const PRESETS: readonly Preset[] = [...LISTED, ...OBJECTIVES.filter(({ id }) => !LISTED.some((preset) => preset.id === id)).map(definitionPreset)];

/** Step size that suits a model size (experiments.md section 5). */
export const MODEL_PATCH: Record<ModelId, Partial<RunConfig>> = { main: { learningRate: 3e-4 }, small: { learningRate: 4e-4 } };
