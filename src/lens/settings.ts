import { defaultDualClip } from '../config/choices';
import { holdParameter } from '../config/custom';
import { clipWidthsOf, hyperparametersOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { getObjective, type Objective } from '../objectives';
import { isCustomId } from '../objectives/custom';
import type { Expr } from '../objectives/expr';
import { hyperNames } from '../objectives/graph';
import type { Hyperparameters, LossAggMode } from '../objectives/types';
import type { LensSettings } from './types';

/** Bounds of what the lens lets a person turn. Widths are narrower at the bottom than in training: match may need it. */
export const LENS_BOUNDS = {
  width: { min: 1e-6, lowMax: 1, highMax: 10 },
  everyN: { min: 1, max: 512 },
  minLength: { min: 1, max: 64 },
  quantile: { min: 0, max: 1 },
  entropyScaleLow: { min: 0, max: 1 },
  entropyScaleHigh: { min: 1, max: 10 },
  dualClip: { max: 1000 },
  beta: { max: 10 },
} as const;

/** Settings that show a batch as it was trained: the run's own widths, cuts and options. */
export function lensSettingsOf(config: RunConfig): LensSettings {
  return {
    widths: clipWidthsOf(config),
    overrides: {},
    rule: { kind: 'stored' },
    minLength: 1,
    edits: {},
    entropyScaleLow: config.entropyScaleLow,
    entropyScaleHigh: config.entropyScaleHigh,
    // Where the run follows its objective's own rule, the others are shown by their own rules too.
    lossAggMode: config.lossAggMode === getObjective(config.objective).lossAggMode ? 'own' : config.lossAggMode,
    dualClip: config.dualClip === defaultDualClip(config.objective) ? 'own' : config.dualClip,
    beta: config.beta,
    minibatch: null,
  };
}

/**
 * How an objective's losses are aggregated under these settings. An own rule of `constant` without a known budget becomes the
 * rule that differs from it by that one factor only, so that shares and angles are the same.
 */
export function modeFor(objective: Objective, settings: LensSettings, maxTokens: number | null): LossAggMode {
  if (settings.lossAggMode !== 'own') return settings.lossAggMode;
  return objective.lossAggMode === 'constant' && maxTokens === null ? 'seq-mean-token-sum' : objective.lossAggMode;
}

/**
 * Complete hyperparameters of an objective under these settings: what the run would give it, with the lens's values over them.
 * Widths of a level reach the objectives whose band is 1 - low .. 1 + high, and typed ones, whose widths are the level's by declaration and held in
 * the bounds that they declare; others (bounds on a log scale, say) keep their own.
 * @param hasRef false: no reference log-probs, so no KL
 */
export function hyperFor(objective: Objective, config: RunConfig, settings: LensSettings, hasRef: boolean): Hyperparameters {
  const hyper = hyperparametersOf({ ...config, objective: objective.id });
  const isTyped = isCustomId(objective.id);
  const set = (name: string, value: number) => {
    const spec = objective.hyperparameters.find((h) => h.name === name);
    if (spec) hyper[name] = isTyped ? holdParameter(spec, value) : value;
  };
  const widths = settings.overrides[objective.id] ?? (isTyped || isPlainBand(objective) ? settings.widths[objective.importanceSamplingLevel] : null);
  if (widths) {
    set('clipLow', widths.low);
    set('clipHigh', widths.high);
  }
  set('dualClip', settings.dualClip === 'own' ? defaultDualClip(objective.id) : settings.dualClip);
  set('entropyScaleLow', settings.entropyScaleLow);
  set('entropyScaleHigh', settings.entropyScaleHigh);
  set('beta', hasRef ? settings.beta : 0);
  return hyper;
}

/** True when an objective has clip widths of its own that match can solve for. */
export function hasWidths(objective: Objective): boolean {
  const names = objective.hyperparameters.map((h) => h.name);
  return names.includes('clipLow') && names.includes('clipHigh');
}

/**
 * True for a clipped surrogate, or a mixture of ratio and clip at two levels, whose band reads 1 - clipLow k .. 1 + clipHigh k, with k free of
 * both: then widths of all such objectives share one axis, and the width at which a token is let go is known in closed form.
 */
export function isPlainBand(objective: Objective): boolean {
  const { widths, isClippedSurrogate, ratioLevel } = objective;
  return widths !== null && (isClippedSurrogate || ratioLevel !== undefined) && hasWidths(objective) && isMultipleOf(widths.low, 'clipLow') && isMultipleOf(widths.high, 'clipHigh');
}

/** True when an expression is the hyperparameter, or a product of it with factors that read no clip width. */
function isMultipleOf(e: Expr, name: string): boolean {
  if (e.kind === 'named') return isMultipleOf(e.a, name);
  if (e.kind === 'hyper') return e.name === name;
  if (e.kind !== 'binary' || e.op !== 'mul') return false;
  const free = (x: Expr) => !reads(x, 'clipLow') && !reads(x, 'clipHigh');
  return (isMultipleOf(e.a, name) && free(e.b)) || (isMultipleOf(e.b, name) && free(e.a));
}

function reads(e: Expr, name: string): boolean {
  return hyperNames(e).has(name);
}
