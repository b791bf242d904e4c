import { criticOf } from '../../src/config/critic';
import { presetConfig } from '../../src/config/presets';
import type { Fallback } from '../../src/engines/engine';
import type { RunConfig } from '../../src/config/runConfig';
import { mean, pearson } from '../../src/core/statistics';
import { columnAddition } from '../../src/tasks/defs/columnAddition';
import type { TrainerLink } from '../../src/store/connect';
import { CalibrationWindow } from '../../src/trainer/calibration';
import type { BatchRecord, Phase, ShowcaseAnswer, StepReport, WorkerCommand, WorkerEvent } from '../../src/worker/protocol';
import { fakeBatch, fakeUpdates } from '../visual/fakeData';

/** What an invented worker should pretend. */
export interface FakeOptions {
  /** Milliseconds between iterations; 0 only steps when told. */
  pace?: number;
  software?: boolean;
  /** As if tfjs trained in WebGPU's place. */
  fallback?: Fallback;
  /** Sends this error in place of everything else, at `init`. */
  failWith?: Extract<WorkerEvent, { type: 'error' }>;
  /** Stays in this phase after `init`. */
  stuckIn?: { phase: Phase; message: string; progress: number | null };
}

const BASE_ANSWERS: ShowcaseAnswer[] = [
  { step: 0, prompt: '_28+_13=', response: 'u8+3=11.t2+1=3.31;', correct: false, expected: '41' },
  { step: 0, prompt: '147+285=', response: 'u7+5=12.t4+8=12.h1+2=3.322;', correct: false, expected: '432' },
  { step: 0, prompt: '_52+_36=', response: 'u2+6=8.t5+3=8.88;', correct: true, expected: '88' },
];
const LATER: Record<string, string> = { '_28+_13=': 'u8+3=11.t2+1+1=4.41;', '147+285=': 'u7+5=12.so,t4+8+1=13.h1+2+1=4.432;', '_52+_36=': 'u2+6=8.t5+3=8.88;' };

/**
 * A worker's stand-in that sends plausible, seeded, invented events: for tests of the stores and for looking at the page
 * without a GPU. `sent` holds every command it got. Nothing of it is in the build.
 */
export class FakeClient implements TrainerLink {
  readonly sent: WorkerCommand[] = [];
  private readonly listeners = new Set<(event: WorkerEvent) => void>();
  private config: RunConfig = presetConfig('grpo', 'small');
  private step = 0;
  private update = 0;
  private calibration = new CalibrationWindow();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly options: FakeOptions;

  constructor(options: FakeOptions = {}) {
    this.options = options;
  }

