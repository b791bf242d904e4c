import { OBJECTIVE_CHOICES } from '../config/choices';
import { applyCheckpoint, takeCheckpoint } from './checkpoint';
import type { Checkpoint } from './checkpoint';
import { criticOf } from '../config/critic';
import { FIELD_NAMES, fieldOf, formatValue } from '../config/fields';
import type { FieldName, Problem } from '../config/fieldTypes';
import { answersOf } from '../config/hyper';
import { objectivePatch } from '../config/presets';
import type { RunConfig } from '../config/runConfig';
import { validateConfig } from '../config/validate';
import type { ConfigLimits } from '../config/validate';
import type { PolicyEngine, ReferencePolicy } from '../engines/engine';
import { compileTokenLoss, getObjective, mixtureOf } from '../objectives';
import { VOCABULARY } from '../tasks/tokenizer';
import type { Task } from '../tasks/task';
import { CalibrationWindow } from './calibration';
import type { Critics } from './credit';
import { Critic } from './critic';
import { ReferencePolicyError } from './errors';
import { evaluateHeldOut, showcaseAnswers } from './evaluate';
import type { EvalReport, ShowcaseAnswer } from './report';
import { PromptHistory } from './promptHistory';
import { drawRollout } from './rollout';
import { trainOnRollout } from './step';
import type { StepResult } from './step';
import { TokenCritic } from './tokenCritic';

/** What the trainer cannot do by itself. */
export interface TrainerDeps {
  /** Loads the frozen base policy that KL is measured against; called when beta first rises above 0. It stays the caller's. */
  loadReference: () => Promise<ReferencePolicy>;
  /** A steady clock, ms. */
  now?: () => number;
  /** What is going on, for the phase line: nothing may be silent for over a second. `done` is 0..1, or null when unknown. */
  onActivity?: (activity: 'compiling' | 'loadingReference' | 'running' | 'evaluating', message: string, done: number | null) => void;
}

/** One setting that a live change altered; from and to in words. */
export interface Change {
  field: FieldName;
  from: string;
  to: string;
}

/** What a configuration may ask of this engine on this task, whose longest answers every update must have room for. */
export function configLimits(engine: PolicyEngine, task: Task): ConfigLimits {
  const { rolloutRows, updateRows, updatePositions, updatesPerIteration } = engine.limits;
  const longest = task.promptLength + task.maxNewTokens - 1;
  return { rolloutRows, updateRows: Math.min(updateRows, Math.floor(updatePositions / longest)), updatesPerIteration };
}

/**
 * One run: keeps the count of iterations and updates, the critic and the settings in force, and takes one iteration at a time.
 * The engine must hold the base parameters. Calls must not overlap. No DOM, no timers.
 */
export class Trainer {
  readonly engine: PolicyEngine;
  readonly task: Task;
  private readonly deps: TrainerDeps;
  private inForce: RunConfig;
  private stepsDone = 0;
  private updatesDone = 0;
  private readonly critics: Critics = { prompt: null, token: null, calibration: { prompt: new CalibrationWindow(), token: new CalibrationWindow() }, history: new PromptHistory() };
  private reference: ReferencePolicy | null = null;
  private compiled: string | null = null;
  private broken: unknown = null;

  /** @param config must have passed validateConfig. */
  constructor(engine: PolicyEngine, task: Task, config: RunConfig, deps: TrainerDeps) {
    this.engine = engine;
    this.task = task;
    this.deps = deps;
    this.inForce = { ...config };
  }

  /** The settings in force: a copy. */
  get config(): RunConfig {
    return { ...this.inForce };
  }

  /** Finished iterations. */
  get step(): number {
    return this.stepsDone;
  }

  /**
   * Changes settings from the next iteration on. Settings that need a reset are refused, values out of bounds clamped;
   * both are reported. A new objective brings what it must have along (objectivePatch).
   */
  configure(patch: Partial<RunConfig>): { changes: Change[]; problems: Problem[] } {
    const problems: Problem[] = [];
    const wanted: Record<string, unknown> = { ...patch };
    for (const name of FIELD_NAMES) {
      if (fieldOf(name).live || wanted[name] === undefined || wanted[name] === this.inForce[name]) continue;
      problems.push({ field: name, message: `${fieldOf(name).label}: a change needs a reset; it stays ${formatValue(name, this.inForce[name])}.` });
      delete wanted[name];
    }
    const objective = patch.objective;
    const known = objective !== undefined && (OBJECTIVE_CHOICES.some((o) => o.value === objective) || mixtureOf(objective) !== null);
    const base = known && answersOf({ ...this.inForce, objective }) !== answersOf(this.inForce) ? { ...this.inForce, ...objectivePatch(this.inForce, objective) } : this.inForce;
    const checked = validateConfig(wanted, base, configLimits(this.engine, this.task));
    const changes = FIELD_NAMES.filter((name) => checked.config[name] !== this.inForce[name]).map((field) => ({
      field, from: String(this.inForce[field]), to: String(checked.config[field]),
    }));
    this.inForce = checked.config;
    return { changes, problems: [...problems, ...checked.problems] };
  }

