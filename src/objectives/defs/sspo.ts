import { clip, entropyRatio, hyper, mul, named } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt, tokenCarrying } from './shared';

const scale = named('entropyScale', '\\kappa_{i,k}', 'segment', clip(entropyRatio, hyper('entropyScaleLow'), hyper('entropyScaleHigh')));

export const sspo = defineObjective({
  id: 'sspo',
  title: 'SSPO',
  summary:
    'A ratio per subsentence, as in LPO, with a band that follows entropy: where the old policy was undecided the subsentence may move further, where it was sure less. The factor is the mean entropy of the subsentence over that of the batch, held between two bounds.',
  caveat:
    'Re-implementation from the abstract and from LPO, which the paper cites: the full text could not be read. The cutting rule, the entropy rule and all constants are ours.',
  sources: [
    { label: 'SSPO', url: 'https://arxiv.org/abs/2511.04256', note: 'Abstract: ratio per (sub)sentence, entropy-adaptive clip bounds.' },
    { label: 'Ling 2.0 (LPO)', url: 'https://arxiv.org/abs/2510.22115', note: 'Section 4.2.2: the ratio, the aggregation and the band .03.' },
  ],
  importanceSamplingLevel: 'segment',
  lossAggMode: 'token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    clipWidth('low', 0.03, 'subsentence', { LPO: 0.03, 'sized for the tiny model': 0.05, 'borrowed from GRPO': 0.2 }),
    clipWidth('high', 0.03, 'subsentence', { LPO: 0.03, 'sized for the tiny model': 0.05, 'borrowed from GRPO': 0.2 }),
    {
      name: 'entropyScaleLow',
      label: 'Least entropy factor',
      help: 'The band of a low-entropy subsentence shrinks to no less than this times the clip width; 1 here and 1 above turn the scaling off. Ours.',
      unit: 'dimensionless',
      tex: '\\kappa_{\\text{low}}',
      default: 0.5,
      min: 0,
      max: 1,
      step: 0.05,
      named: { ours: 0.5, off: 1 },
    },
    {
      name: 'entropyScaleHigh',
      label: 'Greatest entropy factor',
      help: 'The band of a high-entropy subsentence grows to no more than this times the clip width. Ours.',
      unit: 'dimensionless',
      tex: '\\kappa_{\\text{high}}',
      default: 2,
      min: 1,
      max: 10,
      step: 0.05,
      named: { off: 1, ours: 2 },
    },
    dualClip(0),
    beta,
  ],
  ...clippedObjective(tokenCarrying(ratioAt('segment')), logRatioAt('segment'), {
    low: mul(hyper('clipLow'), scale),
    high: mul(hyper('clipHigh'), scale),
  }),
});
