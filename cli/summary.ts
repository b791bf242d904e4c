import type { RunConfig } from '../src/config/runConfig';
import { LEVELS, type Level } from '../src/core/levels';
import type { StepReport, UpdateReport } from '../src/trainer/report';
import type { HeadlessResult } from './headless';

/** What one finished run comes to. Shares are in [0, 1]; fractions are means over all minibatches of the run. */
export interface RunSummary {
  adapter: string;
  preset: string;
  objective: string;
  task: string;
  model: string;
  seed: number;
  steps: number;
  config: RunConfig;
  /** Mean rollout reward: first step, last five steps; first step at which the mean of five reaches .85 (null: never). */
  rewardFirst: number;
  rewardLast5: number;
  stepsTo85: number | null;
  /** Largest fall of the 5-step mean below an earlier one. */
  drawdown: number;
  /** Mean reward of every step. */
  rewards: number[];
  evalPrompts: number;
  evalSampled: number;
  evalGreedy: number;
  stepsPerSecond: number;
  /** Sampled tokens per second of whole steps, training included, and of the rollouts alone. */
  tokensPerSecond: number;
  rolloutTokensPerSecond: number;
  /** Sampled response tokens of the run. */
  tokens: number;
  /** Of the objective in use: share of live tokens (advantage not 0) whose gradient its clip cut, and share of gradient. */
  clippedLiveTokens: number;
  gradientClipped: number;
  /** The same band counted at each level: over live units, and over live tokens. */
  binding: Record<Level, { liveUnits: number; liveTokens: number }>;
  /** Population sd of log ratio (nats) at each level. */
  logRatioSd: Record<Level, number>;
  maxAbsLogRatio: number;
  gradNorm: number;
  /** Largest |log ratio| at a first update after a rollout, and whether every self-check that means something held. */
  selfCheckMax: number;
  selfCheckOk: boolean | null;
}

/** Boils a run down. */
export function summarise(config: RunConfig, adapter: string, { reports, sampled, greedy, seconds }: HeadlessResult): RunSummary {
  const updates = reports.flatMap((r) => r.updates);
  const average = (of: (u: UpdateReport) => number): number => mean(updates.map(of));
  const rewards = reports.map((r) => r.reward);
  const rows = config.prompts * config.groupSize;
  const tokens = reports.reduce((sum, r) => sum + r.meanLength * rows, 0);
  const rolloutSeconds = reports.reduce((sum, r) => sum + r.ms.rollout, 0) / 1000;
  return {
    adapter,
    preset: config.preset,
    objective: config.objective,
    task: config.task,
    model: config.model,
    seed: config.seed,
    steps: reports.length,
    config,
    rewardFirst: rewards[0],
    rewardLast5: mean(rewards.slice(-5)),
    stepsTo85: stepsTo(rewards, 0.85),
    drawdown: drawdown(rewards),
    rewards,
    evalPrompts: sampled.prompts,
    evalSampled: sampled.accuracy,
    evalGreedy: greedy.accuracy,
    stepsPerSecond: reports.length / seconds,
    tokensPerSecond: tokens / seconds,
    rolloutTokensPerSecond: tokens / rolloutSeconds,
    tokens,
    clippedLiveTokens: average((u) => u.metrics.clippedLiveTokens),
    gradientClipped: average((u) => u.metrics.gradientClipped),
    binding: byLevel((level) => ({
      liveUnits: average((u) => u.metrics.levels[level].binding.liveUnits.both),
      liveTokens: average((u) => u.metrics.levels[level].binding.liveTokens.both),
    })),
    logRatioSd: byLevel((level) => average((u) => u.metrics.levels[level].logRatio.sd)),
    maxAbsLogRatio: updates.reduce((max, u) => Math.max(max, u.metrics.maxAbsLogRatio), 0),
    gradNorm: average((u) => u.gradNorm),
    selfCheckMax: reports.reduce((max, r) => Math.max(max, r.selfCheck.maxAbsLogRatio), 0),
    selfCheckOk: selfCheck(reports),
  };
}

function byLevel<T>(of: (level: Level) => T): Record<Level, T> {
  const [token, segment, sequence] = LEVELS;
  return { token: of(token), segment: of(segment), sequence: of(sequence) };
}

/** First step (from 1) at which the mean of the last five rewards reaches `goal`; null when it never does. */
export function stepsTo(rewards: readonly number[], goal: number): number | null {
  const at = fiveMeans(rewards).findIndex((m) => m >= goal);
  return at < 0 ? null : at + 5;
}

/** Largest fall of the five-step mean reward from an earlier high. */
export function drawdown(rewards: readonly number[]): number {
  let high = -Infinity;
  let worst = 0;
  for (const m of fiveMeans(rewards)) {
    high = Math.max(high, m);
    worst = Math.max(worst, high - m);
  }
  return worst;
}

function fiveMeans(rewards: readonly number[]): number[] {
  return rewards.slice(4).map((_, i) => mean(rewards.slice(i, i + 5)));
}

function selfCheck(reports: readonly StepReport[]): boolean | null {
  const meant = reports.map((r) => r.selfCheck.ok).filter((ok) => ok !== null);
  return meant.length === 0 ? null : meant.every(Boolean);
}

export function mean(x: readonly number[]): number {
  return x.reduce((a, b) => a + b, 0) / x.length;
}

/** Sample standard deviation; 0 for a single value. */
export function sampleSd(x: readonly number[]): number {
  if (x.length < 2) return 0;
  const m = mean(x);
  return Math.sqrt(x.reduce((s, v) => s + (v - m) ** 2, 0) / (x.length - 1));
}
