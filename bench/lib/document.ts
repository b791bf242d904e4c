import { cellFlops, matrixWeights, parameterCount, trainFlops } from './arithmetic';
import { median, spread } from './statistics';
import { SUBJECTS, type BenchResult, type CellResult, type KernelTime, type Outcome, type ProfileResult, type SubjectId } from './types';
import { GPT } from './work';

/** docs/bench.md, drawn from the kept results; a test holds the file to this. */

const TITLES: Record<SubjectId | 'native', string> = { ours: 'Ratioscope', jax: 'jax-js', tfjs: 'TensorFlow.js', nanogpt: 'nanogpt', native: 'Ratioscope, Dawn in Node' };

/** What the issue asks of our engine against the best other library. */
export const AIMS: { kind: 'matmul' | 'train' | 'decode'; factor: number }[] = [
  { kind: 'matmul', factor: 2 },
  { kind: 'train', factor: 4 },
  { kind: 'decode', factor: 10 },
];

const PEERS = SUBJECTS.filter((id) => id !== 'ours');

/** How the times of a library in a cell become one. */
type Summary = (times: readonly number[]) => number;

export function timeOf(outcome: Outcome | undefined, summary: Summary = median): number | null {
  return outcome?.status === 'ok' && outcome.runs.length > 0 ? summary(outcome.runs.map((r) => r.ms)) : null;
}

/** Time of each other library over ours; null where it has no result. A stopped one gives a lower bound. */
export function ratios({ outcomes }: CellResult, summary: Summary = median): Partial<Record<SubjectId, { times: number; atLeast: boolean }>> {
  const own = timeOf(outcomes.ours, summary);
  if (own === null) return {};
  const result: Partial<Record<SubjectId, { times: number; atLeast: boolean }>> = {};
  for (const id of PEERS) {
    const outcome = outcomes[id];
    const ms = timeOf(outcome, summary);
    // Loading and compiling are not the work: only a stop in a measured run bounds it.
    if (ms !== null) result[id] = { times: ms / own, atLeast: false };
    else if (outcome?.status === 'overLimit' && outcome.stage === 'a run') result[id] = { times: outcome.atLeastMs / own, atLeast: true };
  }
  return result;
}

/** The other library that comes nearest to ours, where at least one was measured. */
export function bestPeer(cell: CellResult, summary: Summary = median): { id: SubjectId; times: number } | null {
  const entries = Object.entries(ratios(cell, summary)).filter(([, r]) => !r.atLeast) as [SubjectId, { times: number }][];
  if (entries.length === 0) return null;
  const [id, { times }] = entries.reduce((a, b) => (b[1].times < a[1].times ? b : a));
  return { id, times };
}

const least: Summary = (times) => Math.min(...times);

const milliseconds = (ms: number): string => (ms >= 1000 ? `${(ms / 1000).toPrecision(3)} s` : `${ms.toPrecision(3)} ms`);
const factor = (x: number): string => `${x >= 10 ? Math.round(x) : x.toFixed(1)}x`;

function shown(outcome: Outcome | undefined): string {
  if (!outcome) return '–';
  if (outcome.status === 'ok') {
    const times = outcome.runs.map((r) => r.ms);
    return `${milliseconds(median(times))} (${times.length}, ±${Math.round(50 * spread(times))} %)`;
  }
  return outcome.status === 'overLimit' ? `stopped after ${Math.round(outcome.atLeastMs / 1000)} s` : outcome.status === 'failed' ? 'failed' : '–';
}

function section(result: BenchResult, file: string): string[] {
  const { machine, options } = result;
  const busy = result.cells.some((c) => c.measured.load1 > 0.5 * machine.cores);
  const software = result.software ? ' It is a software adapter: the CPU does the arithmetic, and the ranking is not that of a GPU.' : '';
  return [
    `## ${result.adapter}`,
    '',
    `Chromium ${result.browser}, ${machine.cores} cores, Node ${machine.node}; up to ${options.rounds} rounds. From \`${file}\`.${software}`,
    ...(busy ? ['', 'Other work ran on the machine at the same time (the load of each cell stands below): trust the ratios, which come from turns taken in the same minutes, and not the milliseconds.'] : []),
    '',
    '| work | ' + [...SUBJECTS, 'native' as const].map((id) => TITLES[id]).join(' | ') + ' | nearest other library | load |',
    `|${'---|'.repeat(SUBJECTS.length + 4)}`,
    ...result.cells.map((cell) => {
      const best = bestPeer(cell);
      return `| ${cell.id} | ${[...SUBJECTS, 'native' as const].map((id) => shown(cell.outcomes[id])).join(' | ')} | ${best ? `${TITLES[best.id]}: ${factor(best.times)} our time` : '–'} | ${cell.measured.load1.toFixed(0)} |`;
    }),
    '',
    'Medians; in brackets how many runs, and half the range over the smallest. Load: runnable processes (mean of a minute) when the cell, or in the oldest results the run, began.',
    '',
    `Measured ${[...occasions(result)].join('; ')}.`,
    '',
    ...aims(result),
    ...rates(result),
    ...firstResults(result),
    ...iteration(result),
    ...(result.profile ? profileSection(result.profile) : []),
    ...refusals(result),
  ];
}

