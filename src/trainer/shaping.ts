import type { RunConfig } from '../config/runConfig';
import { softOverlongPenalty } from '../objectives';
import type { Task } from '../tasks/task';

/** What shaped rewards are made from; arrays are over rows. */
export interface ShapingInput {
  /** As earned. */
  rewards: readonly number[];
  /** Response tokens. */
  lengths: ArrayLike<number>;
  /** Nats, over response tokens; refLogp is null without a reference. */
  oldLogp: readonly ArrayLike<number>[];
  refLogp: readonly ArrayLike<number>[] | null;
}

/**
 * The reward that arrives with each token, from which advantages are formed; [R][T]. With the last one comes what was earned, plus
 * DAPO's soft overlong penalty; with each comes minus beta times the k1 estimate of KL(old || reference) at that token when the
 * settings place the KL in the reward (PPO for language models). The reports keep what was earned.
 */
export function tokenRewards(config: Pick<RunConfig, 'overlongCache' | 'klPlacement' | 'beta'>, task: Pick<Task, 'maxNewTokens'>, input: ShapingInput): Float64Array[] {
  const { refLogp } = input;
  const beta = config.klPlacement === 'reward' && refLogp ? config.beta : 0;
  return input.rewards.map((reward, r) => {
    const length = input.lengths[r];
    const out = new Float64Array(length);
    out[length - 1] = reward + softOverlongPenalty(length, task.maxNewTokens, config.overlongCache);
    if (beta > 0 && refLogp) for (let t = 0; t < length; t++) out[t] -= beta * (input.oldLogp[r][t] - refLogp[r][t]);
    return out;
  });
}

/** What each answer earned in all, for estimators that look at whole answers; [R]. */
export function answerRewards(arriving: readonly Float64Array[]): number[] {
  return arriving.map((row) => row.reduce((sum, reward) => sum + reward, 0));
}
