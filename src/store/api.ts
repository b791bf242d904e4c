import type { RunConfig } from '../config/runConfig';
import type { BatchRecord, Phase, StepReport, WorkerEvent } from '../worker/protocol';
import type { ConfigStore } from './configStore';
import type { RunControl } from './connect';
import type { CriticHistory, CriticLevel } from './history';
import type { RunState, RunStore } from './runStore';
import type { BoundedSeries } from './series';

/** The run as plain JSON: what `snapshot()` gives. */
export interface Snapshot {
  phase: Phase;
  message: string;
  step: number;
  config: RunConfig;
  /** The configuration that the worker runs; null before it has said so. */
  inForce: RunConfig | null;
  adapter: RunState['adapter'];
  base: RunState['base'];
  /** The last finished iteration, and its rollout batch with arrays as plain lists; null before the first. */
  report: StepReport | null;
  batch: unknown;
  reward: { step: number; reward: number }[];
  evals: { step: number; greedy: number }[];
  /** What each kind of critic has learnt, by iteration; empty where none was trained. */
  critic: Record<CriticLevel, Record<keyof CriticHistory, { step: number; value: number }[]>>;
  error: RunState['error'];
}

/** `window.ratioscope`: the page by script, for teachers and tests. */
export interface RatioscopeApi {
  /** Resolves when the base policy is loaded and a run can start; rejects when that fails. */
  ready: Promise<void>;
  /** Sets some settings (names of `ratioscope eval` and of the address) and returns the whole configuration. */
  config(patch?: Partial<RunConfig>): RunConfig;
  play(): void;
  /** Resolves when the run stands still. */
  pause(): Promise<void>;
  /** Runs n iterations; resolves when they are done, rejects when the run fails. */
  step(n?: number): Promise<void>;
  /** Starts over; resolves when the run is ready again. */
  reset(): Promise<void>;
  snapshot(): Snapshot;
  /** Calls `fn` with every worker event of that type (`step`, `eval`, `phase`, `error`, ...); returns a function that stops it. */
  on<T extends WorkerEvent['type']>(event: T, fn: (event: Extract<WorkerEvent, { type: T }>) => void): () => void;
}

const STILL: readonly Phase[] = ['ready', 'paused', 'finished'];

export function createApi(config: ConfigStore, run: RunStore, control: RunControl): RatioscopeApi {
  /** Resolves once `done` holds; rejects when the run fails first. */
  const until = (done: (state: RunState) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (state: RunState): boolean => {
        if (done(state)) resolve();
        else if (state.phase === 'failed') reject(new Error(state.error ? `${state.error.message} ${state.error.hint}` : state.message));
        else return false;
        return true;
      };
      if (check(run.getState())) return;
      const stop = run.subscribe((state) => {
        if (check(state)) stop();
      });
    });
  const ready = until((state) => STILL.includes(state.phase));
  // Nobody may be waiting for it; the page itself shows the error.
  ready.catch(() => undefined);
  return {
    ready,
    config(patch = {}) {
      return { ...config.getState().patch({ ...patch }) };
    },
    play: () => control.play(),
    pause() {
      control.pause();
      return until((state) => STILL.includes(state.phase));
    },
    step(n = 1) {
      control.flush();
      const begun = run.getState().step;
      control.step(n);
      // A run that had already finished stays so until the worker has taken the command.
      return until((state) => (state.step >= begun + n || (state.phase === 'finished' && state.step > begun)) && STILL.includes(state.phase));
    },
    reset() {
      control.reset();
      return until((state) => state.inForce !== null && STILL.includes(state.phase));
    },
    snapshot() {
      control.flush();
      return snapshotOf(run.getState(), config.getState().config);
    },
    on(event, fn) {
      return control.subscribe((worker) => {
        if (worker.type === event) fn(worker as Parameters<typeof fn>[0]);
      });
    },
  };
}

function snapshotOf(state: RunState, config: RunConfig): Snapshot {
  const { phase, message, step, inForce, adapter, base, error } = state;
  return plain({
    phase, message, step, config, inForce, adapter, base, error,
    report: state.recent.at(-1) ?? null,
    batch: state.batches.at(-1) ?? (null as BatchRecord | null),
    reward: state.history.reward.outline().map((point) => ({ step: point.x, reward: point.value })),
    critic: { prompt: curvesOf(state.history.critic.prompt), token: curvesOf(state.history.critic.token) },
    evals: state.evals.map(({ step: at, greedy }) => ({ step: at, greedy })),
  });
}

function curvesOf(critic: CriticHistory): Record<keyof CriticHistory, { step: number; value: number }[]> {
  const points = (series: BoundedSeries) => series.outline().map(({ x, value }) => ({ step: x, value }));
  return { loss: points(critic.loss), explainedVariance: points(critic.explainedVariance), clippedValues: points(critic.clippedValues) };
}

/** Copies a value, typed arrays becoming lists, so that JSON.stringify shows them as such. */
function plain<T>(value: T): T {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Float32Array) as unknown as T;
  if (Array.isArray(value)) return value.map(plain) as unknown as T;
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)])) as T;
  return value;
}
