import type { Level } from '../core/levels';
import { baseOf, getObjective, mixtureOf } from '../objectives';
import { answersOf, clipWidthsOf, estimatorOf, hyperparametersOf } from './hyper';
import type { RunConfig } from './runConfig';

/** A band this wide at a unit's level was meant for tokens: means of many log ratios do not spread so far. */
const BORROWED_WIDTH = 0.1;
/** A band this narrow at the token level was meant for the means of whole answers. */
const ANSWER_WIDTH = 0.01;

/** Each looks at one known-bad mixture and says in words what goes wrong, or null (numbers: algorithms.md section 11). */
const RULES: readonly ((config: RunConfig) => string | null)[] = [
  // 10: a loss per answer, broadcast over tokens.
  (config) =>
    ratioLevelOf(config) === 'sequence' && config.lossAggMode !== 'seq-mean-token-mean'
      ? 'A ratio per answer with a sum or mean over tokens: every token repeats its answer’s loss, so long answers weigh more. GSPO takes the mean over answers.'
      : null,
  // 11: a width borrowed from another level.
  (config) => {
    const level = clipLevelOf(config);
    const { low, high } = clipWidthsOf(config)[level];
    const { hyperparameters } = getObjective(config.objective);
    if (!hyperparameters.some((h) => h.name === 'clipLow')) return null;
    if (level === 'token') return Math.max(low, high) <= ANSWER_WIDTH ? 'An answer’s clip width on token ratios: single tokens move further than the mean of an answer, so most of what moves is cut.' : null;
    return Math.min(low, high) >= BORROWED_WIDTH ? `A token’s clip width on a ratio per ${level === 'sequence' ? 'answer' : 'subsentence'}: it hardly ever binds, so ${level === 'sequence' ? 'nothing' : 'little'} limits the updates.` : null;
  },
  // The two levels apart.
  (config) =>
    ratioLevelOf(config) === 'token' && clipLevelOf(config) !== 'token' && isMixed(config)
      ? `Tokens weigh by their own ratio, but only the ${clipLevelOf(config) === 'sequence' ? 'answer’s' : 'subsentence’s'} mean is held in a band: one exploded token hides in the mean and weighs in full. A dual clip bounds it where A < 0.`
      : null,
  (config) =>
    ratioLevelOf(config) !== 'token' && clipLevelOf(config) === 'token' && isMixed(config)
      ? 'Tokens are cut one by one, but what is left weighs by a mean that the cut tokens still move.'
      : null,
  // A unit's ratio, not carried by its tokens, with credit of their own.
  (config) =>
    estimatorOf(config) === 'gae' && ['gspo', 'gmpo'].includes(baseOf(config.objective)) && ratioLevelOf(config) === 'sequence'
      ? 'One ratio per answer with an advantage per token: a token that is cut still moves the mean that its neighbours share. GSPO-token gives each token its own gradient.'
      : null,
  // 23: Dr.GRPO's constant is no mean.
  (config) =>
    config.lossAggMode === 'constant' && getObjective(config.objective).lossAggMode !== 'constant'
      ? 'Divided by the length budget and not by tokens: gradients are smaller than elsewhere by length over budget, and the gradient norm limit acts less.'
      : null,
  // 39, 40: what dividing by the spread was for.
  (config) => (estimatorOf(config) === 'reward' && config.objective !== 'rft' ? 'No baseline: every right answer is pushed up and no wrong one down, whatever the others earned.' : null),
  (config) =>
    config.overlongCache > 0 && config.objective === 'rft' && estimatorOf(config) === 'reward'
      ? 'RFT drops what earned less than nothing, so the length penalty only makes long right answers weigh less.'
      : null,
  // 44: an offset mistaken for an absolute cap.
  (config) => {
    const { cap } = hyperparametersOf(config);
    return config.objective === 'cispo' && cap !== undefined && cap < 1
      ? 'A cap below 1 is an absolute ratio, not a distance from 1: nearly every weight is the cap, and the ratio no longer matters.'
      : null;
  },
  // 18: sums of log ratios.
  (config) =>
    config.mismatchCorrection.startsWith('sequence')
      ? 'A weight per answer is a product over its tokens: long answers are cut or damped more than short ones.'
      : null,
  (config) =>
    config.klPlacement === 'reward' && config.beta > 0 && ['groupMeanStd', 'smoothed'].includes(estimatorOf(config))
      ? 'A KL in the reward makes every group differ a little, and dividing by the spread blows that difference up: groups that are all right or all wrong then train on it alone.'
      : null,
  (config) =>
    config.dynamicSampling && estimatorOf(config) === 'smoothed'
      ? 'Groups whose answers are all alike are left out, although smoothing gives them an advantage once their prompt has come before: the one undoes the other.'
      : null,
  (config) => (config.dynamicSampling && config.groupSize === 1 && answersOf(config) !== 'several' ? 'With one answer per prompt there are no groups to leave out.' : null),
];

const clipLevelOf = (config: RunConfig): Level => getObjective(config.objective).importanceSamplingLevel;

/** Level of the ratio that weighs the advantage; where it cannot be set it is the one that the objective is about. */
function ratioLevelOf(config: RunConfig): Level {
  if (config.objective === 'gmpo') return 'sequence';
  return mixtureOf(config.objective)?.ratioLevel ?? clipLevelOf(config);
}

const isMixed = (config: RunConfig): boolean => baseOf(config.objective) !== config.objective;

/** What is known to go wrong with these settings together, a sentence or two each; empty for most. */
export function mixtureWarnings(config: RunConfig): string[] {
  return RULES.flatMap((rule) => rule(config) ?? []);
}
