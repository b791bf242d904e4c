import { mean, pearson, spearman } from '../core/statistics';
import type { Calibration, CalibrationBin } from './report';

/** How many iterations a calibration looks back: long enough for every range of V to be met, short enough that V is still of this policy. */
const ITERATIONS = 10;
const BINS = 10;

/** One iteration's answers: what V(prompt) promised, and what was earned; [R] each. */
export interface Promised {
  values: Float64Array;
  rewards: Float64Array;
}

/** Keeps what V(prompt) promised and what was earned, of the last iterations. */
export class CalibrationWindow {
  private kept: readonly Promised[] = [];

  saveState(): readonly Promised[] {
    return this.kept;
  }

  loadState(state: readonly Promised[]): void {
    this.kept = state;
  }

  /** Takes one iteration's answers; [R] each. */
  add(values: ArrayLike<number>, rewards: ArrayLike<number>): void {
    this.kept = [...this.kept, { values: Float64Array.from(values), rewards: Float64Array.from(rewards) }].slice(-ITERATIONS);
  }

  report(): Calibration {
    const values = this.kept.flatMap((k) => Array.from(k.values));
    const rewards = this.kept.flatMap((k) => Array.from(k.rewards));
    const members = Array.from({ length: BINS }, (): number[] => []);
    values.forEach((v, i) => members[Math.min(BINS - 1, Math.max(0, Math.floor(v * BINS)))]?.push(i));
    return {
      iterations: this.kept.length,
      answers: values.length,
      bins: members.flatMap((of, b): CalibrationBin[] => {
        if (of.length === 0) return [];
        return [{ from: b / BINS, to: (b + 1) / BINS, count: of.length, meanValue: mean(of.map((i) => values[i])), successRate: mean(of.map((i) => rewards[i])) }];
      }),
      pearson: pearson(values, rewards),
      spearman: spearman(values, rewards),
    };
  }
}
