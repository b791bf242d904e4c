import type { RunConfig } from '../../config/runConfig';
import type { CriticLevel } from '../../store/history';
import type { CriticReport } from '../../worker/protocol';
import { fraction, grouped, percent, signed } from '../theme/numbers';
import type { Calibration } from './calibrationMarks';
import { progressGap, type Progress } from './progress';

/** Sentences of the critic panel, kept apart from their markup. */

export const plural = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

/** "640 answers, last 10 iterations". */
export function countedWords(answers: number, iterations: number): string {
  return `${plural(answers, 'answer')}, last ${iterations === 1 ? 'iteration' : `${iterations} iterations`}`;
}

/** How far V puts prompts in the order of their reward, in words. Within 1.96 / sqrt(answers - 1) of 0 lies what unrelated values show in 19 of 20 cases. */
export function strengthWords(correlation: number, answers: number): string {
  if (!(Math.abs(correlation) > 1.96 / Math.sqrt(Math.max(1, answers - 1)))) return 'no more than chance would give';
  if (correlation < 0) return 'V ranks prompts the wrong way round';
  if (correlation < 0.1) return 'V hardly tells prompts apart';
  if (correlation < 0.3) return 'V tells prompts apart a little';
  if (correlation < 0.5) return 'V tells prompts apart';
  return 'V tells prompts apart well';
}

/** "Pearson .30, Spearman .28: V tells prompts apart a little". */
export function correlationWords({ pearson, spearman, answers }: Calibration): string {
  if (pearson === null || spearman === null) return 'No correlation yet: V or the reward does not vary.';
  return `Pearson ${fraction(pearson)}, Spearman ${fraction(spearman)}: ${strengthWords(spearman, answers)}.`;
}

/** True when some V lay outside 0 to 1, where the plot holds it at its edge. */
export function leavesRange({ bins }: Calibration): boolean {
  return bins.some((bin) => bin.meanValue < 0 || bin.meanValue > 1);
}

/** What the loss is of. */
export const LOSS: Record<CriticLevel, { unit: string; help: string }> = {
  prompt: { unit: 'nats', help: 'Binary cross-entropy of V(prompt) against the reward, mean over the answers of an iteration, before each update.' },
  token: { unit: '\u00bd error\u00b2', help: 'Half the squared error of V against the return, mean over the tokens of an iteration, clipped as trained, before each update.' },
};

/** What the explained variance is of. */
export const EXPLAINED: Record<CriticLevel, string> = {
  prompt: 'Share of the variance of the reward over answers that V(prompt) takes away. 0 is what a constant gets; below 0 V adds some.',
  token: 'Share of the variance of the return over tokens that V takes away. 0 is what a constant gets; below 0 V adds some.',
};

/** "value clip holds 3.1% of tokens", or nothing without one. */
export function clippedWords(report: CriticReport | null): string | null {
  if (report === null || report.clippedValues === null) return null;
  return report.clippedValues === 0 ? 'value clip holds no token' : `value clip holds ${percent(report.clippedValues)} of tokens`;
}

/** "Right less wrong: +.05 before the first token, +.41 before the last." */
export function gapWords(progress: Progress): string {
  const gap = progressGap(progress);
  if (gap === null) return progress.right.answers === 0 ? 'No answer was right.' : 'No answer was wrong.';
  return `Right less wrong: ${signed(gap.first, 2)} before the first token, ${signed(gap.last, 2)} before the last.`;
}

/** What to look for. */
export const READING: Record<CriticLevel, string> = {
  prompt:
    'On the diagonal V means what it says: of the prompts given .7, seven in ten are answered rightly. A correlation near 0 means that V is no better than one mean for all. SPPO\u2019s paper reports Pearson .642 and Spearman .664 for its critic, a language model; this one is a small network on a toy task.',
  token:
    'Lines that lie together say that V does not tell a right answer from a wrong one; if they climb together it has learnt how near the end is, as SPPO\u2019s authors report of token critics whose only reward comes at the end. Where they part, V has read something in the answer that decides it.',
};

/** Why there is nothing to see: the choice of baseline. */
export function offWords(baseline: RunConfig['baseline'], stoppedAt: number | null): string {
  const chosen = baseline === 'batchMean' ? 'the mean reward of the batch' : 'zero';
  const words = `Baseline: ${chosen}. No critic is trained.`;
  return stoppedAt === null ? words : `${words} It last learnt in iteration ${stoppedAt}, and goes on from there when V(prompt) is chosen again.`;
}
