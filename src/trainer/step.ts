import { hyperparametersOf, clipWidthsOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { Rng } from '../core/rng';
import { mean } from '../core/statistics';
import type { PackedBatch, PolicyEngine, ReferencePolicy, UpdateRecord } from '../engines/engine';
import { computeMetrics, deadGroupShare, getObjective, rowWeights, segmentTokens } from '../objectives';
import type { BatchMetrics, ObjectiveBatch } from '../objectives/types';
import type { Task } from '../tasks/task';
import { ADAM } from './adam';
import { compactRows, packLossInputs, packRows, responseOf } from './batch';
import type { RowData } from './batch';
import { assignCredit } from './credit';
import type { Critics } from './credit';
import { NotFiniteError, ReferencePolicyError } from './errors';
import { importanceWeights } from './mismatch';
import type { BatchRecord, CompletionRecord, StepReport, UpdateReport } from './report';
import type { Rollout } from './rollout';
import { groupsOf, hasNoWeight, minibatchRows, rowsPerPass, trainedRows } from './selection';
import { answerRewards, tokenRewards } from './shaping';
import { STREAM } from './streams';

/** Largest |log ratio| (nats) at the first update after a rollout that still counts as "the same policy" in f32. */
export const SELF_CHECK_TOLERANCE = 1e-4;

/** What one iteration works with. */
export interface StepContext {
  engine: PolicyEngine;
  task: Task;
  config: RunConfig;
  /** Iteration, from 1. */
  step: number;
  /** Updates of the run so far. */
  updatesBefore: number;
  /** Present when beta > 0. */
  reference: ReferencePolicy | null;
  /** With the one that the settings ask for (credit.ts). */
  critics: Critics;
  /** Milliseconds of a steady clock. */
  now: () => number;
  /** What is being done, and how much of the iteration is done, 0..1. */
  onProgress: (message: string, done: number) => void;
}

export interface StepResult {
  report: StepReport;
  batch: BatchRecord;
}

/** One planned minibatch update. */
interface Planned {
  epoch: number;
  minibatch: number;
  rows: number[];
  packed: PackedBatch;
  learningRate: number;
}

/**
 * Everything after the rollout: verify, old and reference log-probs, advantages, minibatches times epochs of updates,
 * metrics. Updates are enqueued one after another and read back once, so the GPU is never waited for in between.
 * @throws NotFiniteError when a log-prob, gradient or loss is not finite
 */
export async function trainOnRollout(context: StepContext, rollout: Rollout, started: number): Promise<StepResult> {
  const { engine, task, config, step, now } = context;
  const rolloutDone = now();
  const { rewards, formed } = verify(task, rollout, config, step);
  const segments = rollout.characters.map((tokens) => segmentTokens(tokens, { delimiters: task.delimiters, eos: task.eos }));
  const verifyDone = now();

  context.onProgress('scoring', 0.4);
  const old = config.oldLogpSource === 'trainer' ? await scoreRows(engine, rollout, config) : { logp: rollout.logp, entropy: rollout.entropy };
  checkRows(old.logp, 'The log-prob of a sampled token', step);
  const oldDone = now();
  const refLogp = context.reference ? await referenceRows(context.reference, rollout, config) : null;
  if (refLogp) checkRows(refLogp, 'A log-prob of the reference policy', step);
  const referenceDone = now();

  const arriving = tokenRewards(config, task, { rewards, lengths: rollout.lengths, oldLogp: old.logp, refLogp });
  const shaped = answerRewards(arriving);
  const credit = await assignCredit(config, task, context.critics, rollout, { earned: rewards, arriving, shaped }, step);
  const importance = importanceWeights(config.mismatchCorrection, { cap: config.mismatchCap, floor: config.mismatchFloor }, rollout.logp, old.logp);
  const meanEntropy = meanOf(old.entropy);
  const rows: RowData[] = segments.map((segment, r) => ({
    oldLogp: old.logp[r], refLogp: refLogp?.[r] ?? null, advantages: credit.advantages[r], segments: segment, entropy: old.entropy[r],
    ...(importance && { importance: importance[r] }),
  }));
  const trained = trainedRows(config, rollout, shaped);
  if (hasNoWeight(config, rollout, trained)) {
    for (const r of trained) rows[r].importance = { applied: new Float64Array(rollout.lengths[r]), whole: new Float64Array(rollout.lengths[r]).fill(1) };
  }

  const hyper = hyperparametersOf(config);
  const planned: Planned[] = [];
  for (let epoch = 1; epoch <= config.epochs; epoch++) {
    for (const [i, places] of minibatchRows(config, step, epoch, trained.length).entries()) {
      if (places.length === 0) continue;
      const chosen = places.map((place) => trained[place]);
      const update = context.updatesBefore + planned.length;
      const packed = packRows(rollout, chosen);
      const weights = rowWeights(chosen.map((r) => rollout.lengths[r]), config.lossAggMode, { maxTokens: task.maxNewTokens });
      const inputs = packLossInputs(packed, task.promptLength, chosen.map((r) => rows[r]), weights, meanEntropy);
      const learningRate = config.learningRate * Math.min(1, (update + 1) / config.warmupUpdates);
      engine.update(packed, inputs, { ...ADAM, learningRate, maxGradNorm: config.maxGradNorm, temperature: config.temperature, hyper });
      planned.push({ epoch, minibatch: i + 1, rows: chosen, packed, learningRate });
      credit.lesson?.train(chosen, packed);
    }
  }
  engine.endIteration();
  context.onProgress(planned.length === 1 ? '1 update' : `${planned.length} updates`, 0.6);
  const records = await engine.collect();
  const critic = (await credit.lesson?.report()) ?? null;
  const updatesDone = now();
  if (records.length !== planned.length) throw new Error(`the engine gave ${records.length} records for ${planned.length} updates`);

  const updates: UpdateReport[] = [];
  // A row that no update trained on has moved nowhere that anyone measured.
  const newLogp: Float32Array[] = old.logp.slice();
  const lastUpdate: number[] = old.logp.map(() => 0);
  planned.forEach((plan, k) => {
    const record = records[k];
    const metrics = measure(context, rows, plan, record, meanEntropy);
    const update = context.updatesBefore + k;
    checkUpdate(plan.rows, (i) => responseOf(plan.packed, task.promptLength, record.newLogp, i), record, metrics, step, k + 1);
    updates.push({ update, step, epoch: plan.epoch, minibatch: plan.minibatch, metrics, gradNorm: record.gradNorm, learningRate: plan.learningRate });
    plan.rows.forEach((r, i) => {
      newLogp[r] = responseOf(plan.packed, task.promptLength, record.newLogp, i);
      lastUpdate[r] = k + 1;
    });
  });

  const tokens = rollout.lengths.reduce((sum, n) => sum + n, 0);
  const rolloutMs = rolloutDone - started;
  const report: StepReport = {
    step,
    objective: config.objective,
    reward: mean(rewards),
    formatRate: mean(formed),
    meanLength: tokens / rollout.rows,
    truncatedFraction: rollout.truncated.filter(Boolean).length / rollout.rows,
    deadGroups: rollout.groupSize === 1 ? null : deadGroupShare(shaped, groupsOf(rollout.rows, rollout.groupSize)),
    groups: { drawn: rollout.prompts.length, trained: new Set(trained.map((r) => Math.floor(r / rollout.groupSize))).size, revisited: credit.revisited },
    critic,
    updates,
    selfCheck: selfCheck(config, updates[0].metrics),
    ms: {
      rollout: rolloutMs,
      verify: verifyDone - rolloutDone,
      reference: referenceDone - oldDone,
      update: oldDone - verifyDone + (updatesDone - referenceDone),
      total: now() - started,
    },
    tokensPerSecond: rolloutMs > 0 ? (1000 * tokens) / rolloutMs : 0,
  };
  const kept = { oldLogp: compactRows(old.logp), newLogp: compactRows(newLogp), entropy: compactRows(old.entropy), refLogp: refLogp && compactRows(refLogp), values: credit.tokenValues && compactRows(credit.tokenValues) };
  const completions: CompletionRecord[] = rollout.characters.map((characters, r) => ({
    group: Math.floor(r / rollout.groupSize),
    tokens: characters,
    oldLogp: kept.oldLogp[r],
    newLogp: kept.newLogp[r],
    entropy: kept.entropy[r],
    refLogp: kept.refLogp?.[r] ?? null,
    segments: segments[r],
    reward: rewards[r],
    advantage: credit.byAnswer[r],
    advantages: credit.isPerToken ? Float32Array.from(credit.advantages[r]) : null,
    value: credit.promptValues?.[r] ?? null,
    values: kept.values?.[r] ?? null,
    minibatch: lastUpdate[r],
  }));
  return { report, batch: { step, objective: config.objective, config: { ...config }, prompts: rollout.prompts, completions, meanEntropy } };
}

/** Rewards and well-formedness of every row; the control deals the rewards out at random. */
function verify(task: Task, rollout: Rollout, config: RunConfig, step: number): { rewards: number[]; formed: number[] } {
  const rewards: number[] = [];
  const formed: number[] = [];
  rollout.characters.forEach((characters, r) => {
    const prompt = rollout.prompts[Math.floor(r / rollout.groupSize)];
    const response = characters.join('');
    rewards.push(task.verify(prompt, response));
    formed.push(task.wellFormed(prompt, response) ? 1 : 0);
  });
  if (config.shuffleRewards) new Rng(config.seed, STREAM.rewardShuffle, step).shuffle(rewards);
  return { rewards, formed };
}

/** Log-probs and entropies of every row under the trainer's present parameters. */
async function scoreRows(engine: PolicyEngine, rollout: Rollout, config: RunConfig): Promise<{ logp: Float32Array[]; entropy: Float32Array[] }> {
  const logp: Float32Array[] = [];
  const entropy: Float32Array[] = [];
  for (const rows of chunks(rollout.rows, rowsPerPass(config))) {
    const packed = packRows(rollout, rows);
    const scored = await engine.score(packed, config.temperature);
    rows.forEach((r, i) => {
      logp[r] = responseOf(packed, rollout.promptLength, scored.logp, i);
      entropy[r] = responseOf(packed, rollout.promptLength, scored.entropy, i);
    });
  }
  return { logp, entropy };
}

async function referenceRows(reference: ReferencePolicy, rollout: Rollout, config: RunConfig): Promise<Float32Array[]> {
  const logp: Float32Array[] = [];
  for (const rows of chunks(rollout.rows, rowsPerPass(config))) {
    const packed = packRows(rollout, rows);
    let scored: Float32Array;
    try {
      scored = await reference.logp(packed, config.temperature);
    } catch (error) {
      throw new ReferencePolicyError(error);
    }
    rows.forEach((r, i) => {
      logp[r] = responseOf(packed, rollout.promptLength, scored, i);
    });
  }
  return logp;
}

function chunks(rows: number, size: number): number[][] {
  return Array.from({ length: rows / size }, (_, i) => Array.from({ length: size }, (_, k) => i * size + k));
}

/** Metrics of one minibatch as its update saw it, at all three levels. */
function measure(context: StepContext, rows: readonly RowData[], plan: Planned, record: UpdateRecord, meanEntropy: number): BatchMetrics {
  const { config, task } = context;
  const chosen = plan.rows.map((r) => rows[r]);
  const batch: ObjectiveBatch = {
    oldLogp: chosen.map((row) => row.oldLogp),
    newLogp: chosen.map((_, i) => responseOf(plan.packed, task.promptLength, record.newLogp, i)),
    mask: chosen.map((row) => new Uint8Array(row.oldLogp.length).fill(1)),
    segments: chosen.map((row) => row.segments),
    entropy: chosen.map((row) => row.entropy),
    advantages: chosen.map((row) => row.advantages),
    maxTokens: task.maxNewTokens,
    meanEntropy,
  };
  const refs = chosen.map((row) => row.refLogp).filter((ref) => ref !== null);
  if (refs.length === chosen.length) batch.refLogp = refs;
  const importance = chosen.flatMap((row) => row.importance ?? []);
  if (importance.length === chosen.length) batch.importance = { applied: importance.map((w) => w.applied), whole: importance.map((w) => w.whole) };
  return computeMetrics(getObjective(config.objective), batch, { hyper: hyperparametersOf(config), lossAggMode: config.lossAggMode, widths: clipWidthsOf(config) });
}

function checkRows(rows: readonly Float32Array[], place: string, step: number): void {
  rows.forEach((row, r) => checkRow(row, r, place, step, 0));
}

function checkRow(row: Float32Array, r: number, place: string, step: number, update: number): void {
  const bad = row.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0) throw new NotFiniteError(place, step, update, `answer ${r + 1}, token ${bad + 1}`);
}

