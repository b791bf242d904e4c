import { fieldOf, isFieldName, type FieldName } from '../config/fields';
import type { RunConfig } from '../config/runConfig';
import { RestartLimit } from '../core/restartLimit';
import type { AdapterReport } from '../engines/engine';
import type { Checkpoint, LossInspection, Phase, WorkerCommand, WorkerEvent } from '../worker/protocol';
import { changedFields, presetOver, type ConfigStore } from './configStore';
import { applyEvents, clearedRun, type RunStore } from './runStore';

/** What the page needs of the worker's client (worker/client.ts; tests bring their own). */
export interface TrainerLink {
  send(command: WorkerCommand): void;
  /** Returns a function that stops listening. */
  onAny(listener: (event: WorkerEvent) => void): () => void;
  dispose(): void;
}

export interface ConnectOptions {
  client: TrainerLink;
  config: ConfigStore;
  run: RunStore;
  /** Folder of the base policies, ending in '/'. */
  modelsUrl: string;
  /** False when the address left the model size to the adapter. */
  modelGiven: boolean;
  /** Least time between two repaints, ms. */
  interval?: number;
}

/** What a person can do with the run; everything else is a setting. */
export interface RunControl {
  play(): void;
  pause(): void;
  step(count: number): void;
  /** Starts over with the settings as they stand. */
  reset(): void;
  /** Goes back to the last checkpoint and pauses there. */
  rewind(): void;
  /** Applies events that wait for the next repaint, at once. */
  flush(): void;
  /** The kernel of an objective, checked on the worker's device. Rejects with words for the person. */
  inspect(wanted: Pick<RunConfig, 'objective' | 'customObjective'>): Promise<LossInspection>;
  /** Every worker event, as it arrives. */
  subscribe(listener: (event: WorkerEvent) => void): () => void;
  dispose(): void;
}

/** A slider sends at most this often, ms; the page itself repaints in the same frame. */
const CONFIGURE_MS = 60;
/** Before the first iteration a change that needs a reset gets it by itself, once the person has stopped typing, ms. */
const AUTO_RESET_MS = 400;

/** A software adapter may take seconds over a large shader, and the worker may be busy. */
const INSPECT_MS = 60_000;

/** Events that wait for a repaint at most. */
const MOST_WAITING = 64;

/** Phases of a run that stands. */
const STILL: readonly Phase[] = ['ready', 'paused', 'finished', 'failed'];

/** Phases that only a run under way has: late ones of the old run say nothing about the new. */
const OF_A_RUN: readonly Phase[] = ['running', 'paused', 'finished'];

