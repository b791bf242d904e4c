import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../src/core/errors';
import { requestNodeGpu } from '../src/gpu/nodeGpu';
import { adapterName } from '../bench/lib/ours';
import { LADDER, LADDER_MS, measurePoint, SCALE_AXES, SCALE_BASE, type Axis, type ScalePoint, type ScaleResult } from '../bench/lib/scale';
import { scaleMarkdown, scaleSvg, type ScaleFile } from '../bench/lib/scaleDocument';
import { parseArgs } from './args';

const RESULTS = 'bench/results';
const PAGE = 'docs/scale.md';
const SVG = 'docs/scale.svg';

const HELP = `Measures how cost and memory grow with batch, answer length, model and runs, on Dawn in Node.

Usage: npm run bench -- scale            about three minutes on an idle machine; keeps ${RESULTS}/scale.json, writes ${PAGE} and ${SVG}
       npm run bench -- scale --document  writes the page again from what is kept
`;

/** `bench scale`: see --help. Returns the exit code. */
export async function run(argv: string[]): Promise<number> {
  const { values } = parseArgs(argv, { known: ['document', 'help'], flags: ['document', 'help'] });
  if (values.help) process.stdout.write(HELP);
  else if (values.document) writePage(keptScale());
  else writePage(await measure());
  return 0;
}

/** The kept result. Throws UserError where there is none. */
export function keptScale(): ScaleFile {
  const file = join(RESULTS, 'scale.json');
  if (!existsSync(RESULTS) || !readdirSync(RESULTS).includes('scale.json')) throw new UserError(`${file} is missing.`, 'Run npm run bench -- scale first.');
  return JSON.parse(readFileSync(file, 'utf8')) as ScaleFile;
}

async function measure(): Promise<ScaleFile> {
  const load1 = loadavg()[0];
  const probe = await requestNodeGpu();
  const adapter = adapterName(probe);
  probe.destroy();
  const known = new Map<string, ScaleResult>();
  const at = async (point: ScalePoint): Promise<ScaleResult> => {
    const key = JSON.stringify(point);
    const found = known.get(key) ?? (await measurePoint(requestNodeGpu, point));
    known.set(key, found);
    process.stderr.write(`${found.rows} answers of ${found.length} tokens, C=${found.C}, L=${found.L}, ${found.runs} runs: ${found.updateMs.toFixed(1)} ms an update, ${found.iterationMs.toFixed(0)} ms an iteration, ${(found.bytes / 1e6).toFixed(1)} MB\n`);
    return found;
  };
  const axes = {} as Record<Axis, ScaleResult[]>;
  for (const [axis, values] of Object.entries(SCALE_AXES) as [Axis, readonly number[]][]) {
    axes[axis] = [];
    for (const value of values) axes[axis].push(await at({ ...SCALE_BASE, [axis]: value }));
  }
  const ladder: ScaleResult[] = [];
  for (const size of LADDER) {
    ladder.push(await at({ ...SCALE_BASE, ...size }));
    if (!((ladder.at(-1) as ScaleResult).iterationMs <= LADDER_MS)) break;
  }
  const file: ScaleFile = {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '), command: 'npm run bench -- scale', adapter,
    machine: { cores: availableParallelism(), load1, loadAtEnd: loadavg()[0], node: process.versions.node }, axes, ladder,
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'scale.json'), `${JSON.stringify(file, null, 1)}\n`);
  return file;
}

function writePage(file: ScaleFile): void {
  writeFileSync(PAGE, scaleMarkdown(file));
  writeFileSync(SVG, scaleSvg(file));
  process.stderr.write(`Written: ${PAGE}, ${SVG}.\n`);
}
