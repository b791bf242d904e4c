import { add, clamp, div, exp, hyper, max, min, mul, named, oldLogp, sqrt, sub } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedSurrogate, clipWidth, dualClip, klPenalty, logRatioAt, ratioAt } from './shared';

/** No ratio is let further than this, however unlikely the token was. */
const CAP = 10;

const q = named('oldProbability', 'q_{i,t}', 'token', exp(clamp(oldLogp)));
const lower = named('lowerEdge', 'b_{i,t}', 'token', add(0.5, mul(0.5, sqrt(max(sub(1, div(mul(4, hyper('clipLow')), q)), 0)))));
const upper = named('upperEdge', 'B_{i,t}', 'token', min(add(0.5, mul(0.5, sqrt(add(1, div(mul(4, hyper('clipHigh')), q))))), CAP));
const surrogate = clippedSurrogate(ratioAt('token'), { lower, upper }, max(hyper('dualClip'), CAP));

export const dcpo = defineObjective({
  id: 'dcpo',
  title: 'DCPO',
  summary:
    'A token ratio as in GRPO, with a band that depends on how likely the token was. What is bounded is the change of probability, |r - 1| times the probability, so a token of probability .9 may move from .77 to 1.19 and one of .01 up to 5. Rare tokens, which exploration lives on, are cut far less often, and likely ones sooner. Advantages are smoothed over the visits of a prompt, so that a group whose answers are all alike can still teach once its prompt has come before.',
  caveat: 'The paper trains on a fixed set of prompts, epoch after epoch. Here prompts are drawn at random and seldom come twice; as long as they do not, the smoothing changes nothing. Paper and code disagree on the widths (.16/.2 and .2/.28); these are the paper\'s.',
  sources: [
    { label: 'DCPO', url: 'https://arxiv.org/abs/2509.02333', note: 'Bounds from the old probability; .16/.2, upper edge at most 10; token-mean; smooth advantage standardisation.' },
    { label: 'lime-RL/DCPO', url: 'https://github.com/lime-RL/DCPO', note: 'The dual clip acts at max(c, 10).' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'smoothed',
  hyperparameters: [
    {
      ...clipWidth('low', 0.16, 'token', { paper: 0.16, code: 0.2 }),
      help: 'Bounds |ratio - 1| times the token\'s probability on the way down: the lower edge is 1/2 + 1/2 sqrt(1 - 4 times this / old probability), or 1/2.',
    },
    {
      ...clipWidth('high', 0.2, 'token', { paper: 0.2, code: 0.28 }),
      help: 'Bounds |ratio - 1| times the token\'s probability on the way up: the upper edge is 1/2 + 1/2 sqrt(1 + 4 times this / old probability), at most 10.',
    },
    { ...dualClip(3), help: 'With A < 0 the loss never exceeds max(this, 10) times |A|: the bound acts at 10 unless a greater one is given; 0 turns it off.' },
    beta,
  ],
  loss: add(surrogate.loss, klPenalty()),
  logRatio: logRatioAt('token'),
  clipped: surrogate.clipped,
  clipEffect: 'cut',
  widths: { low: sub(1, lower), high: sub(upper, 1) },
  isClippedSurrogate: true,
});
