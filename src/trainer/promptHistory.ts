import { withVisit } from '../objectives';
import type { PastRewards } from '../objectives';
import type { Rollout } from './rollout';

/** Prompts that are remembered; beyond them the one that has not come for longest is forgotten, so that a long run has bounded memory. */
const MOST = 100_000;

/** What answers to each prompt have earned over a run, for advantages that are smoothed over its visits (DCPO). */
export class PromptHistory {
  private readonly past = new Map<string, PastRewards>();
  private readonly most: number;

  constructor(most = MOST) {
    this.most = most;
  }

  /** Oldest first. */
  saveState(): [string, PastRewards][] {
    return [...this.past];
  }

  loadState(state: readonly (readonly [string, PastRewards])[]): void {
    this.past.clear();
    for (const [prompt, past] of state) this.past.set(prompt, past);
  }

  /** Prompts remembered. */
  get size(): number {
    return this.past.size;
  }

  of(prompt: string): PastRewards | null {
    return this.past.get(prompt) ?? null;
  }

  /** Takes in a rollout, a visit for each of its groups; `rewards` [R] as advantages are formed from. NaN is left out. */
  add({ prompts, groupSize }: Pick<Rollout, 'prompts' | 'groupSize'>, rewards: readonly number[]): void {
    prompts.forEach((prompt, group) => {
      const earned = rewards.slice(group * groupSize, (group + 1) * groupSize).filter((reward) => !Number.isNaN(reward));
      if (earned.length === 0) return;
      const next = withVisit(this.of(prompt), earned);
      // Deleting first makes it the newest of the map.
      this.past.delete(prompt);
      this.past.set(prompt, next);
    });
    for (const prompt of this.past.keys()) {
      if (this.past.size <= this.most) return;
      this.past.delete(prompt);
    }
  }
}
