import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const grpo = defineObjective({
  id: 'grpo',
  title: 'GRPO',
  summary:
    'Each token has an importance ratio of its own, clipped on its own, as in PPO; the advantage is the reward compared with the other answers to the same prompt, the same for every token of an answer. No critic.',
  caveat: null,
  sources: [
    { label: 'DeepSeekMath', url: 'https://arxiv.org/abs/2402.03300', note: 'Objective (eq. 3), group-normalised advantage, KL (k3) in the loss.' },
    { label: 'DAPO', url: 'https://arxiv.org/abs/2503.14476', note: 'The asymmetric band .2/.28 (clip-higher).' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'seq-mean-token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    clipWidth('low', 0.2, 'token', { usual: 0.2 }),
    clipWidth('high', 0.2, 'token', { usual: 0.2, 'GSPO paper, GRPO baseline': 0.27, 'DAPO clip-higher': 0.28, 'DeepSeek-R1': 10 }),
    dualClip(0),
    beta,
  ],
  ...clippedObjective(ratioAt('token'), logRatioAt('token'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
