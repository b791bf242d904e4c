import { LEVELS, type Level } from '../core/levels';
import { gspo } from './defs/gspo';
import { grpo } from './defs/grpo';
import { lpo } from './defs/lpo';
import { clippedObjective, clipWidth, klPenalty, logRatioAt, ratioAt, tokenCarrying } from './defs/shared';
import { ESTIMATORS } from './estimators';
import { add, advantage, and, gt, hyper, lt, min, mul, named, neg, or, select, stopGrad, sub, type Expr } from './expr';
import { hyperNames } from './graph';
import { defineObjective, type Objective, type Source } from './objective';

/**
 * Clipped surrogates with their granularity set by hand: which ratio weighs the advantage, and which ratio is held against the band.
 * The id says it: `sppo@sequence` (both at the sequence), `grpo@segment/token` (ratio per subsentence, clip per token).
 */

/** What an id of a mixture says. */
export interface Mixture {
  base: Objective;
  /** Level of the ratio that multiplies the advantage, and of the one that is clipped. */
  ratioLevel: Level;
  clipLevel: Level;
}

const WORD: Record<Level, string> = { token: 'token', segment: 'subsentence', sequence: 'sequence' };

/** Widths that a level starts with where the objective brings none of its own: those sized for the tiny model. */
const USUAL_WIDTH: Record<Level, number> = { token: 0.2, segment: 0.05, sequence: 0.01 };

/** Published objectives whose ratio and clip a level stands for, and where they are read up. */
const PUBLISHED: Record<Level, string> = { token: 'PPO and GRPO', segment: 'LPO', sequence: 'GSPO' };
const SOURCE: Record<Level, Source> = { token: grpo.sources[0], segment: lpo.sources[0], sequence: gspo.sources[0] };
const MASK_SOURCE: Source = { label: 'MiniMax-M1', url: 'https://arxiv.org/abs/2506.13585', note: 'Eq. 6 and 7: a mask on the tokens that a clip would cut, apart from the ratio that weighs.' };

/** True for an objective whose two levels can be set: PPO's surrogate in a band of plain widths. */
export function isMixable({ isClippedSurrogate, widths }: Objective): boolean {
  return isClippedSurrogate && widths !== null && ['low', 'high'].every((side) => isWidth(widths[side as 'low' | 'high']));
}

/** A clip width, perhaps times a factor. DCPO's edges depend on the token's probability instead. */
function isWidth(e: Expr): boolean {
  return e.kind === 'hyper' || (e.kind === 'binary' && e.op === 'mul' && e.a.kind === 'hyper');
}

/** The id of an objective with its levels set; the objective's own id where they are its own. */
export function mixtureId(base: Objective, ratioLevel: Level, clipLevel: Level): string {
  const own = base.importanceSamplingLevel;
  if (ratioLevel === own && clipLevel === own) return base.id;
  return `${base.id}@${ratioLevel}${clipLevel === ratioLevel ? '' : `/${clipLevel}`}`;
}

/** Reads an id of a mixture over the given objectives; null when it is none. Levels that are the objective's own are allowed. */
export function readMixture(id: string, objectives: readonly Objective[]): Mixture | null {
  const [baseId, levels, ...more] = id.split('@');
  const base = objectives.find((o) => o.id === baseId);
  if (!base || levels === undefined || more.length > 0 || !isMixable(base)) return null;
  const [ratio, clip = ratio, ...rest] = levels.split('/');
  const [ratioLevel, clipLevel] = [ratio, clip].map((name) => LEVELS.find((level) => level === name));
  return ratioLevel && clipLevel && rest.length === 0 ? { base, ratioLevel, clipLevel } : null;
}

/**
 * The objective that a mixture stands for. With one level for both it is the surrogate of that level, as GRPO, LPO and GSPO have it. With
 * two, a token is cut where the ratio at the clip level is outside the band on the side that its advantage makes binding, and else
 * weighs its advantage by the ratio at the ratio level: the token mask of CISPO's unified form (arXiv 2506.13585, eq. 6-7). The
 * dual clip bounds the ratio that weighs.
 */
