import { advantage, logp, lt, max, mul, neg } from '../expr';
import { defineObjective } from '../objective';
import { beta, unclippedObjective } from './shared';

export const rft = defineObjective({
  id: 'rft',
  title: 'RFT',
  summary:
    'Rejection-sampling fine-tuning: right answers are imitated, wrong ones are dropped. No ratio, no clip, no baseline. Where one right answer exists and the base policy already finds it now and then, this is hard to beat: an honest reference for all others.',
  caveat: 'A negative advantage, should one be given, counts as 0; a token that was dropped so is reported as clipped.',
  sources: [
    { label: 'RFT', url: 'https://arxiv.org/abs/2308.01825', note: 'Fine-tuning on the model\'s own right answers.' },
    { label: 'RAFT', url: 'https://arxiv.org/abs/2304.06767', note: 'The same, iterated over fresh samples.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'reward',
  hyperparameters: [beta],
  ...unclippedObjective(neg(mul(logp, max(advantage, 0)))),
  clipped: lt(advantage, 0),
  clipEffect: 'cut',
});