/** Joins client and stores: commands one way, events the other, repaints at most ten times a second. */
export function connect(options: ConnectOptions): RunControl {
  const { client, config, run, modelsUrl, interval = 100 } = options;
  const listeners = new Set<(event: WorkerEvent) => void>();
  let queue: WorkerEvent[] = [];
  let flushTimer: ReturnType<typeof setTimeout> | null = null;
  let configureTimer: ReturnType<typeof setTimeout> | null = null;
  let resetTimer: ReturnType<typeof setTimeout> | null = null;
  let begun = false;
  /** After a reset, results of the old run may still be on their way; they are dropped until the worker starts over. */
  let awaitingReset = false;
  /** Settings that the worker has just refused or clamped; the next `config` event says to what. */
  let repaired: FieldName[] = [];
  /** The last checkpoint of the run, in case its worker dies. */
  let kept: Checkpoint | null = null;
  const revivals = new RestartLimit();
  /** The person's last word was Play. */
  let playing = false;
  /** What the worker has been told last. */
  let sent: RunConfig = config.getState().config;

  const flush = () => {
    if (flushTimer !== null) clearTimeout(flushTimer);
    flushTimer = null;
    if (queue.length === 0) return;
    const events = queue;
    queue = [];
    run.setState(applyEvents(run.getState(), events), true);
  };

  const onEvent = (event: WorkerEvent) => {
    if (awaitingReset) {
      if (event.type === 'step' || event.type === 'eval' || event.type === 'checkpoint' || event.type === 'rewound' || (event.type === 'phase' && OF_A_RUN.includes(event.phase))) return;
      if (event.type === 'config') awaitingReset = false;
    }
    if (event.type === 'checkpoint') {
      kept = event.checkpoint;
      return;
    }
    const shown = event.type === 'error' && event.kind === 'crashed' ? revived(event) : event;
    queue.push(shown);
    if (event.type === 'capability' && !begun) chooseModel(event.adapter);
    if (event.type === 'notice') {
      config.getState().notify(event.problems.map((problem) => problem.message));
      repaired = event.problems.map((problem) => problem.field).filter(isFieldName);
    }
    if (event.type === 'config') adopt(event.config);
    // A change of state is never late; pictures and progress may wait.
    const canWait = event.type === 'step' || event.type === 'eval' || (event.type === 'phase' && event.phase === run.getState().phase);
    // In a hidden tab timers run once a minute: what waits must not pile up.
    if (canWait && queue.length < MOST_WAITING) flushTimer ??= setTimeout(flush, interval);
    else flush();
    for (const listener of listeners) listener(shown);
  };

  /**
   * A worker that died is replaced: the new one goes on from the last checkpoint that reached the page. Dying again before the next
   * checkpoint, or too often, would only repeat itself. Gives the error as the person should see it.
   */
  const revived = (event: Extract<WorkerEvent, { type: 'error' }>): WorkerEvent => {
    const checkpoint = kept;
    kept = null;
    if (!checkpoint || !begun || !revivals.take(performance.now())) return event;
    const play = playing && !STILL.includes(run.getState().phase);
    // Once this event has been dealt with: whoever listens sees the failure before its remedy.
    setTimeout(() => client.send({ type: 'init', config: sent, modelsUrl, resume: { checkpoint, play } }));
    return { ...event, fatal: false, hint: `A new one goes on from iteration ${checkpoint.step}; the history up to there is kept.` };
  };

  const begin = () => {
    begun = true;
    sent = config.getState().config;
    client.send({ type: 'init', config: sent, modelsUrl });
  };

  /** The adapter decides the model size where neither address nor person did; what the model's preset differs in comes along. */
  const chooseModel = ({ software, fallback }: AdapterReport) => {
    const { config: now, patch } = config.getState();
    const model = software ? 'small' : 'main';
    if (now.model !== model) {
      const [before, after] = [presetOver(now.preset, now), presetOver(now.preset, { ...now, model })];
      const moved = changedFields(before, after).filter((name) => now[name] === before[name]);
      patch({ ...Object.fromEntries(moved.map((name) => [name, after[name]])), model });
    }
    // Without a GPU half the prompts, so that a step stays short; a number of one's own stays.
    const { config: chosen } = config.getState();
    const { prompts } = presetOver(chosen.preset, chosen);
    if (fallback && chosen.prompts === prompts) patch({ prompts: Math.ceil(prompts / 2) });
    begin();
  };

  /** The worker may have repaired what it was told (its device has limits): the controls then show what is in force. */
  const adopt = (inForce: RunConfig) => {
    const names = repaired.filter((name) => config.getState().config[name] !== inForce[name]);
    repaired = [];
    sent = { ...inForce };
    if (names.length > 0) config.getState().patch(Object.fromEntries(names.map((name) => [name, inForce[name]])));
  };

  const configure = () => {
    configureTimer = null;
    const now = config.getState().config;
    const live = changedFields(sent, now).filter((name) => fieldOf(name).live);
    if (live.length === 0) return;
    sent = { ...sent, ...Object.fromEntries(live.map((name) => [name, now[name]])) };
    client.send({ type: 'configure', patch: Object.fromEntries(live.map((name) => [name, now[name]])) as Partial<RunConfig> });
  };

  const startOver = () => {
    for (const timer of [configureTimer, resetTimer]) if (timer !== null) clearTimeout(timer);
    configureTimer = resetTimer = null;
    flush();
    run.setState(clearedRun(run.getState()), true);
    if (!begun) {
      client.send({ type: 'probe' });
      return;
    }
    sent = config.getState().config;
    kept = null;
    playing = false;
    awaitingReset = true;
    client.send({ type: 'reset', config: sent });
  };

  const unsubscribeConfig = config.subscribe((state, before) => {
    if (state.config === before.config || !begun) return;
    configureTimer ??= setTimeout(configure, CONFIGURE_MS);
    const untouched = run.getState().step === 0 && queue.length === 0 && run.getState().phase !== 'running';
    if (untouched && changedFields(sent, state.config).some((name) => !fieldOf(name).live)) {
      if (resetTimer !== null) clearTimeout(resetTimer);
      resetTimer = setTimeout(startOver, AUTO_RESET_MS);
    }
  });
  const unsubscribeClient = client.onAny(onEvent);
  // A nameless model waits for the adapter: main suits a GPU, small a software one.
  if (options.modelGiven) begin();
  else client.send({ type: 'probe' });

  /** A command must not overtake a setting that was made before it. */
  const settle = () => {
    if (resetTimer !== null) startOver();
    else if (configureTimer !== null) {
      clearTimeout(configureTimer);
      configure();
    }
  };

  let nextRequest = 1;
  const inspect: RunControl['inspect'] = ({ objective, customObjective }) =>
    new Promise((resolve, reject) => {
      const requestId = nextRequest++;
      const listen = (event: WorkerEvent) => {
        if (event.type !== 'lossInspected' || event.requestId !== requestId) return;
        done();
        if (event.inspection) resolve(event.inspection);
        else reject(new Error(event.problem));
      };
      const timer = setTimeout(() => {
        done();
        reject(new Error('The trainer did not answer.'));
      }, INSPECT_MS);
      const done = () => {
        listeners.delete(listen);
        clearTimeout(timer);
      };
      listeners.add(listen);
      client.send({ type: 'inspectLoss', requestId, objective, customObjective });
    });

  return {
    inspect,
    play() {
      settle();
      playing = true;
      client.send({ type: 'play' });
    },
    pause() {
      playing = false;
      client.send({ type: 'pause' });
    },
    step(count) {
      const { config: now, patch } = config.getState();
      const goal = run.getState().step + count;
      // Asking for more iterations than were planned is asking for a longer plan.
      if (goal > now.totalSteps) patch({ totalSteps: goal });
      settle();
      playing = false;
      client.send({ type: 'step', count });
    },
    reset: startOver,
    rewind() {
      settle();
      playing = false;
      client.send({ type: 'rewind' });
    },
    flush,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dispose() {
      for (const timer of [flushTimer, configureTimer, resetTimer]) if (timer !== null) clearTimeout(timer);
      unsubscribeConfig();
      unsubscribeClient();
      client.dispose();
    },
  };
}
