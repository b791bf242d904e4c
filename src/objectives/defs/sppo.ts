import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const sppo = defineObjective({
  id: 'sppo',
  title: 'SPPO',
  summary:
    'The whole response is one action: its advantage is reward minus a critic\'s estimate of success from the prompt alone, the same for every token, so one sample per prompt is enough. Ratio and clip stay at the token, as in PPO; "sequence-level" is about credit.',
  caveat: 'Read from the official code and second-hand notes, not from the paper\'s full text. Dividing the advantage by its batch deviation is an option of ours.',
  sources: [
    { label: 'SPPO', url: 'https://arxiv.org/abs/2604.08865', note: 'Sequence-level PPO: A = R - V(prompt), critic trained with BCE on the prompt.' },
    { label: 'sustech-nlp/SPPO', url: 'https://github.com/sustech-nlp/SPPO', note: 'Token ratio, band .2, dual clip 3, token-mean, one sample per prompt.' },
    { label: 'Dual clip', url: 'https://arxiv.org/abs/1912.09729', note: 'Bound of the loss for A < 0.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'sequenceLevel',
  hyperparameters: [clipWidth('low', 0.2, 'token', { paper: 0.2 }), clipWidth('high', 0.2, 'token', { paper: 0.2 }), dualClip(3), beta],
  ...clippedObjective(ratioAt('token'), logRatioAt('token'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
