import type { Rng } from '../core/rng';

/** Words without meaning for the reward that give the text some entropy, each a subsentence of its own. */
const FILLERS = ['ok,', 'so,', 'hm,'] as const;
const FILLER_RATE = 0.3;

/** The pattern of an optional filler, for the shape checks. */
export const FILLER_PATTERN = '(?:(?:ok|so|hm),)?';

/** A filler with probability .3, else nothing. */
export function maybeFiller(rng: Rng): string {
  return rng.uniform() < FILLER_RATE ? rng.pick(FILLERS) : '';
}

/** A number that is off by 1 or 2 in either direction; below `low` it becomes low + 1, above `high` high - 1. */
export function slipped(rng: Rng, value: number, low: number, high: number): number {
  const moved = value + rng.pick([-2, -1, 1, 2]);
  return moved < low ? low + 1 : moved > high ? high - 1 : moved;
}

/**
 * The final answer of a response: the text after the last `.` or `,`, up to the one `;` that must end it.
 * Null when there is no `;` at the end or more than one.
 */
export function finalAnswer(response: string): string | null {
  if (response.indexOf(';') !== response.length - 1) return null;
  const start = Math.max(response.lastIndexOf('.'), response.lastIndexOf(',')) + 1;
  return response.slice(start, -1);
}
