import { createStore } from 'zustand/vanilla';
import type { RunConfig } from '../config/runConfig';
import type { AdapterReport } from '../engines/engine';
import type { BatchRecord, ErrorKind, EvalReport, Phase, ShowcaseAnswer, StepReport, WorkerEvent } from '../worker/protocol';
import { createHistory, cutHistory, recordStep, type History } from './history';
import { appendBounded, appendThinned } from './series';

/** Whole rollouts kept for the fans, batches for stepping back, points for the greedy curve and for marks. */
export const KEPT = { rollouts: 8, batches: 64, evals: 256, marks: 64, answers: 64 } as const;

export interface LiveMark {
  step: number;
  changes: { field: string; from: string; to: string }[];
}

export interface RunError {
  kind: ErrorKind;
  message: string;
  hint: string;
  fatal: boolean;
  /** The iteration that the run can be put back to, where that helps. */
  rewindTo: number | null;
}

/** Everything the page knows of the run. */
export interface RunState {
  phase: Phase;
  message: string;
  /** 0..1, null when unknown. */
  progress: number | null;
  adapter: AdapterReport | null;
  base: { passRate: number; greedy: number; parameters: number; bytes: number } | null;
  /** The base policy's answers to the showcase prompts, and every later evaluation's, by step. */
  baseAnswers: readonly ShowcaseAnswer[];
  answers: readonly (readonly ShowcaseAnswer[])[];
  /** Finished iterations; the last few in full. */
  step: number;
  recent: readonly StepReport[];
  batches: readonly BatchRecord[];
  evals: readonly EvalReport[];
  marks: readonly LiveMark[];
  history: History;
  /** Moves whenever `history` got points. */
  version: number;
  /** The configuration that the worker runs; null before it has said so. */
  inForce: RunConfig | null;
  /** The first error of this run; later ones are usually its echo. */
  error: RunError | null;
}

const emptyRun = () => ({
  answers: [], step: 0, recent: [], batches: [], evals: [], marks: [], history: createHistory(), version: 0, error: null,
});

export function initialRunState(): RunState {
  return {
    phase: 'starting', message: 'Starting', progress: null, adapter: null, base: null, baseAnswers: [], inForce: null, ...emptyRun(),
  };
}

/** What stays when a run starts over: the machine and the base policy. */
export function clearedRun(state: RunState): RunState {
  return { ...state, ...emptyRun(), inForce: null, phase: 'starting', message: 'Starting over', progress: null };
}

/** The state after a batch of worker events. Pure but for `history`, which takes the new points in place. */
export function applyEvents(state: RunState, events: readonly WorkerEvent[]): RunState {
  return events.reduce(applyEvent, state);
}

function applyEvent(state: RunState, event: WorkerEvent): RunState {
  switch (event.type) {
    case 'phase':
      return { ...state, phase: phaseOf(state.phase, event.phase), message: event.message, progress: event.progress };
    case 'capability':
      return { ...state, adapter: event.adapter };
    case 'base':
      return { ...state, base: event.manifest, baseAnswers: event.answers };
    case 'step':
      recordStep(state.history, event.report);
      return {
        ...state,
        step: event.report.step,
        recent: appendBounded(state.recent, event.report, KEPT.rollouts),
        batches: appendBounded(state.batches, event.batch, KEPT.batches),
        version: state.version + 1,
      };
    case 'eval':
      return {
        ...state,
        evals: appendThinned(state.evals, event.report, KEPT.evals),
        answers: event.answers.length > 0 ? appendThinned(state.answers, event.answers, KEPT.answers) : state.answers,
      };
    case 'config':
      return {
        ...state,
        inForce: event.config,
        marks: event.changes.length > 0 ? appendBounded(state.marks, { step: event.step, changes: event.changes }, KEPT.marks) : state.marks,
      };
    case 'rewound':
      return rewound(state, event.step, event.updates);
    case 'error':
      return {
        ...state,
        error: keptError(state.error, { kind: event.kind, message: event.message, hint: event.hint, fatal: event.fatal, rewindTo: event.rewindTo ?? null }),
        phase: event.fatal ? 'failed' : state.phase,
      };
    case 'notice':
    case 'checkpoint':
    case 'lossInspected':
    case 'snapshot':
      return state;
  }
}

/** The run stands at iteration `step` again: what came after it goes, and a mark says so. */
function rewound(state: RunState, step: number, updates: number): RunState {
  cutHistory(state.history, step, updates);
  const kept = <T extends { step: number }>(list: readonly T[]) => list.filter((item) => item.step <= step);
  const mark: LiveMark = { step, changes: [{ field: 'rewound', from: String(state.step), to: String(step) }] };
  return {
    ...state,
    step,
    recent: kept(state.recent),
    batches: kept(state.batches),
    evals: kept(state.evals),
    answers: state.answers.filter((list) => (list[0]?.step ?? 0) <= step),
    // What was changed meanwhile stays in force: from the next iteration on.
    marks: state.step > step ? appendBounded(state.marks.map((old) => (old.step > step ? { ...old, step: step + 1 } : old)), mark, KEPT.marks) : state.marks,
    version: state.version + 1,
    error: state.error?.kind === 'notFinite' ? null : state.error,
  };
}

/** What is compiled or loaded in the middle of a run is part of running: it can be paused, and goes on by itself. */
function phaseOf(now: Phase, next: Phase): Phase {
  return now === 'running' && (next === 'compiling' || next === 'loadingReference') ? 'running' : next;
}

/**
 * The first error is the cause and later ones its echo; but whatever was waiting on a lost device fails a moment before
 * the loss itself is reported. Of errors that a run survived the last counts, but none hides the way back.
 */
function keptError(first: RunError | null, next: RunError): RunError {
  if (first === null) return next;
  if (!first.fatal) return first.rewindTo !== null && !next.fatal && next.rewindTo === null ? first : next;
  return first.kind === 'internal' && next.kind === 'deviceLost' ? next : first;
}

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore() {
  return createStore<RunState>()(initialRunState);
}
