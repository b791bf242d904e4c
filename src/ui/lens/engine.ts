import { LEVELS, type Level } from '../../core/levels';
import type { Objective } from '../../objectives';
import type { Hyperparameters } from '../../objectives/types';
import { objectiveAtLevel } from '../../lens/columns';
import { longerUnit, moveToken as moveOne } from '../../lens/dilution';
import { explainToken } from '../../lens/explain';
import { icicleOf } from '../../lens/icicle';
import { hyperFor, LENS_BOUNDS } from '../../lens/settings';
import { TABLE_COLUMNS } from '../../lens/table';
import type { Icicle, LensColumnSpec, LensSettings, LensSource, LongerUnit, TokenExplanation, TokenMove } from '../../lens/types';
import type { TokenAddress } from '../charts/types';

/** What the page computes itself, in the frame of a drag: one answer at a time. Everything over the whole batch is the worker's. */

export const BOUNDS = LENS_BOUNDS;

/** The objective that judges each level: the one that trained the batch at its own level, else the level's usual one. */
export function leadersOf(source: LensSource): Record<Level, string> {
  return Object.fromEntries(LEVELS.map((level) => [level, objectiveAtLevel(level, source.record.objective)])) as Record<Level, string>;
}

/** One answer at three levels; with a token moved by some nats when `move` says so. */
export const icicleFor = (source: LensSource, settings: LensSettings, completion: number, move: { token: number; by: number } | null): Icicle | null =>
  icicleOf(source, completion, settings, leadersOf(source), move);

/** What the lens says of one token under some objectives. */
export const explain = (source: LensSource, settings: LensSettings, { completion, token }: TokenAddress, objectives: readonly string[]): TokenExplanation | null => explainToken(source, completion, token, settings, objectives);

/** A token moved by some nats, and what that does to its units and verdicts. */
export const moveToken = (source: LensSource, settings: LensSettings, { completion, token }: TokenAddress, by: number, objectives: readonly string[]): TokenMove | null => moveOne(source, completion, token, by, settings, objectives);

/** What the token's subsentence and answer would be at other lengths, the token standing where it was moved to. */
export function longer(source: LensSource, settings: LensSettings, { completion, token }: TokenAddress, by: number): LongerUnit[] {
  const moved = by === 0 ? source : withMoved(source, completion, token, by);
  const leaders = leadersOf(source);
  return (['segment', 'sequence'] as const).flatMap((level) => longerUnit(moved, completion, token, leaders[level], settings) ?? []);
}

function withMoved(source: LensSource, completion: number, token: number, by: number): LensSource {
  const completions = source.record.completions.map((row, i) => {
    if (i !== completion) return row;
    const newLogp = Float32Array.from(row.newLogp);
    newLogp[token] = (newLogp[token] ?? 0) + by;
    return { ...row, newLogp };
  });
  return { ...source, record: { ...source.record, completions } };
}

/** A column's definition and its names elsewhere. */
export function columnHelp(id: string): LensColumnSpec | null {
  return TABLE_COLUMNS.find((column) => column.id === id) ?? null;
}

/** Complete hyperparameters of an objective under the lens's settings. */
export function hyperOf(objective: Objective, settings: LensSettings, source: LensSource): Hyperparameters {
  return hyperFor(objective, source.record.config, settings, source.record.completions.every((row) => row.refLogp !== null));
}
