import { LEVELS, type Level } from '../core/levels';
import type { CriticReport, StepReport } from '../worker/protocol';
import { BoundedSeries } from './series';

/** Every curve of a run, bounded. Mutable: whoever shows it reads it again when the run store's `version` has moved. */
export interface History {
  /** By iteration. */
  reward: BoundedSeries;
  entropy: BoundedSeries;
  gradNorm: BoundedSeries;
  liveGroups: BoundedSeries;
  /** By update. `clip`: share of live tokens whose gradient the level's own band cuts. */
  updateEntropy: BoundedSeries;
  updateGradNorm: BoundedSeries;
  clip: Record<Level, BoundedSeries>;
  /** Of each kind of critic, by iteration: the two have losses of different kinds, so a run that changes between them keeps both. */
  critic: Record<CriticLevel, CriticHistory>;
}

export type CriticLevel = CriticReport['level'];

/** What `CriticReport` says iteration by iteration; where it says null there is no point. */
export interface CriticHistory {
  loss: BoundedSeries;
  explainedVariance: BoundedSeries;
  clippedValues: BoundedSeries;
}

/** Sparklines have room for this many values. */
const SPARK = 180;

export function createHistory(): History {
  return {
    reward: new BoundedSeries(300),
    entropy: new BoundedSeries(SPARK),
    gradNorm: new BoundedSeries(SPARK),
    liveGroups: new BoundedSeries(SPARK),
    updateEntropy: new BoundedSeries(512),
    updateGradNorm: new BoundedSeries(512),
    clip: { token: new BoundedSeries(512), segment: new BoundedSeries(512), sequence: new BoundedSeries(512) },
    critic: { prompt: criticHistory(), token: criticHistory() },
  };
}

const criticHistory = (): CriticHistory => ({ loss: new BoundedSeries(SPARK), explainedVariance: new BoundedSeries(SPARK), clippedValues: new BoundedSeries(SPARK) });

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Adds one finished iteration: O(updates of that iteration). */
export function recordStep(history: History, report: StepReport): void {
  history.reward.push(report.step, report.reward);
  if (report.deadGroups !== null) history.liveGroups.push(report.step, 1 - report.deadGroups);
  if (report.critic) recordCritic(history.critic[report.critic.level], report.step, report.critic);
  const entropies: number[] = [];
  for (const update of report.updates) {
    history.updateGradNorm.push(update.update, update.gradNorm);
    if (update.metrics.entropy !== null) {
      history.updateEntropy.push(update.update, update.metrics.entropy);
      entropies.push(update.metrics.entropy);
    }
    for (const level of LEVELS) history.clip[level].push(update.update, update.metrics.levels[level].binding.liveTokens.both);
  }
  if (entropies.length > 0) history.entropy.push(report.step, mean(entropies));
  if (report.updates.length > 0) history.gradNorm.push(report.step, mean(report.updates.map((update) => update.gradNorm)));
}

/** Takes back everything after iteration `step`, the last of which made update `updates` - 1. */
export function cutHistory(history: History, step: number, updates: number): void {
  const { updateEntropy, updateGradNorm, clip, critic, reward, entropy, gradNorm, liveGroups } = history;
  for (const series of [reward, entropy, gradNorm, liveGroups, ...Object.values(critic).flatMap((of) => [of.loss, of.explainedVariance, of.clippedValues])]) series.cutAfter(step);
  for (const series of [updateEntropy, updateGradNorm, ...Object.values(clip)]) series.cutAfter(updates - 1);
}

function recordCritic(history: CriticHistory, step: number, { loss, explainedVariance, clippedValues }: CriticReport): void {
  history.loss.push(step, loss);
  if (explainedVariance !== null) history.explainedVariance.push(step, explainedVariance);
  if (clippedValues !== null) history.clippedValues.push(step, clippedValues);
}