  emit(event: WorkerEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  onAny(listener: (event: WorkerEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  send(command: WorkerCommand): void {
    this.sent.push(command);
    switch (command.type) {
      case 'probe':
        return this.capability();
      case 'init':
        this.capability();
        return this.start(command.config);
      case 'reset':
        return this.start(command.config);
      case 'configure':
        return this.configure(command.patch);
      case 'play':
        this.phase('running', 'Training');
        return this.loop();
      case 'pause':
        this.stop();
        return this.phase('paused', 'Paused');
      case 'step':
        this.phase('running', 'Training');
        for (let i = 0; i < command.count; i++) this.iterate();
        return this.rest();
      case 'snapshot':
      case 'engine':
      case 'loseDevice':
        return;
    }
  }

  dispose(): void {
    this.stop();
    this.listeners.clear();
  }

  private capability(): void {
    const { software = false, fallback } = this.options;
    this.emit({
      type: 'capability',
      adapter: { vendor: 'invented', architecture: software ? 'software' : 'gpu-one', device: '', description: '', software, f16: true, subgroups: true, timestamps: true, ...(fallback && { fallback }) },
    });
  }

  private start(config: RunConfig): void {
    this.stop();
    this.config = config;
    this.step = this.update = 0;
    this.calibration = new CalibrationWindow();
    const { failWith, stuckIn } = this.options;
    if (failWith) return this.emit(failWith);
    this.emit({ type: 'phase', phase: 'loadingModel', message: 'Loading the base policy', progress: 0.4 });
    this.emit({ type: 'config', config, step: 0, changes: [] });
    if (stuckIn) return this.emit({ type: 'phase', ...stuckIn });
    this.emit({ type: 'base', manifest: { passRate: 0.35, greedy: 0.41, parameters: config.model === 'main' ? 61680 : 28832, bytes: 250_000 }, answers: BASE_ANSWERS });
    this.emit({ type: 'eval', report: { step: 0, prompts: 128, greedy: 0.41 }, answers: BASE_ANSWERS });
    this.phase('ready', 'Ready');
  }

  private configure(patch: Partial<RunConfig>): void {
    const changes = Object.entries(patch).map(([field, to]) => ({ field, from: String(this.config[field as keyof RunConfig]), to: String(to) }));
    this.config = { ...this.config, ...patch };
    this.emit({ type: 'config', config: this.config, step: this.step, changes });
  }

  private loop(): void {
    this.stop();
    this.timer = setTimeout(() => {
      this.iterate();
      if (this.step >= this.config.totalSteps) this.rest();
      else this.loop();
    }, this.options.pace ?? 400);
  }

  private stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private rest(): void {
    this.stop();
    this.phase(this.step >= this.config.totalSteps ? 'finished' : 'paused', 'Paused');
  }

  private phase(phase: Phase, message: string): void {
    this.emit({ type: 'phase', phase, message, progress: null });
  }

  private iterate(): void {
    const { config } = this;
    this.step++;
    const perStep = config.minibatches * config.epochs;
    const updates = fakeUpdates(config.seed * 1000 + this.step, 1, perStep, perStep > 1 ? 1 : 0).map((update, i) => ({
      ...update, update: this.update + i, step: this.step, epoch: 1 + Math.floor(i / config.minibatches), minibatch: 1 + (i % config.minibatches), gradNorm: 0.5 + 0.9 * Math.exp(-this.step / 9) + 0.1 * Math.sin(i + this.step),
    }));
    this.update += perStep;
    const single = config.groupSize === 1;
    const batch = { ...fakeBatch(config.seed * 100 + this.step, config.objective, single ? 16 : 4, single ? 1 : 8), step: this.step, config };
    const report: StepReport = {
      step: this.step, objective: config.objective,
      reward: Math.min(1, 0.36 + 0.52 * (1 - Math.exp(-this.step / 7)) + 0.03 * Math.sin(7 * this.step)),
      formatRate: 0.99, meanLength: 24, truncatedFraction: 0,
      groups: { drawn: config.prompts, trained: config.prompts, revisited: null },
      deadGroups: single ? null : Math.min(0.9, 0.15 + this.step / 60),
      critic: this.critic(batch),
      updates, selfCheck: { maxAbsLogRatio: 2.1e-6, ok: config.samplerPrecision === 'f32' && config.samplerLag === 0 ? true : null },
      ms: { rollout: 30, verify: 1, reference: 0, update: 30, total: 61 }, tokensPerSecond: 50_300,
    };
    this.emit({ type: 'step', report, batch });
    if (config.evalEvery > 0 && this.step % config.evalEvery === 0) {
      const greedy = 0.41 + 0.55 * (1 - Math.exp(-this.step / 6));
      const answers = BASE_ANSWERS.map((answer) => ({ ...answer, step: this.step, response: LATER[answer.prompt] ?? answer.response, correct: columnAddition.verify(answer.prompt, LATER[answer.prompt] ?? answer.response) === 1 }));
      this.emit({ type: 'eval', report: { step: this.step, prompts: config.evalPrompts, greedy }, answers });
    }
  }

  /** A critic that knows a little: its calibration is that of the invented batches, its curves are made up. */
  private critic({ completions }: BatchRecord): StepReport['critic'] {
    const level = criticOf(this.config);
    if (level === null) return null;
    const values = completions.map((row) => row.value ?? 0);
    const rewards = completions.map((row) => row.reward);
    this.calibration.add(values, rewards);
    const learnt = 1 - Math.exp(-this.step / 12);
    return {
      level, loss: (level === 'prompt' ? 0.69 : 0.12) * (1 - 0.35 * learnt + 0.03 * Math.sin(5 * this.step)), meanValue: mean(values), correlation: pearson(values, rewards),
      explainedVariance: -0.2 + 0.5 * learnt + 0.05 * Math.sin(3 * this.step), clippedValues: level === 'token' ? 0.04 * (1 - learnt) : null,
      calibration: this.calibration.report(),
    };
  }
}
