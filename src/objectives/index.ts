import { UserError } from '../core/errors';
import { LEVELS, type Level } from '../core/levels';
import { registeredCustom } from './custom/registry';
import { cispo } from './defs/cispo';
import { dapo } from './defs/dapo';
import { dcpo } from './defs/dcpo';
import { drGrpo } from './defs/drGrpo';
import { gmpo } from './defs/gmpo';
import { grpo } from './defs/grpo';
import { gspo } from './defs/gspo';
import { gspoToken } from './defs/gspoToken';
import { lpo } from './defs/lpo';
import { ppo } from './defs/ppo';
import { reinforce } from './defs/reinforce';
import { rft } from './defs/rft';
import { sapo } from './defs/sapo';
import { sppo } from './defs/sppo';
import { sspo } from './defs/sspo';
import { isMixable, mixedObjective, mixtureId, readMixture, type Mixture } from './mixture';
import type { Objective } from './objective';

/** Every objective there is, in the order in which the page shows them. A new one is a file in defs/ and a line here. */
export const OBJECTIVES: readonly Objective[] = [grpo, gspo, sspo, sppo, ppo, lpo, drGrpo, dapo, gspoToken, gmpo, cispo, dcpo, sapo, reinforce, rft];

/** Mixtures that were asked for, by id as given: there are few, and each is compiled and differentiated once. */
const mixtures = new Map<string, Objective>();

function getMixture(id: string): Objective | undefined {
  const known = mixtures.get(id);
  if (known) return known;
  const mixture = readMixture(id, OBJECTIVES);
  if (!mixture) return undefined;
  const { base, ratioLevel, clipLevel } = mixture;
  const objective = mixtureId(base, ratioLevel, clipLevel) === base.id ? base : mixedObjective(mixture);
  mixtures.set(id, objective);
  return objective;
}

/** Base and levels of an objective that has been mixed by hand, or could be; null for one whose levels cannot be set. */
export function mixtureOf(id: string): Mixture | null {
  const own = OBJECTIVES.find((o) => o.id === id);
  if (own) return isMixable(own) ? { base: own, ratioLevel: own.importanceSamplingLevel, clipLevel: own.importanceSamplingLevel } : null;
  return readMixture(id, OBJECTIVES);
}

/** Id of the listed objective that this one is, or is a mixture of; of another kind: its own. */
export const baseOf = (id: string): string => mixtureOf(id)?.base.id ?? id;

/** "GRPO": how an objective is named where there is little room; a mixture's own title says its levels. */
export function shortTitle(id: string): string {
  const base = baseOf(id);
  return base === id ? getObjective(id).title : `${getObjective(base).title} mixed`;
}

/** Names under which a mixture's levels are given beside the id of an objective: in addresses, `--set` and batches. */
export const LEVEL_SETTINGS = ['ratioLevel', 'clipLevel'] as const;
export type LevelSettings = Partial<Record<(typeof LEVEL_SETTINGS)[number], unknown>>;

/** True for one of those names. */
export const isLevelSetting = (name: string): boolean => LEVEL_SETTINGS.some((known) => known === name);

/**
 * Id of the objective with its levels set: each `token`, `segment`, `sequence`, or `own` for the objective's own; as they are where not given.
 * @throws UserError on an unknown objective or level, or on one whose levels cannot be set
 */
export function withLevels(id: string, levels: LevelSettings): string {
  if (levels.ratioLevel === undefined && levels.clipLevel === undefined) return id;
  const mixture = mixtureOf(id);
  if (!mixture) {
    throw new UserError(`The levels of ${getObjective(id).title} cannot be set: it is no plain clipped surrogate.`, `Those of ${OBJECTIVES.filter(isMixable).map((o) => o.id).join(', ')} can.`);
  }
  const { base } = mixture;
  const read = (name: keyof LevelSettings, current: Level): Level => {
    const given = levels[name];
    if (given === undefined) return current;
    const level = given === 'own' ? base.importanceSamplingLevel : LEVELS.find((l) => l === given);
    if (!level) throw new UserError(`${name}: \u201c${String(given).slice(0, 40)}\u201d is no level.`, `Levels: ${LEVELS.join(', ')}, own.`);
    return level;
  };
  return mixtureId(base, read('ratioLevel', mixture.ratioLevel), read('clipLevel', mixture.clipLevel));
}

/**
 * The objective with this id: a built-in, a mixture of one (mixture.ts), or one typed by a person and registered (custom/registry.ts).
 * Throws UserError that lists the known ids.
 */
export function getObjective(id: string): Objective {
  const found = OBJECTIVES.find((o) => o.id === id) ?? getMixture(id) ?? registeredCustom(id)?.objective;
  if (!found) throw new UserError(`There is no objective "${id}".`, `Known ids: ${OBJECTIVES.map((o) => o.id).join(', ')}.`);
  return found;
}

export { AGGREGATION_HELP, AGGREGATION_TEX, rowWeights, type LossBatchTotals } from './aggregation';
export {
  ADVANTAGE_STDS,
  broadcastAdvantages,
  criticLoss,
  deadGroupShare,
  deadRows,
  groupAdvantages,
  looAdvantages,
  sequenceAdvantages,
  softOverlongPenalty,
  type AdvantageStd,
  type Baseline,
  type SequenceAdvantageOptions,
} from './advantages';
export { compactBatch, type CompactBatch } from './compact';
export { assembleResult, coefficientOf, evaluateCompact, evaluateObjective, evaluateTokens, logRatios, nominalWidths, ratioOf, tokenLossReference, type TokenResults } from './evaluateObjective';
export { LOG_RATIO_CLAMP } from './expr';
export { ADVANTAGE_ESTIMATORS, ESTIMATORS, type AdvantageEstimator, type EstimatorInput, type EstimatorSpec, type TokenEstimatorInput } from './estimators';
export { gaeAdvantages, whitenTokens, type TokenCredit } from './gae';
export { k1, k2, k3 } from './klEstimators';
export { computeMetrics, DEFAULT_WIDTHS, gradientWeights, HISTOGRAM_EDGES, histogramBin, metricsOf, ownMetricsOf, quantile, type MetricsOptions } from './metrics';
export { isMixable, mixtureId, type Mixture } from './mixture';
export { problemWith, resolveHyperparameters, type ClipEffect, type Objective, type Source } from './objective';
export { segmentTokens, SENTENCE_DELIMITERS, SUBSENTENCE_DELIMITERS, type SegmentOptions } from './segments';
export { smoothedAdvantages, withVisit, type PastRewards } from './smoothing';
export { exprTex, objectiveTex, type ObjectiveTex, type TexDefinition, type TexOptions } from './toTex';
export { compileTokenLoss, MAX_MEANS, MAX_SLOTS } from './toWgsl';
export * from './types';
