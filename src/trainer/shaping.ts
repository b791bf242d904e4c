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
 * The rewards that advantages are formed from: what was earned, plus DAPO's soft overlong penalty, minus beta times the k1 estimate
 * of KL(old || reference) summed over the answer when the settings place the KL there. The reports keep what was earned.
 */
export function shapedRewards(config: Pick<RunConfig, 'overlongCache' | 'klPlacement' | 'beta'>, task: Pick<Task, 'maxNewTokens'>, input: ShapingInput): number[] {
  const { refLogp } = input;
  const beta = config.klPlacement === 'reward' && refLogp ? config.beta : 0;
  return input.rewards.map((reward, r) => {
    let shaped = reward + softOverlongPenalty(input.lengths[r] as number, task.maxNewTokens, config.overlongCache);
    if (beta > 0 && refLogp) {
      const old = input.oldLogp[r] as ArrayLike<number>;
      const ref = refLogp[r] as ArrayLike<number>;
      for (let t = 0; t < old.length; t++) shaped -= beta * ((old[t] as number) - (ref[t] as number));
    }
    return shaped;
  });
}
