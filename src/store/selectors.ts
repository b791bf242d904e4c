import { LEVEL_TITLE, type Level } from '../core/levels';
import { describeChange, FIELDS, isFieldName, type FieldName } from '../config/fields';
import { estimatorOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { baseOf, getObjective, mixtureOf, shortTitle } from '../objectives';
import type { ClipWidths } from '../objectives/types';
import type { ShowcaseAnswer, StepReport } from '../worker/protocol';
import type { BoundedSeries } from './series';
import type { LiveMark, RunState } from './runStore';

/** Which settings hold a level's clip widths. */
export const CLIP_FIELDS: Record<Level, { low: FieldName & keyof RunConfig; high: FieldName }> = {
  token: { low: 'clipLowToken', high: 'clipHighToken' },
  segment: { low: 'clipLowSegment', high: 'clipHighSegment' },
  sequence: { low: 'clipLowSequence', high: 'clipHighSequence' },
};

/** The level at which an objective forms its ratio. */
export function levelOf(objective: string): Level {
  return getObjective(objective).importanceSamplingLevel;
}

/** The widths as they are set, level by level. */
export function clipWidths(config: RunConfig): ClipWidths {
  return {
    token: { low: config.clipLowToken, high: config.clipHighToken },
    segment: { low: config.clipLowSegment, high: config.clipHighSegment },
    sequence: { low: config.clipLowSequence, high: config.clipHighSequence },
  };
}

/** How many updates reuse one rollout. */
export function updatesPerRollout(config: RunConfig): number {
  return config.minibatches * config.epochs;
}

/** True when every ratio must be exactly 1: one update per rollout, by the policy that sampled it. */
export function isOnPolicy(config: RunConfig): boolean {
  const samplerAgrees = config.oldLogpSource === 'trainer' || (config.samplerLag === 0 && config.samplerPrecision === 'f32');
  return updatesPerRollout(config) === 1 && samplerAgrees;
}

/** The staleness of a batch, in words. */
export function stalenessSentence(config: RunConfig): string {
  const updates = updatesPerRollout(config);
  if (isOnPolicy(config)) return 'One update per rollout: every ratio is 1.';
  if (updates === 1) return 'One update per rollout, but the sampler differs, so ratios leave 1.';
  return `${updates} updates reuse one rollout, so ratios leave 1.`;
}

/** Points of the reward curve, at most 600. */
export function rewardPoints(state: RunState): { step: number; reward: number }[] {
  return state.history.reward.outline().map(({ x, value }) => ({ step: x, reward: value }));
}

/** Live changes as the charts mark them; several at one iteration share a line. */
export function markLabels(marks: readonly LiveMark[]): { step: number; label: string }[] {
  return marks
    .map((mark) => ({ step: mark.step, label: mark.changes.filter((change) => change.field !== 'preset' && change.field !== 'speed' && change.field !== 'totalSteps' && change.field !== 'customObjective').map(changeLabel).join(', ') }))
    .filter((mark) => mark.label !== '');
}

function changeLabel(change: LiveMark['changes'][number]): string {
  if (change.field === 'rewound') return `back from ${change.from} to ${change.to}`;
  if (!isFieldName(change.field)) return `${change.field} ${change.from} \u2192 ${change.to}`;
  if (change.field === 'objective') return objectiveChange(change.from, change.to);
  return describeChange(change.field, change.from, change.to);
}

/** "GRPO \u2192 GSPO"; between mixtures of one objective only the new levels, of ratio and clip: "levels \u2192 sequence/token". */
function objectiveChange(from: string, to: string): string {
  const mixture = mixtureOf(to);
  if (!mixture || baseOf(from) !== mixture.base.id) return `${shortTitle(from)} \u2192 ${shortTitle(to)}`;
  const levels = [...new Set([mixture.ratioLevel, mixture.clipLevel])].map((level) => LEVEL_TITLE[level].toLowerCase());
  return `levels \u2192 ${levels.join('/')}`;
}

/** Small lines under the reward chart. Values are one per iteration, or per `width` iterations in a long run. */
export function sparklines(state: RunState, config: RunConfig) {
  const { entropy, gradNorm, liveGroups } = state.history;
  const width = Math.max(entropy.width, gradNorm.width, liveGroups.width);
  const values = (series: BoundedSeries): number[] => series.means();
  const grouped = config.groupSize > 1;
  const corrected = config.mismatchCorrection !== 'none';
  return {
    length: Math.max(2, Math.ceil(config.totalSteps / width)),
    series: [
      { id: 'entropy', label: 'Entropy', unit: 'nats', values: values(entropy), format: 'decimal' as const, help: 'Mean entropy of the sampling policy over response tokens.' },
      { id: 'gradNorm', label: 'Grad norm', unit: '', values: values(gradNorm), format: 'decimal' as const, help: 'Norm of the gradient before it is limited, mean over the updates of an iteration.' },
      grouped
        ? { id: 'liveGroups', label: 'Live groups', unit: '', values: values(liveGroups), format: 'percent' as const, help: `Share of groups whose answers differ in reward${estimatorOf(config) === 'smoothed' ? '' : '; all others have advantage 0'}.` }
        : { id: 'value', label: 'V(prompt)', unit: '', values: state.recent.map((report) => report.critic?.meanValue ?? null), format: 'decimal' as const, help: 'Mean of the critic\u2019s guess over the prompts of the last iterations.' },
      ...(grouped && config.dynamicSampling && config.refillGroups
        ? [{ id: 'drawn', label: 'Prompts drawn', unit: '', values: state.recent.map((report) => report.groups.drawn), format: 'decimal' as const, help: `Prompts that were sampled in an iteration until ${config.prompts} groups could teach something, at most ${4 * config.prompts}.` }]
        : []),
      ...(grouped && estimatorOf(config) === 'smoothed'
        ? [{ id: 'revisited', label: 'Prompts seen before', unit: '', values: state.recent.map((report) => report.groups.revisited), format: 'decimal' as const, help: 'Prompts of an iteration that came before: only there does smoothing change an advantage.' }]
        : []),
      ...(corrected
        ? [{ id: 'weightKept', label: 'Weight kept', unit: '', values: state.recent.map(weightKept), format: 'percent' as const, help: 'Share of the sampler\u2019s importance weight that truncation or masking left, over the last iterations.' }]
        : []),
    ],
  };
}

/** Mean over the updates of one iteration. */
function weightKept(report: StepReport): number {
  return report.updates.reduce((sum, update) => sum + update.metrics.weightKept, 0) / Math.max(1, report.updates.length);
}

/** The base policy's answers and the newest ones to the same prompts, side by side. */
export function answerPairs(state: Pick<RunState, 'baseAnswers' | 'answers'>): { base: ShowcaseAnswer; latest: ShowcaseAnswer | null }[] {
  const newest = state.answers.at(-1) ?? [];
  return state.baseAnswers.map((base) => ({ base, latest: newest.find((answer) => answer.prompt === base.prompt && answer.step > base.step) ?? null }));
}

/** What the last iteration cost and how it checked out. */
export function lastReport(state: RunState) {
  return state.recent.at(-1) ?? null;
}

/** A number field's bounds, for sliders. */
export function boundsOf(name: FieldName): { min: number; max: number; step: number } {
  const field = FIELDS[name];
  return field.kind === 'number' || field.kind === 'int' ? { min: field.min, max: field.max, step: field.step } : { min: 0, max: 0, step: 1 };
}
