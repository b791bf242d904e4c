import type { RunConfig } from '../config/runConfig';
import { validateConfig } from '../config/validate';
import { UserError } from '../core/errors';
import type { BatchRecord, StepReport } from '../trainer/report';
import { configLimits, Trainer } from '../trainer/trainer';
import type { Environment, GpuHandle } from './environment';
import { errorEvent, gpuFailure, NOT_UNDERSTOOD, recovering, tooEarly } from './failure';
import { isCommand } from './guards';
import { tryInspectLoss } from './inspectLoss';
import { Outbox } from './outbox';
import { Pace } from './pace';
import type { ErrorKind, Phase, WorkerCommand, WorkerEvent } from './protocol';
import { preparedOrWithout, Recovery, type Resume } from './recovery';
import { Workbench, type WorkbenchHooks } from './workbench';

/** How long the news of a lost device may take, ms. */
const LOSS_MS = 100;

/** Thrown inside a loop that a reset or a failure has overtaken. */
class Superseded extends Error {}

/**
 * The worker's state machine, apart from `self`: takes commands, keeps one run, posts events. One loop at a time works on
 * the engine; commands only set what it should do next. A reset or a lost device starts a new generation: whatever an
 * older loop still brings is dropped.
 */
export class Runner<G extends GpuHandle = GpuHandle> {
  private readonly env: Environment<G>;
  private readonly outbox: Outbox;
  private readonly workbench: Workbench<G>;
  private trainer: Trainer | null = null;
  private modelsUrl: string | null = null;
  /** A run that is to be set up. */
  private wanted: RunConfig | null = null;
  private playing = false;
  private stepsToGo = 0;
  private stepping = false;
  private evaluatedAt = -1;
  private generation = 0;
  /** The loop at work, and the generation it works for. */
  private loop: Promise<void> | null = null;
  private loopGeneration = 0;
  /** A command came that the loop has not looked at yet. */
  private dirty = false;
  private probing = false;
  private readonly pace: Pace;
  private readonly recovery: Recovery;
  private lastReport: StepReport | null = null;
  private lastBatch: BatchRecord | null = null;

  constructor(env: Environment<G>, post: (events: WorkerEvent[]) => void) {
    this.env = env;
    this.outbox = new Outbox(post);
    this.workbench = new Workbench(env);
    this.pace = new Pace(env);
    this.recovery = new Recovery(this.outbox);
  }

  /** Takes one message of the page. Never throws: what is wrong becomes an error event. */
  handle(message: unknown): void {
    if (!isCommand(message)) {
      this.outbox.send(NOT_UNDERSTOOD);
      return;
    }
    try {
      this.dispatch(message);
    } catch (error) {
      this.outbox.send(errorEvent(error));
    }
  }

  /** Resolves when there is nothing more to do: for tests and the command line. */
  async idle(): Promise<void> {
    while (this.loop) await this.loop;
  }

  private dispatch(command: WorkerCommand): void {
    switch (command.type) {
      case 'probe':
        this.probing = true;
        this.kick();
        return;
      case 'engine':
        this.workbench.wish = command.engine;
        return;
      case 'init':
        this.modelsUrl = command.modelsUrl;
        this.restart(command.config, command.resume && { ...command.resume, steps: 0 });
        return;
      case 'reset':
        if (this.modelsUrl === null) return this.outbox.send(tooEarly('reset'));
        this.restart(command.config);
        return;
      case 'configure':
        this.configure(command.patch);
        return;
      case 'play':
        if (!this.trainer && !this.wanted) return this.outbox.send(tooEarly('play'));
        this.playing = true;
        this.kick();
        return;
      case 'pause':
        this.halt();
        this.kick();
        return;
      case 'step':
        if (!this.trainer && !this.wanted) return this.outbox.send(tooEarly('step'));
        this.stepsToGo += command.count;
        this.kick();
        return;
      case 'rewind':
        if (!this.trainer || !this.recovery.last) return this.outbox.send(tooEarly('rewind'));
        this.halt();
        this.recovery.rewinding = true;
        this.kick();
        return;
      case 'snapshot':
        this.outbox.send({ type: 'snapshot', requestId: command.requestId, report: this.lastReport, batch: this.lastBatch });
        return;
      case 'inspectLoss':
        void this.inspect(command);
        return;
      case 'loseDevice':
        return this.workbench.openedGpu?.lose();
      case 'poison':
        this.recovery.poisoning = true;
    }
  }

  /** Beside the run: the kernel has buffers of its own, and the queue takes turns. */
  private async inspect({ requestId, ...wanted }: Extract<WorkerCommand, { type: 'inspectLoss' }>): Promise<void> {
    const gpu = this.workbench.openedGpu;
    const outcome = await tryInspectLoss(wanted, (gpu && this.env.tokenLossRunner?.(gpu)) ?? null);
    this.outbox.send({ type: 'lossInspected', requestId, ...outcome });
  }

