import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt, tokenCarrying } from './shared';

export const gspoToken = defineObjective({
  id: 'gspoToken',
  title: 'GSPO-token',
  summary:
    'The ratio of the whole response, as in GSPO, but written so that each token carries it by itself: its value is the response\'s ratio, its gradient the token\'s own. With one advantage for the whole answer it equals GSPO to the last digit; with advantages that differ by token, the sign of each token\'s advantage decides which side of the band can cut it.',
  caveat: null,
  sources: [{ label: 'GSPO', url: 'https://arxiv.org/abs/2507.18071', note: 'Eq. 13 to 17: the token form with per-token advantages; band 3e-4 / 4e-4.' }],
  importanceSamplingLevel: 'sequence',
  lossAggMode: 'seq-mean-token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    clipWidth('low', 3e-4, 'token of a response', { paper: 3e-4, 'sized for the tiny model': 0.01, 'borrowed from GRPO': 0.2 }),
    clipWidth('high', 4e-4, 'token of a response', { paper: 4e-4, 'sized for the tiny model': 0.01, 'borrowed from GRPO': 0.2 }),
    dualClip(0),
    beta,
  ],
  ...clippedObjective(tokenCarrying(ratioAt('sequence'), 'sequence'), logRatioAt('sequence'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
