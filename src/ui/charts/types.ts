import type { RunConfig } from '../../config/runConfig';
import type { ClipWidths } from '../../objectives/types';
import type { BatchRecord, EvalReport, ShowcaseAnswer, StepReport, UpdateReport } from '../../worker/protocol';

/**
 * What every picture of the page needs, as plain values: charts, text views and formula import no store.
 * Each component draws its own head (title, figure, switches); the caller gives the panel frame (16 px inside).
 * Arrays are oldest first and already bounded by the caller; a new array identity means new data.
 */

/** One point of the reward curve: mean reward of the rollout batch of iteration `step`. */
export type RewardPoint = Pick<StepReport, 'step' | 'reward'>;

/** A change that took effect in mid-run, drawn as a dotted vertical at `step`; `label` reads "epochs 1 → 4". */
export interface LiveChange {
  step: number;
  label: string;
}

export interface RewardChartProps {
  /** Id of the objective in use: decides hue and dash. */
  objective: string;
  /** At most about 600 points. */
  points: readonly RewardPoint[];
  /** Held-out greedy evaluations. */
  evals: readonly Pick<EvalReport, 'step' | 'greedy'>[];
  changes: readonly LiveChange[];
  /** The base policy's pass rate at T = 1 and its greedy accuracy, 0..1; null until the manifest is read. */
  base: { passRate: number; greedy: number } | null;
  /** Planned end of the run; the x axis runs to it. */
  totalSteps: number;
  /** True while some of the answers drawn are left out of the updates: reward counts them all the same, and the chart says so. */
  isSelective?: boolean;
  /** The phone's layout: figure on the left, fewer words. */
  compact?: boolean;
}

/** A small line with its name, unit and current value. */
export interface SparklineSeries {
  id: string;
  /** "Entropy". */
  label: string;
  /** "nats"; empty for a plain share or number. */
  unit: string;
  /** Oldest first, at most about 200 values; null where the step has none. */
  values: readonly (number | null)[];
  /** How the current value is written. */
  format: 'decimal' | 'percent' | 'count';
  /** What the number counts, for the tooltip. */
  help?: string;
}

export interface SparklinesProps {
  series: readonly SparklineSeries[];
  /** The x range of every line: 0 to this many points. */
  length: number;
}

export type RulerScale = 'log' | 'linear';

export interface ThreeRulersProps {
  objective: string;
  /** Updates of at least the last five iterations (all of each iteration that is given), oldest first. */
  updates: readonly UpdateReport[];
  /** Widths now in force at each level. */
  clip: ClipWidths;
  /** minibatches * epochs: how many updates reuse one rollout. */
  updatesPerRollout: number;
  /** True when ratios cannot leave 1: one update per rollout, lag 0, f32 sampler or oldLogp from the trainer. */
  onPolicy: boolean;
  scale: RulerScale;
  onScale(scale: RulerScale): void;
  /** Offers the staleness dial when every ratio is 1; without it no button is shown. */
  onShowDial?: () => void;
  /** The phone's layout: three rollouts, no histogram, short heads. */
  compact?: boolean;
}

/** One response token: index into `batch.completions`, and its place in that response. */
export interface TokenAddress {
  completion: number;
  token: number;
}

export interface RolloutsProps {
  /** Null before the first iteration has finished. */
  batch: BatchRecord | null;
  /**
   * The settings by which marks are drawn: objective and widths. The run's current config, so that dragging an epsilon
   * repaints the stored batch in the same frame; the batch's own config when left out.
   */
  config?: RunConfig;
  /** Prompt shown, index into `batch.prompts`. With groupSize 1, the first prompt of the page of prompts shown. */
  group: number;
  onGroup(group: number): void;
  selected: TokenAddress | null;
  onSelect(address: TokenAddress | null): void;
  /** Iterations still held, oldest first; the one shown is `batch.step`. */
  steps: readonly number[];
  onStep(step: number): void;
  /** The base policy's answers, shown while there is no batch. */
  answers?: readonly ShowcaseAnswer[];
  /** Rows shown at once (the rest by scrolling inside the panel); 5 when left out, 1 on the phone. */
  rows?: number;
  compact?: boolean;
}

export interface TokenInspectorProps {
  batch: BatchRecord | null;
  config?: RunConfig;
  selected: TokenAddress | null;
  compact?: boolean;
}

export interface ObjectiveFormulaProps {
  objective: string;
  config: RunConfig;
}
