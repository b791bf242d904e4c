import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const ppo = defineObjective({
  id: 'ppo',
  title: 'PPO',
  summary:
    'The method that the others leave: a critic gives every state of the answer a value, and generalised advantage estimation gives every token an advantage of its own, so credit can arrive where the answer was decided. Ratio and clip are per token. The price is a second network to train.',
  caveat: null,
  sources: [
    { label: 'PPO', url: 'https://arxiv.org/abs/1707.06347', note: 'Clipped surrogate (eq. 7), advantages by GAE (eq. 11-12), a value loss beside it.' },
    { label: 'GAE', url: 'https://arxiv.org/abs/1506.02438', note: 'Generalised advantage estimation (eq. 16).' },
    { label: 'verl', url: 'https://github.com/verl-project/verl', note: 'Token-mean, advantages whitened over the batch, clipped value loss.' },
    { label: 'TRL PPO', url: 'https://huggingface.co/docs/trl/main/en/ppo_trainer', note: 'gamma 1, lambda .95, value clip .2, clip .2.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'gae',
  hyperparameters: [clipWidth('low', 0.2, 'token', { paper: 0.2 }), clipWidth('high', 0.2, 'token', { paper: 0.2 }), dualClip(0), beta],
  ...clippedObjective(ratioAt('token'), logRatioAt('token'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
