import { advantage, div, gt, hyper, mul, named, neg, select, sigmoid, sub } from '../expr';
import { defineObjective } from '../objective';
import type { HyperparameterSpec } from '../types';
import { beta, ratioAt, unclippedObjective } from './shared';

const tau = named('temperature', '\\tau_{i,t}', null, select(gt(advantage, 0), hyper('tauPos'), hyper('tauNeg')));
const gate = named('softGate', 'f_{i,t}', 'token', mul(sigmoid(mul(tau, sub(ratioAt('token'), 1))), div(4, tau)));

const temperature = (name: string, sign: string, tex: string, value: number): HyperparameterSpec => ({
  name,
  label: `Gate steepness, A ${sign} 0`,
  help: `How fast the weight of a token with A ${sign} 0 fades as its ratio leaves 1: its gradient is scaled by 4p(1 - p) with p = sigmoid(this times (ratio - 1)).`,
  unit: 'dimensionless',
  tex,
  default: value,
  min: 0.01,
  max: 100,
  step: 0.05,
  named: { paper: value },
});

export const sapo = defineObjective({
  id: 'sapo',
  title: 'SAPO',
  summary:
    'A soft gate in place of a clip: the token ratio passes through a sigmoid, so its gradient is whole at ratio 1 and fades smoothly on both sides instead of being cut at an edge. Tokens with A < 0 fade a little faster, because pushing a token down raises many others at once.',
  caveat: null,
  sources: [
    { label: 'SAPO', url: 'https://arxiv.org/abs/2511.20347', note: 'Sigmoid gate f(r) = sigmoid(tau (r - 1)) 4 / tau; tau 1.0 and 1.05.' },
    { label: 'TRL, paper index', url: 'https://huggingface.co/docs/trl/main/en/paper_index', note: 'The same formula and defaults, with the mean over answers of the mean over tokens.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'seq-mean-token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [temperature('tauPos', '>', '\\tau_{\\text{pos}}', 1), temperature('tauNeg', '<', '\\tau_{\\text{neg}}', 1.05), beta],
  ...unclippedObjective(neg(mul(gate, advantage))),
});
