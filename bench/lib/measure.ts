import { UserError } from '../../src/core/errors';
import type { BenchBrowser} from './browser';
import { OverLimit } from './browser';
import { agreement } from './statistics';
import { SUBJECTS, type CellResult, type CellSpec, type Outcome, type Proof, type Run, type Subject, type SubjectId } from './types';
import { cellId, isCompared } from './work';

export interface MeasureOptions {
  /** Libraries not asked, each with the reason. */
  leftOut: Partial<Record<SubjectId, string>>;
  rounds: number;
  /** Most time one library gets for one cell, compiling included. */
  limitMs: number;
  /** After this much measured time a library is not run again in the cell. */
  enoughMs: number;
  report: (line: string) => void;
}

interface Running {
  id: SubjectId;
  firstMs: number;
  proof: Proof;
  runs: Run[];
  spentMs: number;
}

const WHY_NOT_ASKED = 'measured for the record of our own engine only';
const CANNOT: Partial<Record<SubjectId, Partial<Record<CellSpec['kind'], string>>>> = {
  nanogpt: {
    matmul: 'it exports no matrix product',
    decode: 'it generates one sequence at a time: there is no batch of rows to ask for',
  },
};

/** One cell: every library is opened and run once, then all take turns, so that a disturbance of the machine meets each. */
export async function measureCell(browser: BenchBrowser, spec: CellSpec, subjects: readonly SubjectId[], options: MeasureOptions): Promise<Pick<CellResult, 'id' | 'spec' | 'outcomes'>> {
  const outcomes: CellResult['outcomes'] = {};
  const running: Running[] = [];
  for (const id of SUBJECTS) {
    if (!subjects.includes(id)) continue;
    const cannot = CANNOT[id]?.[spec.kind] ?? options.leftOut[id];
    if (id !== 'ours' && !isCompared(spec)) outcomes[id] = { status: 'cannot', reason: WHY_NOT_ASKED };
    else if (cannot !== undefined) outcomes[id] = { status: 'cannot', reason: cannot };
    else {
      const started = performance.now();
      const outcome = await attempt(browser, id, async () => {
        await browser.load(id, options.limitMs);
        const { firstMs, proof } = await browser.openCell(id, spec, options.limitMs - (performance.now() - started));
        running.push({ id, firstMs, proof, runs: [], spentMs: performance.now() - started });
        options.report(`${cellId(spec)}: ${id} ready, first result after ${(firstMs / 1000).toFixed(1)} s`);
      });
      if (outcome) outcomes[id] = outcome;
      if (outcome) options.report(`${cellId(spec)}: ${id} ${describeOutcome(outcome)}`);
      if (outcome?.status === 'overLimit') await browser.drop(id);
    }
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const entry of [...running]) {
      const measured = entry.runs.reduce((sum, r) => sum + r.ms, 0);
      if (entry.runs.length > 0 && (measured > options.enoughMs || entry.spentMs > options.limitMs)) continue;
      const started = performance.now();
      const outcome = await attempt(browser, entry.id, async () => {
        entry.runs.push(await browser.run(entry.id, Math.max(options.limitMs - entry.spentMs, 5_000)));
      });
      entry.spentMs += performance.now() - started;
      if (!outcome) continue;
      running.splice(running.indexOf(entry), 1);
      if (entry.runs.length === 0) outcomes[entry.id] = outcome;
      else outcomes[entry.id] = finished(entry, running, `stopped after ${entry.runs.length} runs: ${'reason' in outcome ? outcome.reason : ''}`);
      if (outcome.status === 'overLimit') await browser.drop(entry.id);
    }
  }
  for (const entry of running) {
    outcomes[entry.id] = finished(entry, running);
    await browser.closeCell(entry.id);
  }
  return { id: cellId(spec), spec, outcomes };
}

/** Our engine on Dawn in this process. */
export async function measureNative(subject: Subject, spec: CellSpec, options: MeasureOptions): Promise<Outcome> {
  const started = performance.now();
  try {
    const work = await subject.open(spec);
    const firstMs = performance.now() - started;
    const runs: Run[] = [];
    let spent = 0;
    for (let round = 0; round < options.rounds && spent <= options.enoughMs; round++) {
      const run = await work.run();
      spent += run.ms;
      runs.push(run);
    }
    work.dispose();
    return { status: 'ok', firstMs, runs, proof: '' };
  } catch (error) {
    return { status: 'failed', reason: messageOf(error) };
  }
}

async function attempt(browser: BenchBrowser, id: SubjectId, action: () => Promise<void>): Promise<Outcome | null> {
  try {
    await action();
    return null;
  } catch (error) {
    if (error instanceof OverLimit) return { status: 'overLimit', stage: error.stage, atLeastMs: Math.round(error.ms), reason: error.message };
    if (error instanceof UserError) throw error;
    const complaint = browser.complaints.at(-1);
    await browser.closeCell(id);
    return { status: 'failed', reason: [messageOf(error), complaint].filter(Boolean).join(' / ').slice(0, 600) };
  }
}

function finished(entry: Running, all: readonly Running[], note?: string): Outcome {
  const verdict = judge(entry, all);
  if (verdict.wrong) return { status: 'failed', reason: verdict.text };
  return { status: 'ok', firstMs: entry.firstMs, runs: entry.runs, proof: verdict.text, ...(note ? { note } : {}) };
}

/** Held against our own: a wrong product, another loss or other tokens is not the same work. */
function judge({ id, proof }: Running, all: readonly Running[]): { text: string; wrong: boolean } {
  const ours = all.find((e) => e.id === 'ours')?.proof;
  if (proof.kind === 'error') return { text: `largest error ${proof.value.toExponential(1)} of sqrt(n)`, wrong: !(proof.value < 1e-5) };
  if (proof.kind === 'none') return { text: proof.why, wrong: false };
  if (proof.kind === 'losses') {
    const text = `losses ${proof.values.map((v) => v.toFixed(5)).join(', ')}`;
    if (id === 'ours' || ours?.kind !== 'losses') return { text, wrong: false };
    const close = proof.values.every((v, i) => Math.abs(v - ours.values[i]) < 2e-4);
    return { text: close ? text : `${text}, ours ${ours.values.map((v) => v.toFixed(5)).join(', ')}`, wrong: !close };
  }
  if (id === 'ours' || ours?.kind !== 'tokens') return { text: '', wrong: false };
  const share = agreement(proof.values, ours.values);
  return { text: `${(100 * share).toFixed(1)} % of the tokens are ours`, wrong: !(share > 0.9) };
}

export function describeOutcome(outcome: Outcome): string {
  if (outcome.status === 'ok') return `${outcome.runs.length} runs`;
  if (outcome.status === 'overLimit') return outcome.reason;
  return `${outcome.status}: ${outcome.reason}`;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^page\.evaluate: /, '').split('\n')[0];
}