  private configure(patch: Partial<RunConfig>): void {
    if (!this.trainer) {
      // The run that is being set up starts with the change.
      if (this.wanted) this.wanted = validateConfig(patch, this.wanted).config;
      // After a failure there is nothing to change: the reset brings all settings along.
      else if (this.modelsUrl === null) this.outbox.send(tooEarly('configure'));
      return;
    }
    const { changes, problems } = this.trainer.configure(patch);
    if (problems.length > 0) this.outbox.send({ type: 'notice', problems });
    // An iteration that is under way ends with the settings that it began with.
    const step = this.trainer.step + (this.stepping ? 2 : 1);
    this.outbox.send({ type: 'config', config: this.trainer.config, step, changes });
    if (!this.loop && this.trainer.step > 0) this.settle(this.trainer);
    this.kick();
  }

  /** Drops the present run, with all that it has not told yet, and sets up another as soon as the engine is free. */
  private restart(config: RunConfig, resume?: Resume): void {
    this.outbox.clear();
    this.begin(config, resume);
  }

  private begin(config: RunConfig, resume?: Resume): void {
    this.generation++;
    this.playing = resume?.play ?? false;
    this.stepsToGo = resume?.steps ?? 0;
    this.trainer = null;
    this.lastReport = null;
    this.lastBatch = null;
    this.stepping = false;
    this.recovery.clear();
    if (resume) this.recovery.continueFrom(resume.checkpoint);
    this.wanted = config;
    this.phase('starting', this.loop ? 'Finishing what was under way' : 'Starting', null);
    this.kick();
  }

  /** Wakes the loop from a wait, or starts one behind what an older generation is still doing. */
  private kick(): void {
    this.dirty = true;
    this.pace.wakeUp();
    const { generation } = this;
    if (this.loop && this.loopGeneration === generation) return;
    const before = this.loop;
    this.loopGeneration = generation;
    this.loop = (async () => {
      await before;
      while (this.dirty && generation === this.generation) {
        this.dirty = false;
        try {
          await this.work(generation);
        } catch (error) {
          if (error instanceof Superseded) continue;
          // What waits on a device that is lost fails a moment before the loss is told, which explains it better.
          if (!(error instanceof UserError)) await this.env.sleep(LOSS_MS);
          if (generation === this.generation) this.fail(error);
        }
      }
      if (this.loopGeneration === generation) this.loop = null;
    })();
  }

  private mayStep(trainer: Trainer): boolean {
    return this.stepsToGo > 0 || (this.playing && trainer.step < trainer.config.totalSteps);
  }

  /** Sets up a run if one is wanted, then takes iterations as long as there are any to take. */
  private async work(generation: number): Promise<void> {
    if (this.probing) {
      this.probing = false;
      const known = this.workbench.openedGpu;
      if (known) this.outbox.send({ type: 'capability', adapter: known.adapter });
      else await this.workbench.openGpu(this.hooks(generation));
    }
    if (this.wanted) await this.setUp(generation);
    const { trainer } = this;
    if (trainer && this.recovery.rewinding) await this.rewind(trainer);
    if (!trainer || !(this.playing || this.stepsToGo > 0)) return;
    if (this.mayStep(trainer)) this.phase('running', `Iteration ${trainer.step + 1}`, 0);
    while (this.mayStep(trainer)) {
      const began = this.env.now();
      if (trainer.step === 0) await this.evaluate(trainer, generation);
      await this.oneStep(trainer, generation);
      await this.pace.rest(began, () => trainer.config.speed, () => this.trainer === trainer && this.mayStep(trainer));
      this.check(generation);
    }
    if (trainer.step >= trainer.config.totalSteps) await this.evaluate(trainer, generation);
    // A command that came during the evaluation may want more.
    if (this.mayStep(trainer)) {
      this.dirty = true;
      return;
    }
    this.playing = false;
    this.settle(trainer);
  }

  /** Puts the run back to its last checkpoint, and leaves it paused there. */
  private async rewind(trainer: Trainer): Promise<void> {
    await this.recovery.rewind(trainer);
    this.evaluatedAt = -1;
    this.lastReport = null;
    this.lastBatch = null;
    this.settle(trainer);
  }

  private async oneStep(trainer: Trainer, generation: number): Promise<void> {
    this.stepping = true;
    try {
      await this.recovery.poison(trainer);
      const { report, batch } = await trainer.runStep();
      this.check(generation);
      if (this.stepsToGo > 0) this.stepsToGo--;
      this.lastReport = report;
      this.lastBatch = batch;
      this.outbox.sendSoon({ type: 'step', report, batch });
      await this.recovery.keep(trainer, () => this.check(generation));
    } finally {
      if (generation === this.generation) this.stepping = false;
    }
    const { evalEvery } = trainer.config;
    if (evalEvery > 0 && trainer.step % evalEvery === 0) await this.evaluate(trainer, generation);
  }

  /** Held-out evaluation, once per state of the policy. */
  private async evaluate(trainer: Trainer, generation: number): Promise<void> {
    if (trainer.config.evalEvery === 0 || this.evaluatedAt === trainer.step) return;
    const { report, answers } = await trainer.evaluate();
    this.check(generation);
    this.evaluatedAt = trainer.step;
    this.outbox.sendSoon({ type: 'eval', report, answers });
  }

