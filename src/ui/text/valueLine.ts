import type { RunConfig } from '../../config/runConfig';
import type { BatchRecord, CompletionRecord } from '../../worker/protocol';
import { fraction, signed } from '../theme/numbers';

/** V along the text of an answer: geometry and words, without any markup. */

/** Lowest and highest V that the lines show: 0 to 1, and further where a value of these rows lies outside. */
export function valueRange(rows: readonly CompletionRecord[]): { low: number; high: number } {
  let [low, high] = [0, 1];
  for (const { values } of rows) {
    for (const value of values ?? []) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return { low, high };
}

/** Height of a value within the range, from 0 at its foot to 1. */
export function valueHeight(value: number, { low, high }: { low: number; high: number }): number {
  return (value - low) / (high - low);
}

/** Steps over the tokens in a box of [T] x 1 (y down): level over each token at V before it. `closed` also closes the area to the foot. */
export function valueSteps(values: ArrayLike<number>, range: { low: number; high: number }, closed = false): string {
  let path = closed ? 'M0 1' : '';
  for (let t = 0; t < values.length; t++) {
    const y = (1 - valueHeight(values[t], range)).toFixed(4);
    path += `${t === 0 && !closed ? 'M' : 'L'}${t} ${y}H${t + 1}`;
  }
  return closed ? `${path}V1Z` : path;
}

/** What happens to V at one token. */
export interface ValueFacts {
  /** V before the token, and after it: 0 after the last, where the answer ends. */
  before: number;
  after: number;
  isLast: boolean;
  /** reward + gamma * after - before; null where other rewards than the verifier's took part (KL or length in the reward). */
  delta: number | null;
  /** As trained on. */
  advantage: number;
  /** True when `advantage` was shifted and scaled over the batch. */
  isWhitened: boolean;
}

/** V, temporal difference error and advantage of one token, by the settings that the batch was trained with; null without V before each token. */
export function valueFacts(batch: Pick<BatchRecord, 'config'>, row: CompletionRecord, t: number): ValueFacts | null {
  const { values } = row;
  if (values === null || t >= values.length) return null;
  const { config } = batch;
  const isLast = t === values.length - 1;
  const after = isLast ? 0 : values[t + 1];
  const reward = isLast ? row.reward : 0;
  return {
    before: values[t], after, isLast,
    delta: shapesReward(config) ? null : reward + config.gaeGamma * after - values[t],
    advantage: row.advantages?.[t] ?? row.advantage,
    isWhitened: config.whitenAdvantages,
  };
}

const shapesReward = (config: RunConfig): boolean => config.overlongCache > 0 || (config.beta > 0 && config.klPlacement === 'reward');

/** "V .62" for a screen reader and for the pointer; nothing without V before each token. */
export function valueWords(row: CompletionRecord, t: number): string {
  if (row.values === null || t >= row.values.length) return '';
  return `V ${fraction(row.values[t])}, advantage ${signed(row.advantages?.[t] ?? row.advantage, 2)}`;
}

/** The whole line in words. */
export function valueLineWords(values: ArrayLike<number>): string {
  const all = Array.from(values);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return `V before each token: ${fraction(all[0])} before the first, ${fraction(all.at(-1))} before the last, lowest ${fraction(low)} at token ${all.indexOf(low) + 1}, highest ${fraction(high)} at token ${all.indexOf(high) + 1}`;
}
