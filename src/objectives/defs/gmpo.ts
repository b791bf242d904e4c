import { add, advantage, and, clamp, exp, gt, hyper, lt, max, mean, min, mul, named, neg, or, select, sub } from '../expr';
import { defineObjective } from '../objective';
import { beta, clipWidth, delta, klPenalty, logRatioAt } from './shared';

const low = hyper('clipLow');
const high = hyper('clipHigh');
const clippedDelta = named('clippedDelta', 'm_{i,t}', 'token', select(gt(advantage, 0), min(delta, high), max(delta, neg(low))));
const geometricMean = named('geometricMean', 'g_i', 'sequence', exp(clamp(mean('sequence', clippedDelta))));

const logWidth = (side: 'low' | 'high') => {
  const below = side === 'low';
  return {
    ...clipWidth(side, 0.4, 'token', { paper: 0.4, 'paper, narrow': 0.2, 'paper, wide': 0.8 }),
    label: below ? 'Clip width below, log' : 'Clip width above, log',
    help: below
      ? 'A token with A < 0 counts no further than this many nats below 0 in the mean log ratio, and gets no gradient beyond.'
      : 'A token with A > 0 counts no further than this many nats above 0 in the mean log ratio, and gets no gradient beyond.',
    unit: 'nats',
  };
};

export const gmpo = defineObjective({
  id: 'gmpo',
  title: 'GMPO',
  summary:
    'The geometric mean of the token ratios of an answer weighs all its tokens, as in GSPO, but each token is clipped before the mean is taken, on one side and on the scale of log ratios. One exploded token is then held back alone, where GSPO would keep or lose the whole answer, and its neighbours keep their gradient.',
  caveat: 'The two widths are log ratios (nats): .4 is a band of .67 to 1.49 in ratios.',
  sources: [
    { label: 'GMPO', url: 'https://arxiv.org/abs/2507.20673', note: 'Geometric mean of one-sidedly clipped token ratios; log band .4.' },
    { label: 'callsys/GMPO', url: 'https://github.com/callsys/GMPO', note: 'The clip in log space, before the mean.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'seq-mean-token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [logWidth('low'), logWidth('high'), beta],
  loss: add(neg(mul(geometricMean, advantage)), klPenalty()),
  logRatio: logRatioAt('token'),
  clipped: or(and(gt(advantage, 0), gt(delta, high)), and(lt(advantage, 0), lt(delta, neg(low)))),
  clipEffect: 'cut',
  widths: { low: sub(1, exp(neg(low))), high: sub(exp(high), 1) },
  isClippedSurrogate: false,
  // verl's geo_mean counts both sides of the band, by the sign of the advantage; its "lower" is no dual clip.
  aliases: ({ share }) => ({
    'actor/pg_clipfrac': share(({ isOutside, advantage: a }) => isOutside && a > 0),
    'actor/pg_clipfrac_lower': share(({ isOutside, advantage: a }) => isOutside && a < 0),
  }),
});
