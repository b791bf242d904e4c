import { mean, variance } from '../../core/statistics';
import type { BatchRecord } from '../../worker/protocol';

/** What a token critic says along answers that turned out right, and along those that turned out wrong. */

/** Places along an answer at which V is averaged: 0 (before the first token) to 1 (before the last), in tenths. */
export const PLACES = 10;

export interface ProgressLine {
  answers: number;
  /** Mean V over those answers at each place, and 1.96 standard errors of that mean (0 for a single answer); [PLACES + 1]. Empty without answers. */
  means: number[];
  margins: number[];
}

export interface Progress {
  /** How many iterations the answers came from. */
  iterations: number;
  right: ProgressLine;
  wrong: ProgressLine;
}

/** V at a share of the way from the first to the last token, between two tokens on the straight line. `values`: [T], T >= 1. */
export function valueAt(values: ArrayLike<number>, share: number): number {
  const at = share * (values.length - 1);
  const before = Math.min(Math.floor(at), values.length - 1);
  const after = Math.min(before + 1, values.length - 1);
  return values[before] + (at - before) * (values[after] - values[before]);
}

/** Averages over the newest `iterations` batches that hold V before each token; null when none does. */
export function valueProgress(batches: readonly BatchRecord[], iterations = 10): Progress | null {
  const used = batches.filter((batch) => batch.completions.some((row) => row.values !== null)).slice(-iterations);
  if (used.length === 0) return null;
  const rows = used.flatMap((batch) => batch.completions);
  const line = (isRight: boolean): ProgressLine => {
    const values = rows.flatMap((row) => (row.values !== null && row.values.length > 0 && row.reward > 0 === isRight ? [row.values] : []));
    if (values.length === 0) return { answers: 0, means: [], margins: [] };
    const at = Array.from({ length: PLACES + 1 }, (_, place) => values.map((v) => valueAt(v, place / PLACES)));
    return {
      answers: values.length,
      means: at.map(mean),
      margins: at.map((column) => (column.length < 2 ? 0 : 1.96 * Math.sqrt(variance(column) / (column.length - 1)))),
    };
  };
  return { iterations: used.length, right: line(true), wrong: line(false) };
}

/** Mean V of right answers less that of wrong ones, before the first and before the last token; null when one side is empty. */
export function progressGap({ right, wrong }: Progress): { first: number; last: number } | null {
  if (right.answers === 0 || wrong.answers === 0) return null;
  return { first: right.means[0] - wrong.means[0], last: right.means[PLACES] - wrong.means[PLACES] };
}
