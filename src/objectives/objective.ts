import { invariant, UserError } from '../core/errors';
import type { Level } from '../core/levels';
import type { AdvantageEstimator } from './estimators';
import type { Expr } from './expr';
import { hyperNames } from './graph';
import type { HyperparameterSpec, Hyperparameters, LoggedBatch, LossAggMode } from './types';

/**
 * What the clip does where it acts: `cut` makes the token's gradient zero; `hold` keeps it, with the weight held at the
 * bound (CISPO); `none`: there is no clip.
 */
export type ClipEffect = 'cut' | 'hold' | 'none';

export interface Source {
  label: string;
  url: string;
  /** What was taken from it. */
  note: string;
}

/** An objective as data: everything that is known of it stands in one value of this type, in one file of defs/. */
export interface Objective {
  id: string;
  /** As written in the literature, e.g. "GRPO". */
  title: string;
  /** One paragraph: what it changes, and for what reason. */
  summary: string;
  /** What a reader must know before trusting it as "the" method; null when it is the published one. */
  caveat: string | null;
  sources: readonly Source[];
  /** Level of the ratio that it clips, or forms where it clips none: the level of `logRatio` and `clipped`. */
  importanceSamplingLevel: Level;
  /** Level of the ratio that weighs the advantage, where that is not the one that it clips. */
  ratioLevel?: Level;
  lossAggMode: LossAggMode;
  advantageEstimator: AdvantageEstimator;
  hyperparameters: readonly HyperparameterSpec[];
  /** Loss of one token, minimised; the batch's loss is the sum of weight * loss. */
  loss: Expr;
  /** Log ratio at its own level, nats, clamped as the loss uses it. */
  logRatio: Expr;
  /** 1 where its clip acts on the token (KL aside); what that means says `clipEffect`. */
  clipped: Expr;
  clipEffect: ClipEffect;
  /** Widths of its band below and above ratio 1; null without a clip: its level is then measured with the level's usual band. */
  widths: { low: Expr; high: Expr } | null;
  /** True when the loss is PPO's min(ratio A, clip(ratio) A), dual clip aside: then the two branches can be shown by themselves. */
  isClippedSurrogate: boolean;
  /** Other libraries' names for its numbers, where they count differently than for PPO's clip; over those of aliases.ts. */
  aliases?: (batch: LoggedBatch) => Record<string, number>;
}

/** The expressions of an objective. */
function expressionsOf({ loss, logRatio, clipped, widths }: Objective): Expr[] {
  return [loss, logRatio, clipped, ...(widths ? [widths.low, widths.high] : [])];
}

/** Checks a definition: every hyperparameter that is read is described, and defaults lie in their bounds. Throws on a mistake of ours. */
export function defineObjective(objective: Objective): Objective {
  const known = new Set(objective.hyperparameters.map((h) => h.name));
  invariant(known.size === objective.hyperparameters.length, `${objective.id}: a hyperparameter is described twice`);
  for (const e of expressionsOf(objective)) {
    for (const name of hyperNames(e)) invariant(known.has(name), `${objective.id}: hyperparameter ${name} is not described`);
  }
  for (const h of objective.hyperparameters) invariant(problemWith(h, h.default) === null, `${objective.id}: default of ${h.name}`);
  return objective;
}

/** What is wrong with a value, in words, or null. */
export function problemWith(spec: HyperparameterSpec, value: number): string | null {
  if (!Number.isFinite(value)) return 'is not a finite number';
  if (value < spec.min || value > spec.max) return `must lie between ${spec.min} and ${spec.max}`;
  if (spec.zeroOrAbove !== undefined && value !== 0 && !(value > spec.zeroOrAbove)) return `must be 0 (off) or greater than ${spec.zeroOrAbove}`;
  return null;
}

/**
 * All hyperparameters of an objective: the given ones, checked, over the defaults.
 * Throws UserError on an unknown name, a value that is not finite, or one out of bounds.
 */
export function resolveHyperparameters(objective: Objective, given: Readonly<Record<string, number>> = {}): Hyperparameters {
  const known = new Map(objective.hyperparameters.map((h) => [h.name, h]));
  for (const [name, value] of Object.entries(given)) {
    const spec = known.get(name);
    if (!spec) {
      throw new UserError(`${objective.title} has no hyperparameter "${name}".`, `It takes: ${[...known.keys()].join(', ')}.`);
    }
    const problem = problemWith(spec, value);
    if (problem) throw new UserError(`${name} = ${value} ${problem} (${objective.title}).`, spec.help);
  }
  return Object.fromEntries(objective.hyperparameters.map((h) => [h.name, given[h.name] ?? h.default]));
}
