import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../src/core/errors';
import { presetConfig } from '../src/config/presets';
import type { RunConfig } from '../src/config/runConfig';
import type { ModelId } from '../src/model/config';
import { parseArgs } from './args';
import { HeadlessTrainer } from './headless';
import { countFrom } from './runOptions';
import type { RunSummary } from './summary';
import { CONDITIONS, type Condition } from './tableConditions';
import { measuredTable } from './tableText';
import { trainOnce } from './train';

const RESULTS = 'bench/results';
const DOCUMENT = 'docs/measured.md';

const HELP = `Trains a list of conditions with several seeds and writes ${DOCUMENT}. Finished runs are kept in ${RESULTS} and not
repeated, so that an interrupted table goes on where it stopped.

Usage: npm run -s ratioscope -- table [--model main|small] [--seeds n] [--only id,id] [--eval-prompts n] [--write-only]

--seeds: seeds 1 to n (3). --only: some of the conditions. --write-only: trains nothing, writes the document anew.
Conditions: ${CONDITIONS.map((c) => c.id).join(', ')}
`;

/** `table`: see --help. Returns the exit code. */
export async function run(argv: string[]): Promise<number> {
  const { values } = parseArgs(argv, { known: ['model', 'seeds', 'only', 'eval-prompts', 'write-only', 'help'], flags: ['help', 'write-only'] });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const model = values.model ?? 'small';
  if (model !== 'main' && model !== 'small') throw new UserError(`There is no model "${model}".`, 'Models: main, small.');
  const conditions = values.only === undefined ? CONDITIONS : values.only.split(',').map(conditionOf);
  const seeds = countFrom('seeds', values.seeds, 3, 1);
  const evalPrompts = countFrom('eval-prompts', values['eval-prompts'], 256, 1);
  if (!values['write-only']) await runAll(model, conditions, seeds, evalPrompts);
  mkdirSync(dirname(DOCUMENT), { recursive: true });
  writeFileSync(DOCUMENT, measuredTable(readResults()));
  process.stdout.write(`${DOCUMENT}\n`);
  return 0;
}

function conditionOf(id: string): Condition {
  const found = CONDITIONS.find((c) => c.id === id);
  if (!found) throw new UserError(`There is no condition "${id}".`, `Conditions: ${CONDITIONS.map((c) => c.id).join(', ')}.`);
  return found;
}

/** All seeds of the first condition, then of the next: a table that is stopped early holds whole lines. */
async function runAll(model: ModelId, conditions: readonly Condition[], seeds: number, evalPrompts: number): Promise<void> {
  const todo = conditions
    .flatMap((condition) => Array.from({ length: seeds }, (_, i) => ({ condition, seed: i + 1 })))
    .filter(({ condition, seed }) => !existsSync(resultPath(model, condition.id, seed)));
  process.stderr.write(`${todo.length} runs to do\n`);
  if (todo.length === 0) return;
  const trainer = await HeadlessTrainer.open(model);
  try {
    for (const [i, { condition, seed }] of todo.entries()) {
      process.stderr.write(`run ${i + 1} of ${todo.length}: ${condition.title}, seed ${seed}\n`);
      const summary = await trainOnce(trainer, configOf(condition, model, seed), evalPrompts);
      const path = resultPath(model, condition.id, seed);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${JSON.stringify(summary, null, 1)}\n`);
    }
  } finally {
    trainer.destroy();
  }
}

/** The run of one condition and seed; nothing is evaluated on the way, which changes no result and saves time. */
export function configOf(condition: Condition, model: ModelId, seed: number): RunConfig {
  return { ...presetConfig(condition.preset, model), ...condition.patch, seed, totalSteps: condition.steps[model], evalEvery: 0 };
}

function resultPath(model: ModelId, id: string, seed: number): string {
  return join(RESULTS, model, `${id}-seed${seed}.json`);
}

/** Every result on disk, by model size and condition. */
function readResults(): { model: ModelId; condition: Condition; runs: RunSummary[] }[] {
  const models: ModelId[] = ['small', 'main'];
  return models.flatMap((model) =>
    CONDITIONS.map((condition) => {
      const runs: RunSummary[] = [];
      for (let seed = 1; existsSync(resultPath(model, condition.id, seed)); seed++) {
        runs.push(JSON.parse(readFileSync(resultPath(model, condition.id, seed), 'utf8')) as RunSummary);
      }
      return { model, condition, runs };
    }),
  );
}
