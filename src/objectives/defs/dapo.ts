import { hyper } from '../expr';
import { defineObjective } from '../objective';
import { beta, clippedObjective, clipWidth, dualClip, logRatioAt, ratioAt } from './shared';

export const dapo = defineObjective({
  id: 'dapo',
  title: 'DAPO',
  summary:
    'GRPO with a wider band above than below (clip-higher), so that unlikely tokens may rise further before they are cut and entropy lasts longer, and with every token of the batch counting the same, so that long answers are not diluted. Three more parts concern the batch and not the loss, and are settings of the run: other prompts are drawn in place of groups whose answers all earn the same (dynamic sampling), answers that were cut off can be left out (overlong filtering), and answers near the length budget lose reward (soft overlong penalty).',
  caveat: null,
  sources: [
    { label: 'DAPO', url: 'https://arxiv.org/abs/2503.14476', note: 'Band .2/.28, token-level loss, dynamic sampling, soft overlong punishment, no KL.' },
    { label: 'verl, DAPO recipe', url: 'https://github.com/volcengine/verl/blob/main/docs/algo/dapo.md', note: 'Settings and a reproduction table.' },
  ],
  importanceSamplingLevel: 'token',
  lossAggMode: 'token-mean',
  advantageEstimator: 'groupMeanStd',
  hyperparameters: [clipWidth('low', 0.2, 'token', { paper: 0.2 }), clipWidth('high', 0.28, 'token', { usual: 0.2, paper: 0.28 }), dualClip(0), beta],
  ...clippedObjective(ratioAt('token'), logRatioAt('token'), { low: hyper('clipLow'), high: hyper('clipHigh') }),
});
