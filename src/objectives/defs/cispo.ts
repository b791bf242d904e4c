import { add, advantage, clip, gt, hyper, logp, lt, mul, named, neg, or, stopGrad, sub } from '../expr';
import { defineObjective } from '../objective';
import { beta, klPenalty, logRatioAt, ratioAt } from './shared';

const ratio = ratioAt('token');
const floor = hyper('floor');
const cap = hyper('cap');
const held = named('heldRatio', '\\tilde{r}_{i,t}', 'token', clip(ratio, floor, cap));

export const cispo = defineObjective({
  id: 'cispo',
  title: 'CISPO',
  summary:
    'REINFORCE with a bounded importance weight: the token ratio only weighs the gradient of log pi, detached, and is held between an absolute floor and cap. No token ever loses its gradient; one whose ratio has run off merely weighs no more than the cap. The value of the loss means nothing by itself: read the coefficients.',
  caveat: 'Floor and cap are ratios, not distances from 1. The paper keeps its cap to itself; 5 is the advice of ScaleRL, second-hand.',
  sources: [
    { label: 'MiniMax-M1', url: 'https://arxiv.org/abs/2506.13585', note: 'CISPO: clipped, detached importance weight on the policy gradient; no lower bound.' },
    { label: 'ScaleRL', url: 'https://arxiv.org/abs/2510.13786', note: 'An absolute cap of 4 to 8, not sensitive (read through the TRL docs).' },
    { label: 'TRL, paper index', url: 'https://huggingface.co/docs/trl/main/en/paper_index', note: 'There the cap is epsilon_high itself, so that the general default .2 caps every weight at .2.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [
    {
      name: 'floor',
      label: 'Least weight',
      help: 'A token ratio below this counts as this (an absolute ratio, not a distance from 1); 0 is no floor.',
      unit: 'dimensionless',
      tex: 'r_{\\text{floor}}',
      default: 0,
      min: 0,
      max: 1,
      step: 0.01,
      named: { paper: 0, 'verl, low 10': 0, 'PPO-like': 0.8 },
    },
    {
      name: 'cap',
      label: 'Greatest weight',
      help: 'A token ratio above this counts as this (an absolute ratio, not a distance from 1). Below 1 every token that moved up is damped.',
      unit: 'dimensionless',
      tex: 'r_{\\text{cap}}',
      default: 5,
      min: 0.01,
      max: 1000,
      step: 0.1,
      named: { 'ScaleRL, low': 4, ScaleRL: 5, 'ScaleRL, high': 8, 'verl, high .2': 1.2, 'TRL default, a trap': 0.2 },
    },
    beta,
  ],
  loss: add(neg(mul(mul(stopGrad(held), advantage), logp)), klPenalty()),
  logRatio: logRatioAt('token'),
  clipped: or(lt(ratio, floor), gt(ratio, cap)),
  clipEffect: 'hold',
  widths: { low: sub(1, floor), high: sub(cap, 1) },
  isClippedSurrogate: false,
  // verl counts every weight that was held; TRL those above the cap with A > 0.
  aliases: ({ own }) => ({ 'actor/pg_clipfrac': own.outside.tokens.both, cispo_clip_ratio: own.binding.tokens.high }),
});
