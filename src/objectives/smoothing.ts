import { areAlike, rowsByGroup, standardise, type AdvantageStd } from './advantages';

/** What is remembered of the rewards that answers to one prompt have earned so far. */
export interface PastRewards {
  /** How often answers to the prompt were drawn, and how many answers in all. */
  visits: number;
  answers: number;
  mean: number;
  /** Sum of squared deviations from the mean. */
  squares: number;
  lowest: number;
  highest: number;
}

/** The past with the rewards of one more visit in it; pooled, so that it is the statistics of all answers together. Rewards must be numbers. */
export function withVisit(past: PastRewards | null, rewards: readonly number[]): PastRewards {
  const n = rewards.length;
  const mean = rewards.reduce((sum, r) => sum + r, 0) / n;
  const squares = rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0);
  const [lowest, highest] = [Math.min(...rewards), Math.max(...rewards)];
  if (!past) return { visits: 1, answers: n, mean, squares, lowest, highest };
  const answers = past.answers + n;
  const apart = mean - past.mean;
  return {
    visits: past.visits + 1,
    answers,
    mean: past.mean + (apart * n) / answers,
    squares: past.squares + squares + (apart ** 2 * past.answers * n) / answers,
    lowest: Math.min(past.lowest, lowest),
    highest: Math.max(past.highest, highest),
  };
}

/**
 * DCPO's smooth advantage standardisation (arXiv 2509.02333). A reward is standardised twice, by the mean and sd of this visit's group and by those of all
 * answers to the prompt up to now; at the i-th visit the two are mixed with weights (i - 1)/i and 1/i, both ways round, and the mixture
 * of smaller size counts. At a prompt's first visit this is the group's own standardisation; a group whose rewards are all alike
 * has an advantage once its prompt has earned other rewards before.
 * @param rewards [B]; NaN is left out and gets 0
 * @param groups group id of each response; [B]
 * @param pastOf what was remembered of a group's prompt before this visit
 */
export function smoothedAdvantages(rewards: ArrayLike<number>, groups: ArrayLike<number>, pastOf: (group: number) => PastRewards | null = () => null, std: AdvantageStd = 'population', epsilon?: number): Float64Array {
  const out = new Float64Array(rewards.length);
  const within = (reward: number, { lowest, highest, mean, squares, answers }: PastRewards) => (areAlike(lowest, highest) ? 0 : standardise(reward, mean, squares, answers, std, epsilon));
  for (const rows of rowsByGroup(rewards, groups)) {
    if (rows.length === 0) continue;
    const own = rows.map((i) => rewards[i]);
    const visit = withVisit(null, own);
    const all = withVisit(pastOf(groups[rows[0]]), own);
    const share = 1 / all.visits;
    for (const i of rows) {
      const [now, total] = [within(rewards[i], visit), within(rewards[i], all)];
      const [near, far] = [(1 - share) * now + share * total, share * now + (1 - share) * total];
      out[i] = Math.abs(near) < Math.abs(far) ? near : far;
    }
  }
  return out;
}