/** `rows`: which answers of the iteration the update saw; `logpOf`: their new log-probs. */
function checkUpdate(rows: readonly number[], logpOf: (i: number) => Float32Array, record: UpdateRecord, metrics: BatchMetrics, step: number, update: number): void {
  rows.forEach((r, i) => checkRow(logpOf(i), r, 'A log-prob of the policy', step, update));
  if (!Number.isFinite(metrics.loss)) throw new NotFiniteError('The loss', step, update);
  if (!Number.isFinite(record.gradNorm)) throw new NotFiniteError('The gradient norm', step, update);
}

/** Sampler and trainer must agree before anything was learnt from a rollout, unless a dial makes them differ on purpose. */
function selfCheck(config: RunConfig, first: BatchMetrics): StepReport['selfCheck'] {
  const mismatchWanted = config.oldLogpSource === 'sampler' && (config.samplerPrecision !== 'f32' || config.samplerLag > 0);
  return { maxAbsLogRatio: first.maxAbsLogRatio, ok: mismatchWanted ? null : first.maxAbsLogRatio < SELF_CHECK_TOLERANCE };
}

function meanOf(rows: readonly ArrayLike<number>[]): number {
  let sum = 0;
  let n = 0;
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) sum += row[i];
    n += row.length;
  }
  return sum / n;
}