export function mixedObjective(mixture: Mixture): Objective {
  const { base, ratioLevel, clipLevel } = mixture;
  const isSame = ratioLevel === clipLevel;
  const ownWidths = clipLevel === base.importanceSamplingLevel ? base.widths : null;
  const widths = ownWidths ?? { low: hyper('clipLow'), high: hyper('clipHigh') };
  const ratio = weighingRatio(base, ratioLevel, isSame);
  const parts = isSame ? clippedObjective(ratio, logRatioAt(clipLevel), widths) : maskedParts(ratio, clipLevel, widths);
  const read = new Set([parts.loss, parts.clipped, widths.low, widths.high].flatMap((e) => [...hyperNames(e)]));
  return defineObjective({
    ...base,
    ...parts,
    id: mixtureId(base, ratioLevel, clipLevel),
    title: `${base.title}, ${isSame ? `${WORD[ratioLevel]} ratio` : `${WORD[ratioLevel]} ratio, ${WORD[clipLevel]} clip`}`,
    summary: `${summaryOf(mixture)} Otherwise ${base.title}: ${base.summary}`,
    caveat: caveatOf(mixture),
    sources: sourcesOf(mixture),
    importanceSamplingLevel: clipLevel,
    ...(!isSame && { ratioLevel }),
    hyperparameters: base.hyperparameters
      .filter((h) => read.has(h.name))
      .map((h) => (ownWidths || !h.name.startsWith('clip') ? h : clipWidth(h.name === 'clipLow' ? 'low' : 'high', USUAL_WIDTH[clipLevel], WORD[clipLevel], { sized: USUAL_WIDTH[clipLevel] }))),
  });
}

/**
 * A unit's ratio; carried by each token (GSPO eq. 14) where tokens of one unit may differ in advantage or verdict: a cut token's
 * gradient would else come back through the mean that its neighbours share.
 */
function weighingRatio(base: Objective, level: Level, isSame: boolean): Expr {
  if (level === 'token') return ratioAt('token');
  if (level === 'segment') return tokenCarrying(ratioAt('segment'));
  const carried = !isSame || ESTIMATORS[base.advantageEstimator].unit === 'token' || base.id === 'gspoToken';
  return carried ? tokenCarrying(ratioAt('sequence'), 'sequence') : ratioAt('sequence');
}

function maskedParts(ratio: Expr, clipLevel: Level, { low, high }: { low: Expr; high: Expr }): ReturnType<typeof clippedObjective> {
  const judged = ratioAt(clipLevel);
  const isCut = named('cut', 'M_{i,t}', clipLevel, or(and(gt(advantage, 0), gt(judged, add(1, high))), and(lt(advantage, 0), lt(judged, sub(1, low)))));
  const plain = neg(mul(ratio, advantage));
  const isDual = and(gt(hyper('dualClip'), 0), lt(advantage, 0));
  const held = named('maskedLoss', 'L^{\\text{mask}}_{i,t}', null, select(isCut, stopGrad(plain), plain));
  return {
    loss: add(select(isDual, min(held, neg(mul(hyper('dualClip'), advantage))), held), klPenalty()),
    logRatio: logRatioAt(clipLevel),
    clipped: or(isCut, and(isDual, gt(ratio, hyper('dualClip')))),
    clipEffect: 'cut',
    widths: { low, high },
    // The value is not that of min(r A, clip(r) A), so the two branches cannot be shown.
    isClippedSurrogate: false,
  };
}

function summaryOf({ ratioLevel, clipLevel }: Mixture): string {
  if (ratioLevel === clipLevel) return `The ratio, and the clip on it, are per ${WORD[ratioLevel]}.`;
  return `The ratio that weighs the advantage is per ${WORD[ratioLevel]}; a token loses its gradient where the ratio of its ${WORD[clipLevel]} has left the band.`;
}

function caveatOf({ base, ratioLevel, clipLevel }: Mixture): string {
  const levels = ratioLevel === clipLevel ? `Ratio and clip are those of ${PUBLISHED[ratioLevel]}` : `The ratio is that of ${PUBLISHED[ratioLevel]} and the clip looks at that of ${PUBLISHED[clipLevel]}`;
  return `${levels}; together with the rest of ${base.title} this is a mixture set by hand${base.id === 'sppo' ? ', our extension' : ''}, not a published method.`;
}

function sourcesOf({ base, ratioLevel, clipLevel }: Mixture): Source[] {
  const more = ratioLevel === clipLevel ? [SOURCE[ratioLevel]] : [SOURCE[ratioLevel], SOURCE[clipLevel], MASK_SOURCE];
  return [...base.sources, ...more.filter(({ url }) => !base.sources.some((source) => source.url === url))];
}
