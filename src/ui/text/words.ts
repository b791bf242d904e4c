import type { RunConfig } from '../../config/runConfig';
import { LEVEL_TITLE } from '../../core/levels';
import { getObjective, type Objective } from '../../objectives';
import type { CompletionRecord } from '../../worker/protocol';
import { objectiveTitle, ratioLevel } from '../charts/looks';
import { fraction, ratio, setting, significant, trueMinus } from '../theme/numbers';
import type { Mark, RowMarks, Verdict } from './marks';

/** Sentences of the text views, kept apart from their markup. */

export const VERDICT_WORDS: Record<Verdict, string> = { inside: 'kept', kept: 'outside, kept', clipped: 'clipped' };

/** Nats with three decimals, or one significant digit where those would all be 0. */
export function natsText(nats: number): string {
  return Math.abs(nats) >= 0.0005 || nats === 0 ? fraction(nats, 3) : significant(nats, 1);
}

/** A clip edge: two decimals, more where the width is finer than that ("1.20", "1.0004"). */
export function edgeText(edge: number): string {
  if (!(edge > 0) || !Number.isFinite(edge)) return 'none';
  const width = Math.abs(edge - 1);
  const decimals = width > 0 && width < 0.005 ? 4 : Math.abs(width * 100 - Math.round(width * 100)) < 1e-6 ? 2 : 3;
  return edge.toFixed(decimals);
}

/** What a screen reader says of one token cell; `value` says what the critic thought, where it was asked. */
export function tokenWords(token: string, mark: Mark, row: RowMarks, index: number, value = ''): string {
  const segment = row.segments.find(({ start, end }) => index >= start && index < end);
  const spoken = token === ' ' ? 'space' : token;
  const parts = [`${spoken}, ratio ${ratio(mark.ratio)}${stateWords(mark)}`];
  if (segment) parts.push(`subsentence ${ratio(segment.ratio, segment.end - segment.start)}${stateWords(segment)}`);
  if (value) parts.push(value);
  return parts.join('; ');
}

/** ", clipped above", ", outside below but kept", or nothing. */
export function stateWords({ verdict, side }: Mark): string {
  if (verdict === 'inside') return '';
  const where = side === 'low' ? 'below' : 'above';
  return verdict === 'clipped' ? `, clipped ${where}` : `, outside ${where} but kept`;
}

/** Which marks count: the objective in use clips at one level only. */
export function clipSentence(config: RunConfig): string {
  const title = objectiveTitle(config.objective);
  const rest = 'subsentence ratio above: bold if clipped, dotted if outside but kept';
  const level = ratioLevel(config.objective);
  const { clipEffect } = getObjective(config.objective);
  if (clipEffect === 'none') return `${title} clips nothing; ${rest}`;
  if (clipEffect === 'hold') return `${title} cuts no token, it holds the weight of those outside; ${rest}`;
  if (level === 'token') return `${title} clips tokens; ${rest}`;
  if (level === 'segment') return `${title} clips subsentences; ${rest}`;
  return `${title} clips sequences; ${rest}`;
}

/** "8 answers, 5 right". */
export function groupWords(rows: readonly CompletionRecord[], single: boolean): string {
  const right = rows.filter((row) => row.reward > 0).length;
  const noun = single ? (rows.length === 1 ? 'prompt' : 'prompts') : rows.length === 1 ? 'answer' : 'answers';
  return `${rows.length} ${noun}, ${right} right`;
}

/** Why a whole group teaches nothing, or null. */
export function deadWords(rows: readonly CompletionRecord[], single: boolean): string | null {
  if (single || rows.length < 2 || rows.some((row) => row.advantage !== 0)) return null;
  const first = rows[0] as CompletionRecord;
  if (rows.some((row) => row.reward !== first.reward)) return null;
  return `all ${rows.length} alike, advantage 0: no gradient from this group`;
}

/** The heading of the inspector: what became of the token under the objective in use. */
export function verdictTitle(mark: Mark, advantage: number): string {
  if (advantage === 0) return 'Why this token teaches nothing';
  return mark.verdict === 'clipped' ? 'Why this token was clipped' : 'Why this token was kept';
}

/** What became of the gradient, for objectives that are not a minimum of two branches. */
export function plainWords(mark: Mark, advantage: number, objective: Pick<Objective, 'clipEffect'>): string {
  if (advantage === 0) return 'A = 0: no gradient.';
  if (mark.verdict === 'kept' && objective.clipEffect === 'hold') return 'Its weight is held at the bound; the gradient is kept.';
  return mark.weight === 0 ? 'Its clip cuts the gradient of this token to zero.' : 'The gradient of this token is kept.';
}

/** What became of the token where one level's ratio weighs the advantage and another's is clipped (objectives/mixture.ts). */
export function mixtureWords(mark: Mark, advantage: number, objective: Pick<Objective, 'importanceSamplingLevel' | 'ratioLevel'>): string {
  if (advantage === 0) return 'A = 0: no gradient.';
  const clipped = `${LEVEL_TITLE[objective.importanceSamplingLevel]} ratio ${ratio(mark.ratio)}`;
  const weighing = `${LEVEL_TITLE[objective.ratioLevel ?? objective.importanceSamplingLevel].toLowerCase()} ratio`;
  // The loss is held at minus ratio times A, or at minus c times A past a dual clip.
  const held = -mark.loss / advantage;
  if (mark.verdict === 'clipped') {
    const isBeyond = mark.side === (advantage > 0 ? 'high' : 'low');
    return isBeyond ? `${clipped} is ${mark.side === 'low' ? 'below' : 'above'} the band: no gradient, whatever the ${weighing}.` : `Its ${weighing} is past the dual clip ${setting(Number(held.toPrecision(3)))}: the loss is flat there, no gradient.`;
  }
  const place = mark.verdict === 'inside' ? 'is inside the band' : mark.side === 'low' ? 'is below the band but A > 0' : 'is above the band but A < 0';
  return `${clipped} ${place}: kept, and A weighs by the ${weighing} ${ratio(held)}.`;
}

/** Which branch of the objective won, in words. */
export function branchWords(mark: Mark, advantage: number, config: RunConfig, unitTokens: number): string {
  if (advantage === 0) return 'A = 0: both branches are 0, so no gradient, clipped or not.';
  const level = ratioLevel(config.objective);
  const whom =
    level === 'token' ? 'this token' : `its ${unitTokens} tokens`;
  if (mark.verdict === 'clipped' && advantage < 0 && mark.side === 'high') {
    return `Past the dual clip ${trueMinus(String(config.dualClip))}: the loss is flat there, no gradient for ${whom}.`;
  }
  if (mark.verdict === 'clipped') return `The clipped branch won: constant in θ, no gradient for ${whom}.`;
  if (mark.verdict === 'inside') return `${LEVEL_TITLE[level]} ratio inside the band: both branches agree, full gradient.`;
  const where = mark.side === 'low' ? 'Below the band but A > 0' : 'Above the band but A < 0';
  return `${where}: min takes the unclipped branch, full gradient.`;
}
