import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const drGrpo = defineObjective({
  id: 'drGrpo',
  title: 'Dr.GRPO',
  summary:
    'GRPO with two divisions taken out. Token losses are divided by a constant, the generation budget, and not by the length of their answer, so a long wrong answer is pushed down as hard per token as a short one; and the advantage is the reward minus the group mean, not divided by the spread, so very easy and very hard prompts weigh no more than others. Ratio and clip are those of GRPO.',
  caveat: null,
  sources: [
    { label: 'Dr. GRPO', url: 'https://arxiv.org/abs/2503.20783', note: 'No division by length or by the standard deviation.' },
    { label: 'sail-sg/understand-r1-zero', url: 'https://github.com/sail-sg/understand-r1-zero', note: 'The constant divisor is the generation budget; beta 0, one epoch, 8 answers to a prompt.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'constant',
  advantageEstimator: 'groupMean',
  hyperparameters: [clipWidth('low', 0.2, 'token', { usual: 0.2 }), clipWidth('high', 0.2, 'token', { usual: 0.2, 'DAPO clip-higher': 0.28 }), dualClip(0), beta],
  ...clippedObjective(ratioAt('token'), logRatioAt('token'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
