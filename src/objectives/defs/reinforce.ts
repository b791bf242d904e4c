import { advantage, logp, mul, neg } from '../expr';
import { defineObjective } from '../objective';
import { beta, unclippedObjective } from './shared';

export const reinforce = defineObjective({
  id: 'reinforce',
  title: 'REINFORCE',
  summary:
    'The policy gradient as it was first written: log pi of every token, weighed by reward minus the mean reward of the batch. There is no importance ratio, so every update treats the rollout as if the present policy had sampled it; with many updates per rollout that is a bias which nothing here limits. Every other objective becomes this one while all ratios are 1.',
  caveat: null,
  sources: [
    { label: 'Williams 1992', url: 'https://doi.org/10.1007/BF00992696', note: 'The estimator, with a baseline.' },
    { label: 'Back to Basics (RLOO)', url: 'https://arxiv.org/abs/2402.14740', note: 'REINFORCE for language models, and the leave-one-out baseline, which can be chosen as the source of the advantage.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'batchMean',
  hyperparameters: [beta],
  ...unclippedObjective(neg(mul(logp, advantage))),
});
