import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const gspo = defineObjective({
  id: 'gspo',
  title: 'GSPO',
  summary:
    'One ratio for the whole response: the geometric mean of its token ratios. A response is kept or clipped as a whole, and every token of it gets the same gradient weight. Because a mean of many terms spreads little, the band must be far narrower than for tokens.',
  caveat: null,
  sources: [
    { label: 'GSPO', url: 'https://arxiv.org/abs/2507.18071', note: 'Objective (eq. 5), sequence ratio (eq. 7), gradient (eq. 10), band 3e-4 / 4e-4.' },
  ],
  importanceSamplingLevel: 'sequence',
  lossAggMode: 'seq-mean-token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    clipWidth('low', 3e-4, 'response', { paper: 3e-4, 'sized for the tiny model': 0.01, 'borrowed from GRPO': 0.2 }),
    clipWidth('high', 4e-4, 'response', { paper: 4e-4, 'sized for the tiny model': 0.01, 'borrowed from GRPO': 0.2 }),
    dualClip(0),
    beta,
  ],
  ...clippedObjective(ratioAt('sequence'), logRatioAt('sequence'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
