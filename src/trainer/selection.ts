import type { RunConfig } from '../config/runConfig';
import { Rng } from '../core/rng';
import { deadRows } from '../objectives';
import type { Rollout } from './rollout';
import { STREAM } from './streams';

/** Group (prompt) id of each row; [R]. */
export function groupsOf(rows: number, groupSize: number): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, r) => Math.floor(r / groupSize));
}

/**
 * Rows that take part in the updates: all; or without the groups that can teach nothing, of the others at most as many as prompts were
 * asked for; or without answers that were cut off. Where that leaves none all stay, so that an iteration always has its updates:
 * what cannot teach has advantage 0, and cut-off answers get no weight (hasNoWeight).
 * @param rewards as advantages are formed from; [R]
 */
export function trainedRows(config: Pick<RunConfig, 'dynamicSampling' | 'overlongFilter' | 'prompts'>, rollout: Pick<Rollout, 'groupSize' | 'truncated'>, rewards: readonly number[]): number[] {
  const { groupSize, truncated } = rollout;
  const all = Array.from(rewards, (_, r) => r);
  let rows = all;
  if (config.dynamicSampling && groupSize > 1) {
    const dead = deadRows(rewards, groupsOf(rewards.length, groupSize));
    rows = all.filter((r) => !dead[r]).slice(0, config.prompts * groupSize);
    // Nothing to learn from in any group: one rollout's worth of them keeps the updates their size.
    if (rows.length === 0) rows = all.slice(0, config.prompts * groupSize);
  }
  if (!config.overlongFilter) return rows;
  const ended = rows.filter((r) => !truncated[r]);
  return ended.length > 0 ? ended : rows;
}

/** True where cut-off answers are to be left out but nothing else was drawn (pitfall 25): the updates are then made without any weight. */
export function hasNoWeight(config: Pick<RunConfig, 'overlongFilter'>, { truncated }: Pick<Rollout, 'truncated'>, trained: readonly number[]): boolean {
  return config.overlongFilter && trained.every((r) => truncated[r]);
}

/** The rows of each minibatch, drawn anew for each epoch; nearly equal parts where they do not divide. */
export function minibatchRows(config: Pick<RunConfig, 'seed' | 'minibatches'>, step: number, epoch: number, rows: number): number[][] {
  const order = new Rng(config.seed, STREAM.minibatchRows, step, epoch).shuffle(Array.from({ length: rows }, (_, r) => r));
  const start = (i: number): number => Math.round((i * rows) / config.minibatches);
  return Array.from({ length: config.minibatches }, (_, i) => order.slice(start(i), start(i + 1)));
}

/** Rows that one forward pass takes at a time: as many as one update does. */
export const rowsPerPass = (config: Pick<RunConfig, 'prompts' | 'groupSize' | 'minibatches'>): number => (config.prompts * config.groupSize) / config.minibatches;
