import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../src/core/errors';
import { requestNodeGpu } from '../src/gpu/nodeGpu';
import { BenchBrowser, buildPage } from '../bench/lib/browser';
import { benchMarkdown, bestPeer, iterationFloor, kernelTable, timeOf } from '../bench/lib/document';
import { describeOutcome, measureCell, measureNative, type MeasureOptions } from '../bench/lib/measure';
import { ours } from '../bench/lib/ours';
import { profileIteration } from '../bench/lib/profile';
import { SUBJECTS, type BenchResult, type CellResult, type Subject, type SubjectId } from '../bench/lib/types';
import { cellId, cellsOf } from '../bench/lib/work';
import { parseArgs } from './args';
import { countFrom } from './runOptions';

const OPTIONS = ['quick', 'keep', 'profile', 'document', 'software', 'only', 'libraries', 'rounds', 'limit', 'model', 'help'] as const;
const RESULTS = 'bench/results';
const NOTES = 'bench/notes.md';
const PAGE = 'docs/bench.md';
const MODELS = 'public/models/';
const PACKAGES = { jax: '@jax-js/jax', tfjs: '@tensorflow/tfjs-core', nanogpt: '@genai-fi/nanogpt' } as const;

const help = `Measures the engine against other libraries in one Chromium on the same adapter.

Usage: npm run bench [-- --quick] [--only text] [--libraries ours,jax] [--rounds n] [--limit seconds] [--software]
       npm run -s ratioscope -- bench --profile [--model main|small]
       npm run -s ratioscope -- bench --document
       npm run bench -- scale [--help]      how cost and memory grow with batch, length, model and runs

The whole measurement takes some minutes, keeps its result in ${RESULTS}/<adapter>.json and writes ${PAGE}.
--quick: a smaller set within a minute; only printed.
--only: cells whose name contains the text, e.g. "matmul 512"; only printed, unless --keep puts them into the kept result.
--limit: seconds that one library gets for one cell, compiling included (180; 12 with --quick).
--software: the software adapter, even where there is a GPU.
--profile: time and dispatches by kernel of one update and one rollout, in Node; kept beside the adapter's result.
--document: writes ${PAGE} again from what is kept.
`;

/** `bench`: see --help. Returns the exit code: 1 when one of our own cells gave no result. */
export async function run(argv: string[]): Promise<number> {
  if (argv[0] === 'scale') return (await import('./scale')).run(argv.slice(1));
  const { values } = parseArgs(argv, { known: OPTIONS, flags: ['quick', 'keep', 'profile', 'document', 'software', 'help'] });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  if (values.document) {
    writeDocument();
    return 0;
  }
  if (values.profile) {
    if (values.model !== undefined && values.model !== 'main' && values.model !== 'small') throw new UserError(`There is no model "${values.model}".`, 'Models: main, small.');
    await profile(values.model ?? 'small');
    return 0;
  }
  const quick = values.quick !== undefined;
  const limitSeconds = countFrom('limit', values.limit, quick ? 12 : 180, 1);
  const rounds = countFrom('rounds', values.rounds, quick ? 3 : 7, 1);
  const subjects = subjectsFrom(values.libraries);
  const cells = cellsOf(quick).filter((spec) => values.only === undefined || cellId(spec).includes(values.only));
  if (cells.length === 0) throw new UserError(`No cell is called "${values.only}".`, `Cells: ${cellsOf(quick).map(cellId).join(', ')}.`);

  const load1 = loadavg()[0];
  const folder = join('node_modules', '.cache', 'ratioscope', 'bench-page');
  say('Building the page with every library ...');
  await buildPage(process.cwd(), join(process.cwd(), folder));
  const slow = 'left out by --quick: its shaders alone take longer than that to compile';
  const options: MeasureOptions = { leftOut: quick && values.libraries === undefined ? { tfjs: slow, nanogpt: slow } : {}, rounds, limitMs: limitSeconds * 1000, enoughMs: quick ? 1500 : 15_000, report: say };
  const browser = new BenchBrowser(folder, values.software !== undefined);
  const result: BenchResult = {
    date: now(),
    adapter: '',
    software: false,
    browser: '',
    machine: { cores: availableParallelism(), load1, node: process.versions.node },
    versions: versions(),
    options: { rounds, limitSeconds, quick },
    cells: [],
  };
  try {
    const opened = await browser.open();
    result.adapter = opened.adapter;
    result.browser = opened.version;
    result.software = opened.adapter.includes('software');
    const native = await openNative();
    for (const spec of cells) {
      const measured = { date: now(), load1: loadavg()[0], commit: result.versions.ratioscope, limitSeconds };
      const cell: CellResult = { ...(await measureCell(browser, spec, subjects, options)), measured };
      if (native instanceof Error) cell.outcomes.native = { status: 'failed', reason: native.message };
      else cell.outcomes.native = await measureNative(native, spec, options);
      result.cells.push(cell);
      print(cell);
    }
  } finally {
    await browser.close();
  }
  for (const cell of result.cells.filter((c) => c.spec.kind === 'iteration')) {
    const floor = iterationFloor(result, cell);
    if (floor) process.stdout.write(`${cell.id}: ${(floor.ms / floor.floorMs).toFixed(2)}x its arithmetic at ${floor.rate.toFixed(2)} GFLOP/s\n`);
  }
  const whole = values.only === undefined && values.libraries === undefined;
  if (!quick && (whole || values.keep)) {
    const file = join(RESULTS, `${fileName(result.adapter)}.json`);
    mkdirSync(RESULTS, { recursive: true });
    const kept = !whole && existsSync(file) ? merged(JSON.parse(readFileSync(file, 'utf8')) as BenchResult, result) : result;
    writeFileSync(file, `${JSON.stringify(kept, null, 1)}\n`);
    say(`Kept in ${file}.`);
    writeDocument();
  }
  return result.cells.every((cell) => cell.outcomes.ours === undefined || cell.outcomes.ours.status === 'ok') ? 0 : 1;
}