  /** Says where the run stands when no iteration is under way. */
  private settle(trainer: Trainer): void {
    const { totalSteps } = trainer.config;
    if (trainer.step >= totalSteps) this.phase('finished', `${trainer.step} iterations done`, 1);
    else this.phase('paused', `Paused after iteration ${trainer.step}`, trainer.step / totalSteps);
  }

  private async setUp(generation: number): Promise<void> {
    const hooks = this.hooks(generation);
    while (this.wanted) {
      const given = this.wanted;
      const { engine, loaded } = await this.workbench.load(given, this.modelsUrl ?? '', hooks);
      this.check(generation);
      const task = this.env.getTask(given.task);
      const { config, problems } = validateConfig(given, given, configLimits(engine, task));
      engine.loadParams(loaded.policy.params);
      const trainer = new Trainer(engine, task, config, {
        now: () => this.env.now(),
        loadReference: () => this.workbench.reference(loaded, hooks),
        onActivity: (activity, message, done) => {
          if (activity === 'compiling' || activity === 'loadingReference') hooks.phase(activity, message, done);
          else if (generation === this.generation) this.outbox.sendActivity({ type: 'phase', phase: 'running', message, progress: done });
        },
      });
      const withoutReference = await preparedOrWithout(trainer, () => this.check(generation));
      // While the engine still holds the base policy.
      if (loaded.answers.length === 0) loaded.answers = await trainer.showcase();
      const { resume } = this.recovery;
      if (resume) await this.recovery.takeUp(trainer, resume);
      this.check(generation);
      // A change that came meanwhile may want another model or task.
      if (this.wanted !== given) continue;
      this.wanted = null;
      this.recovery.resume = null;
      this.trainer = trainer;
      this.evaluatedAt = -1;
      if (problems.length > 0) this.outbox.send({ type: 'notice', problems });
      this.outbox.send({ type: 'config', config: trainer.config, step: 1, changes: [] });
      const { passRate, greedy, parameters, bytes } = loaded.policy;
      this.outbox.send({ type: 'base', manifest: { passRate, greedy, parameters, bytes: bytes.length }, answers: loaded.answers });
      if (resume) this.settle(trainer);
      else {
        await this.recovery.keep(trainer, () => this.check(generation));
        this.phase('ready', 'Ready', 1);
      }
      if (withoutReference) this.outbox.send(withoutReference);
    }
  }

  /** The workbench's voice on behalf of one generation: an overtaken one is silent. */
  private hooks(generation: number): WorkbenchHooks {
    return {
      phase: (phase, message, progress) => {
        if (generation === this.generation) this.phase(phase, message, progress);
      },
      send: (event) => this.outbox.send(event),
      gpuFailed: (kind, message) => {
        // The loop may wait for ever for a lost device.
        this.loop = null;
        this.gpuFailed(kind, message);
      },
      guarded: (promise, kind) => this.guarded(promise, kind, generation),
    };
  }

  /** Goes on from the last checkpoint on a fresh device while that is worth a try; else the run is over. */
  private gpuFailed(kind: 'deviceLost' | 'gpuError', message: string): void {
    const { trainer, recovery: { last } } = this;
    if (!trainer || !last || !this.recovery.mayRestart(this.env.now())) {
      this.stop(gpuFailure(kind, message));
      return;
    }
    // Iterations that are lost have to be made again.
    const steps = this.stepsToGo > 0 ? this.stepsToGo + trainer.step - last.step : 0;
    this.outbox.send(recovering(gpuFailure(kind, message), last.step, 'device'));
    this.begin(trainer.config, { checkpoint: last, play: this.playing, steps });
  }

  /** Waits for `promise`; its error becomes one of this kind. */
  private async guarded<T>(promise: Promise<T>, kind: ErrorKind, generation: number): Promise<T> {
    try {
      const value = await promise;
      this.check(generation);
      return value;
    } catch (error) {
      this.check(generation);
      this.end(errorEvent(error, kind));
      throw new Superseded();
    }
  }

  private fail(error: unknown): void {
    this.end(this.recovery.errorEvent(error));
  }

  private end(event: WorkerEvent & { type: 'error' }): void {
    if (event.fatal) this.stop(event);
    else this.pauseOn(event);
  }

  /** The run is over; only a reset brings another. */
  private stop(event: WorkerEvent & { type: 'error' }): void {
    this.generation++;
    this.halt();
    this.stepping = false;
    this.wanted = null;
    this.trainer = null;
    this.outbox.send(event);
    this.phase('failed', event.message, null);
  }

  private pauseOn(event: WorkerEvent): void {
    this.halt();
    this.outbox.send(event);
    if (this.trainer) this.settle(this.trainer);
  }

  private halt(): void {
    this.playing = false;
    this.stepsToGo = 0;
  }

  private check(generation: number): void {
    if (generation !== this.generation) throw new Superseded();
  }

  private phase(phase: Phase, message: string, progress: number | null): void {
    this.outbox.send({ type: 'phase', phase, message, progress });
  }
}