/** Cells by when and with what they were measured. */
function occasions({ cells }: BenchResult): string[] {
  const groups = new Map<string, string[]>();
  for (const { id, measured } of cells) {
    const key = `${measured.date.slice(0, 10)}, build ${measured.commit}, ${measured.limitSeconds} s for a library in a cell`;
    groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  return [...groups].map(([key, ids]) => (groups.size === 1 ? key : `${key}: ${ids.join(', ')}`));
}

function aims({ cells }: BenchResult): string[] {
  const lines = AIMS.map(({ kind, factor: wanted }) => {
    const compared = cells.filter((c) => c.spec.kind === kind).map((c) => ({ c, best: bestPeer(c) })).filter((x) => x.best !== null) as { c: CellResult; best: { id: SubjectId; times: number } }[];
    if (compared.length === 0) return `- ${kind}: at least ${wanted}x wanted; no other library gave a result.`;
    const each = compared.map(({ c, best }) => `${factor(best.times)} (${c.id}, ${TITLES[best.id]}; ${factor(bestPeer(c, least)?.times ?? NaN)} by the least times)`);
    const worst = Math.min(...compared.map((x) => x.best.times));
    return `- ${kind}: at least ${wanted}x wanted, measured ${each.join(', ')}: ${worst >= wanted ? 'met' : `missed by a factor of ${(wanted / worst).toFixed(2)} at worst`}.`;
  });
  return ['### Against the aims', '', ...lines, ''];
}

function rates({ cells }: BenchResult): string[] {
  const rows = cells.flatMap((cell) => {
    const rate = (outcome: Outcome | undefined): string => {
      const ms = timeOf(outcome);
      if (ms === null || outcome?.status !== 'ok') return '–';
      return (cellFlops(cell.spec, outcome.runs[0]) / ms / 1e6).toPrecision(3);
    };
    return cell.spec.kind === 'iteration' ? [] : [`| ${cell.id} | ${[...SUBJECTS, 'native' as const].map((id) => rate(cell.outcomes[id])).join(' | ')} |`];
  });
  return [
    '### GFLOP/s',
    '',
    `The arithmetic that the work needs at least: 2 n^3 for a product; for the models 2 flops a weight and position forward, 4 more backward, and attention.`,
    '',
    '| work | ' + [...SUBJECTS, 'native' as const].map((id) => TITLES[id]).join(' | ') + ' |',
    `|${'---|'.repeat(SUBJECTS.length + 2)}`,
    ...rows,
    '',
  ];
}

function firstResults({ cells }: BenchResult): string[] {
  const rows = cells.filter((c) => c.spec.kind !== 'matmul').map((cell) => {
    const each = [...SUBJECTS, 'native' as const].map((id) => {
      const outcome = cell.outcomes[id];
      return outcome?.status === 'ok' ? `${(outcome.firstMs / 1000).toFixed(1)} s` : '–';
    });
    return `| ${cell.id} | ${each.join(' | ')} |`;
  });
  return ['### Until the first result', '', 'Shader compilation included; for training two steps.', '', '| work | ' + [...SUBJECTS, 'native' as const].map((id) => TITLES[id]).join(' | ') + ' |', `|${'---|'.repeat(SUBJECTS.length + 2)}`, ...rows, ''];
}

/** Phases of our RL iteration, and its arithmetic at the best matmul rate of the same run. */
export function iterationFloor(result: BenchResult, cell: CellResult, of: 'ours' | 'native' = 'ours'): { ms: number; floorMs: number; rate: number } | null {
  const outcome = cell.outcomes[of];
  const ms = timeOf(outcome);
  if (ms === null || outcome?.status !== 'ok') return null;
  const rate = Math.max(...result.cells.filter((c) => c.spec.kind === 'matmul').map((c) => cellFlops(c.spec) / (timeOf(c.outcomes[of]) ?? Infinity) / 1e6));
  const floorMs = median(outcome.runs.map((run) => cellFlops(cell.spec, run))) / rate / 1e6;
  return { ms, floorMs, rate };
}

function iteration(result: BenchResult): string[] {
  return result.cells.filter((c) => c.spec.kind === 'iteration').flatMap((cell) => {
    const lines = (['ours', 'native'] as const).flatMap((id) => {
      const outcome = cell.outcomes[id];
      if (outcome?.status !== 'ok') return [];
      const names = Object.keys(outcome.runs[0]?.phases ?? {});
      const phases = names.map((name) => `${name} ${milliseconds(median(outcome.runs.map((r) => r.phases?.[name] ?? 0)))}`);
      const floor = iterationFloor(result, cell, id);
      const tokens = Math.round(median(outcome.runs.map((r) => r.counts?.tokens ?? 0)));
      return [
        `- ${TITLES[id]}: ${milliseconds(timeOf(outcome) ?? NaN)} for ${tokens} sampled tokens (${phases.join(', ')}).`,
        ...(floor ? [`  Its arithmetic at the best matmul rate of this run (${floor.rate.toPrecision(3)} GFLOP/s) would take ${milliseconds(floor.floorMs)}: ${factor(floor.ms / floor.floorMs)} (1.5x wanted).`] : []),
      ];
    });
    return lines.length === 0 ? [] : [`### One RL iteration (\`${cell.spec.kind === 'iteration' ? cell.spec.model : ''}\`, GRPO preset)`, '', ...lines, ''];
  });
}

function refusals({ cells }: BenchResult): string[] {
  const reasons = new Map<string, string[]>();
  for (const cell of cells) {
    for (const [id, outcome] of Object.entries(cell.outcomes) as [SubjectId, Outcome][]) {
      const said = outcome.status === 'ok' ? outcome.note : outcome.reason;
      if (said === undefined) continue;
      const key = `${TITLES[id]}, ${outcome.status === 'ok' ? 'note' : outcome.status === 'cannot' ? 'not run' : outcome.status === 'failed' ? 'failed' : 'stopped'}: ${said}`;
      reasons.set(key, [...(reasons.get(key) ?? []), cell.id]);
    }
  }
  if (reasons.size === 0) return [];
  return ['### Without a result', '', ...[...reasons].map(([key, where]) => `- ${key.replaceAll('\n', ' ')} (${where.join(', ')}).`), ''];
}

export function kernelTable(kernels: readonly KernelTime[]): string[] {
  const total = kernels.reduce((a, k) => a + k.ms, 0);
  return [
    '| kernel | dispatches | ms | share |',
    '|---|---|---|---|',
    ...kernels.map((k) => `| ${k.kernel} | ${k.dispatches} | ${k.ms.toFixed(1)} | ${Math.round((100 * k.ms) / total)} % |`),
  ];
}

export function profileSection(profile: ProfileResult): string[] {
  const counts = Object.entries(profile.iteration).map(([name, n]) => `${n} ${name}`);
  return [
    `### Profile (\`${profile.model}\`, Dawn in Node)`,
    '',
    `Every dispatch in a pass of its own between two timestamps; of each, the least of 7 repetitions. One RL iteration takes ${counts.join(', ')}.`,
    '',
    `One update of ${profile.update.positions} packed positions (${milliseconds(profile.update.wallMs)} without the profiler, the least of as many):`,
    '',
    ...kernelTable(profile.update.kernels),
    '',
    `One rollout of ${profile.rollout.tokens} sampled tokens (${milliseconds(profile.rollout.wallMs)} without the profiler):`,
    '',
    ...kernelTable(profile.rollout.kernels),
    '',
    `One step of \`train gpt 16 rows\`, ${profile.training.positions} positions (${milliseconds(profile.training.wallMs)} without the profiler):`,
    '',
    ...kernelTable(profile.training.kernels),
    '',
  ];
}

/** The page, from every kept result and the notes written by hand. */
export function benchMarkdown(results: readonly { file: string; result: BenchResult }[], notes: string): string {
  const { ratioscope: _, ...versions } = results[0]?.result.versions ?? {};
  const weights = matrixWeights(GPT);
  return [
    '# Speed',
    '',
    'Written by `npm run bench` from `bench/results/` and `bench/notes.md`; nothing here is typed in by hand except the notes at the end.',
    '',
    `Measured against ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}, in the same Chromium on the same adapter.`,
    '',
    '## Method',
    '',
    '- **Same work.** Every library gets the same matrices, the same initial weights, tokens and hyperparameters. A product is held against f64; the losses before and after the first AdamW step, and the sampled tokens, are held against ours. A library that computes something else is reported as failed. nanogpt is the exception: it is a whole trainer with its own model of the same size.',
    `- **matmul n**: y = x W, n x n, f32; small sizes several times between two waits. **train gpt**: forward, backward, gradient clipping and AdamW of 4 layers, 64 channels, 4 heads, 64 positions, 64 symbols (${parameterCount(GPT).toLocaleString('en')} parameters, ${weights.toLocaleString('en')} of them in products), 16 rows of 64 tokens: ${(trainFlops(GPT, 1024, 32.5) / 1e9).toFixed(2)} GFLOP; it ends when the loss is on the host. **decode main 128 x 39**: 39 tokens for each of 128 rows with a key/value cache, sampling and log-probs included; it ends when the tokens are on the host. The other libraries are given the noise for nothing.`,
    '- **Turns.** In each cell every library runs once unmeasured, then all take turns, each alone. The figure is the median.',
    '- **One build of Chromium**, started once for each library, so that one that must be stopped is killed with its GPU process and delays nobody; only one works at a time. Each has a time limit in each cell; a library that is stopped or fails is listed with its reason.',
    '- The other libraries are written as their documentation advises: jax-js with one `jit` for a whole step, TensorFlow.js with `variableGrads`, `tidy` and flat products.',
    '',
    ...results.flatMap(({ file, result }) => section(result, file)),
    notes.trim(),
    '',
  ].join('\n');
}
