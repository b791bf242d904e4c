import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt, tokenCarrying } from './shared';

export const lpo = defineObjective({
  id: 'lpo',
  title: 'LPO',
  summary:
    'The response is cut at punctuation; each subsentence has one ratio, the geometric mean of its token ratios, and is kept or clipped as a whole. Between GRPO (a ratio per token) and GSPO (a ratio per response).',
  caveat: null,
  sources: [
    { label: 'Ling 2.0', url: 'https://arxiv.org/abs/2510.22115', note: 'Section 4.2.2: objective, cut at pause punctuation, band .03, token-mean.' },
    { label: 'GSPO', url: 'https://arxiv.org/abs/2507.18071', note: 'The token form of a unit ratio (eq. 14), which makes per-token advantages well defined.' },
  ],
  importanceSamplingLevel: 'segment',
  lossAggMode: 'token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    clipWidth('low', 0.03, 'subsentence', { paper: 0.03, 'sized for the tiny model': 0.05, 'borrowed from GRPO': 0.2 }),
    clipWidth('high', 0.03, 'subsentence', { paper: 0.03, 'sized for the tiny model': 0.05, 'borrowed from GRPO': 0.2 }),
    dualClip(0),
    beta,
  ],
  ...clippedObjective(tokenCarrying(ratioAt('segment')), logRatioAt('segment'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
