import { LEVEL_TITLE, type Level } from '../../core/levels';
import type { ClipState, Icicle, IcicleCell, MatchQuantity, MatchResult, TokenExplanation, TokenUnder } from '../../lens/types';
import { objectiveTitle } from '../charts/looks';
import { fraction, percent, ratio, scientific } from '../theme/numbers';

/** Sentences of the lens, kept apart from their markup. */

export const STATE_WORDS: Record<ClipState, string> = {
  inside: 'kept',
  keptLow: 'outside, kept',
  keptHigh: 'outside, kept',
  clippedLow: 'clipped',
  clippedHigh: 'clipped',
};

export const isClipped = (state: ClipState): boolean => state === 'clippedLow' || state === 'clippedHigh';
export const isKeptOutside = (state: ClipState): boolean => state === 'keptLow' || state === 'keptHigh';

/** ", clipped below", ", outside above but kept", or nothing. */
export function stateSuffix(state: ClipState): string {
  const where = state.endsWith('Low') ? 'below' : 'above';
  if (isClipped(state)) return `, clipped ${where}`;
  return isKeptOutside(state) ? `, outside ${where} but kept` : '';
}

/** A token as it can be read aloud or seen: blanks get a sign. */
export const visible = (token: string): string => token.replace(/\n/g, '\u21b5').replace(/ /g, '\u2423') || '\u2205';
export const spoken = (token: string): string => (token === ' ' ? 'space' : token === '\n' ? 'line break' : token || 'empty token');

/** A ratio in a narrow cell: ".54", "1.08", "12". */
export function shortRatio(value: number): string {
  if (!Number.isFinite(value)) return '\u2013';
  if (value >= 9.95) return value >= 999.5 ? '>999' : value.toFixed(0);
  return value < 0.005 ? '<.01' : value.toFixed(2).replace(/^0/, '');
}

/** What a screen reader says of a cell of the icicle. */
export function cellWords(cell: IcicleCell, tokens: readonly string[]): string {
  const length = cell.end - cell.start;
  const value = `ratio ${ratioText(cell.ratio, cell.level === 'token' ? 4 : length)}${stateSuffix(cell.state)}`;
  if (cell.level === 'token') return `${spoken(tokens[cell.start] ?? '')}, ${value}`;
  if (cell.level === 'segment') return `subsentence ${tokens.slice(cell.start, cell.end).map(visible).join('')}, ${length === 1 ? '1 token' : `${length} tokens`}, ${value}`;
  return `sequence of ${length} tokens, ${value}`;
}

/** A ratio as the page writes it, but one that would read 0.000 keeps its size: "6e\u22125". */
export const ratioText = (value: number, tokens = 4): string => (value > 0 && value < 5e-4 ? scientific(value) : ratio(value, tokens));

/** The unit of a level that holds a token. */
export function unitAt(icicle: Icicle, level: Level, token: number): IcicleCell {
  if (level === 'sequence') return icicle.sequence;
  const units = icicle[level];
  return units.find(({ start, end }) => token >= start && token < end) ?? icicle.sequence;
}

/** Which branch of the objective won, in words. */
export function branchWords(under: TokenUnder): string {
  const { state, advantage, level, unitTokens } = under;
  if (advantage === 0) return 'A = 0: both branches are 0, so no gradient, clipped or not.';
  const whom = level === 'token' ? 'this token' : level === 'segment' ? `the ${unitTokens} tokens of this subsentence` : `any of the ${unitTokens} tokens of this answer`;
  if (!under.branches) return isClipped(state) ? `Clipped: no gradient from ${whom}.` : 'No minimum of two branches: the gradient is what its formula leaves of it.';
  if (under.branches.winner === 'dual') return `The ratio is past the dual clip ${fraction(under.dualClip, 1)}: the loss is flat there, so no gradient from ${whom}.`;
  if (isClipped(state)) return `The clipped branch won: constant in \u03b8, so no gradient from ${whom}.`;
  if (state === 'inside') return `${LEVEL_TITLE[level]} ratio inside the band: both branches are alike, the gradient is whole.`;
  const direction = advantage > 0 ? 'an answer that should rise has fallen' : 'an answer that should fall has risen';
  return `Outside the band, but ${direction}: the unclipped branch won, the gradient is whole.`;
}

/** The text of a token's subsentence before and after it. */
export function segmentText(tokens: readonly string[], explanation: TokenExplanation): { before: string; token: string; after: string } {
  const { start, end } = explanation.segment;
  const join = (from: number, to: number) => tokens.slice(from, to).map(visible).join('');
  return { before: join(start, explanation.token), token: visible(tokens[explanation.token] ?? ''), after: join(explanation.token + 1, end) };
}

/** What a match came to: whole units cannot always meet a share, and then the page says how near they came. */
export function matchWords({ target, quantity, results }: { target: number; quantity: MatchQuantity; results: readonly MatchResult[] }, shown: readonly string[]): string {
  const far = results.filter(({ objective, achieved }) => shown.includes(objective) && Math.abs(achieved - target) > 0.1 * target);
  const what = quantity === 'clippedTokens' ? 'of tokens' : 'of gradient';
  const rest = far.length > 0 ? `; whole units let ${far.map(({ objective, achieved }) => `${objectiveTitle(objective)} come to ${percent(achieved)}`).join(', ')}` : '';
  return `matched at ${percent(target)} ${what}${rest}`;
}