  /** Compiles the objective's token loss, so that the first iteration does not wait for it. A second call costs nothing. */
  prepare(): Promise<void> {
    return this.prepareFor(this.inForce);
  }

  private async prepareFor(config: RunConfig): Promise<void> {
    const { objective, beta } = config;
    if (this.compiled !== objective) {
      this.deps.onActivity?.('compiling', `Compiling ${getObjective(objective).title}`, null);
      await this.engine.setTokenLoss(compileTokenLoss(getObjective(objective)));
      this.compiled = objective;
    }
    const critic = criticOf(config);
    if (critic === 'prompt') this.critics.prompt ??= new Critic(this.task.promptLength, VOCABULARY, config.seed);
    if (critic === 'token') this.critics.token ??= await TokenCritic.start(this.engine);
    if (beta > 0 && !this.reference) {
      this.deps.onActivity?.('loadingReference', 'Loading the reference policy', null);
      try {
        this.reference = await this.deps.loadReference();
      } catch (error) {
        throw new ReferencePolicyError(error);
      }
    }
  }

  /**
   * One iteration: rollout, verification, minibatches times epochs of updates, metrics.
   * @throws NotFiniteError when the policy diverged (every later call throws the same), ReferencePolicyError
   */
  async runStep(): Promise<StepResult> {
    if (this.broken !== null) throw this.broken;
    // A change that arrives while this iteration runs must not reach half of it.
    const config = this.config;
    await this.prepareFor(config);
    const step = this.stepsDone + 1;
    const now = this.deps.now ?? (() => performance.now());
    const progress = (message: string, done: number): void => this.deps.onActivity?.('running', `Iteration ${step}: ${message}`, done);
    const started = now();
    progress('sampling', 0);
    const rollout = await drawRollout(this.engine, this.task, config, step, (found, round) =>
      progress(`sampling other prompts, ${found} of ${config.prompts} groups so far`, round / 10),
    );
    try {
      const result = await trainOnRollout(
        {
          engine: this.engine,
          task: this.task,
          config,
          step,
          updatesBefore: this.updatesDone,
          reference: config.beta > 0 ? this.reference : null,
          critics: this.critics,
          now,
          onProgress: progress,
        },
        rollout,
        started,
      );
      this.stepsDone = step;
      this.updatesDone += result.report.updates.length;
      return result;
    } catch (error) {
      // Some updates may have been made; the run cannot be continued from here. The reference fails before any of them.
      if (!(error instanceof ReferencePolicyError)) this.broken = error;
      throw error;
    }
  }

  /** All that the run has changed so far. Not while an iteration runs. */
  checkpoint(): Promise<Checkpoint> {
    return takeCheckpoint(this.engine, this.critics, this.stepsDone, this.updatesDone);
  }

  /** Goes back, or on, to a checkpoint of a run of the same task and model; the settings in force stay. Mends a run that had failed. */
  async restore(checkpoint: Checkpoint): Promise<void> {
    await applyCheckpoint(checkpoint, this.engine, this.task, this.inForce.seed, this.critics);
    this.stepsDone = checkpoint.step;
    this.updatesDone = checkpoint.updates;
    this.broken = null;
  }

  /** Greedy answers to held-out prompts and to the showcase prompts. */
  async evaluate(): Promise<{ report: EvalReport; answers: ShowcaseAnswer[] }> {
    const { accuracy, prompts } = await evaluateHeldOut(this.engine, this.task, {
      prompts: this.inForce.evalPrompts,
      greedy: true,
      onProgress: (done) => this.deps.onActivity?.('evaluating', 'Answering held-out prompts', done),
    });
    return { report: { step: this.stepsDone, prompts, greedy: accuracy }, answers: await this.showcase() };
  }

  /** Greedy answers to the showcase prompts. */
  async showcase(): Promise<ShowcaseAnswer[]> {
    const answers = await showcaseAnswers(this.engine, this.task);
    return answers.map((answer) => ({ step: this.stepsDone, ...answer }));
  }
}