/** The kept result with the cells that were measured again. */
export function merged(kept: BenchResult, again: BenchResult): BenchResult {
  const fresh = new Map(again.cells.map((cell) => [cell.id, cell]));
  const known = new Set(kept.cells.map((cell) => cell.id));
  return { ...again, cells: [...kept.cells.map((cell) => fresh.get(cell.id) ?? cell), ...again.cells.filter((cell) => !known.has(cell.id))] };
}

async function openNative(): Promise<Subject | Error> {
  try {
    return await ours({ requestGpu: requestNodeGpu, modelsUrl: MODELS, fetchFile: readAsResponse });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function profile(model: 'main' | 'small'): Promise<void> {
  const result = await profileIteration(model, { modelsUrl: MODELS, fetchFile: readAsResponse });
  const out = [
    `${result.adapter}, model ${model}`,
    `One iteration: ${Object.entries(result.iteration).map(([name, n]) => `${n} ${name}`).join(', ')}`,
    '',
    `One update, ${result.update.positions} positions, ${result.update.wallMs.toFixed(1)} ms unprofiled`,
    ...kernelTable(result.update.kernels),
    '',
    `One rollout, ${result.rollout.tokens} tokens, ${result.rollout.wallMs.toFixed(1)} ms unprofiled`,
    ...kernelTable(result.rollout.kernels),
    '',
    `One step of train gpt, ${result.training.positions} positions, ${result.training.wallMs.toFixed(1)} ms unprofiled`,
    ...kernelTable(result.training.kernels),
    '',
  ];
  process.stdout.write(out.join('\n'));
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${fileName(result.adapter)}.profile-${model}.json`), `${JSON.stringify(result, null, 1)}\n`);
}

/** Every kept result; the profile of the same adapter goes with it. */
export function keptResults(): { file: string; result: BenchResult }[] {
  if (!existsSync(RESULTS)) return [];
  const names = readdirSync(RESULTS).sort();
  return names
    .filter((name) => name.endsWith('.json') && !name.includes('.profile-'))
    .map((name) => ({ name, result: JSON.parse(readFileSync(join(RESULTS, name), 'utf8')) as Partial<BenchResult> }))
    // Other measurements are kept in the same folder.
    .filter((kept): kept is { name: string; result: BenchResult } => Array.isArray(kept.result.cells) && kept.result.versions !== undefined)
    .map(({ name, result }) => {
      const profiles = names.filter((other) => other.startsWith(`${name.replace(/\.json$/, '')}.profile-`));
      const first = profiles.find((p) => p.includes('small')) ?? profiles[0];
      return { file: `${RESULTS}/${name}`, result: first ? { ...result, profile: JSON.parse(readFileSync(join(RESULTS, first), 'utf8')) } : result };
    });
}

function writeDocument(): void {
  const results = keptResults();
  if (results.length === 0) throw new UserError(`${RESULTS} holds no result.`, 'Run npm run bench first.');
  writeFileSync(PAGE, benchMarkdown(results, readFileSync(NOTES, 'utf8')));
  say(`Written: ${PAGE}.`);
}

function subjectsFrom(text: string | undefined): SubjectId[] {
  if (text === undefined) return [...SUBJECTS];
  const names = text.split(',');
  const unknown = names.find((name) => !(SUBJECTS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UserError(`There is no library "${unknown}".`, `Libraries: ${SUBJECTS.join(', ')}.`);
  return names as SubjectId[];
}

function versions(): Record<string, string> {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, { version?: string }> };
  const found = Object.values(PACKAGES).map((name) => [name, packages[`node_modules/${name}`]?.version ?? 'missing'] as const);
  let commit = 'unknown';
  try {
    commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    // A copy without git: the result says so.
  }
  return { ...Object.fromEntries(found), ratioscope: commit };
}

function print(cell: CellResult): void {
  const parts = Object.entries(cell.outcomes).map(([id, outcome]) => {
    const ms = timeOf(outcome);
    return `${id} ${ms === null ? describeOutcome(outcome) : `${ms.toPrecision(3)} ms`}`;
  });
  const best = bestPeer(cell);
  process.stdout.write(`${cell.id}: ${parts.join(' | ')}${best ? ` | ${best.id} takes ${best.times.toFixed(1)}x our time` : ''}\n`);
}

const fileName = (adapter: string): string => adapter.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'adapter';

const now = (): string => new Date().toISOString().slice(0, 16).replace('T', ' ');

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function readAsResponse(path: string): Promise<Response> {
  return new Response(await readFile(path));
}
