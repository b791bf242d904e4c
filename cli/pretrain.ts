import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../src/core/errors';
import { createWebGpuEngine, type WebGpuEngine } from '../src/engines/webgpu';
import { requestNodeGpu } from '../src/gpu/nodeGpu';
import { MODEL_CONFIGS, type ModelId } from '../src/model/config';
import { manifestEntry, parseManifest, withEntry, type Manifest, type PolicyEntry, type Recipe } from '../src/model/manifest';
import { policyToOnnx } from '../src/model/onnxGraph';
import { initialParams } from '../src/model/parameters';
import { getTask } from '../src/tasks';
import type { Task } from '../src/tasks/task';
import { evaluateHeldOut } from '../src/trainer/evaluate';
import { pretrain, PRETRAIN_RECIPES } from '../src/trainer/pretrain';
import { parseArgs } from './args';

/** Held-out prompts on which a finished policy is measured. */
const MEASURE_PROMPTS = 512;

const HELP = `ratioscope pretrain: makes a base policy with the bad habit and writes it as ONNX.
  --model main|small   --task <id>   --seed n (default 1)
  --steps n            fewer steps than the recipe's, for a trial
  --out folder         default public/models
`;

/** Reproduces a shipped policy from its seed: supervised training, measurement, ONNX file, manifest entry. */
export async function run(argv: string[]): Promise<number> {
  const args = parseArgs(argv, { known: ['model', 'task', 'seed', 'steps', 'out', 'help'], flags: ['help'] });
  if (args.values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const model = (args.values.model ?? 'small') as ModelId;
  if (!Object.hasOwn(MODEL_CONFIGS, model)) throw new UserError(`There is no model "${model}".`, `Known: ${Object.keys(MODEL_CONFIGS).join(', ')}.`);
  const task = getTask(args.values.task ?? 'columnAddition');
  const seed = wholeNumber('seed', args.values.seed ?? '1');
  const recipe = { ...PRETRAIN_RECIPES[model], ...(args.values.steps ? { steps: wholeNumber('steps', args.values.steps) } : {}) };

  const gpu = await requestNodeGpu();
  const engine = await createWebGpuEngine(gpu, MODEL_CONFIGS[model], { rolloutRows: MEASURE_PROMPTS, updatePositions: recipe.batch * MODEL_CONFIGS[model].T });
  engine.loadParams(initialParams(engine.config, seed));
  const started = performance.now();
  await pretrain(engine, task, seed, recipe, (step, loss) => {
    process.stderr.write(`step ${step} of ${recipe.steps}, loss ${loss.toFixed(4)} nats per token, ${Math.round((performance.now() - started) / 1000)} s\n`);
  });
  const entry = await writePolicy(engine, task, model, seed, recipe, args.values.out ?? 'public/models');
  process.stdout.write(`${JSON.stringify(entry, null, 2)}\n`);
  engine.destroy();
  return 0;
}

/** Measures the engine's policy on held-out prompts and writes its ONNX file and manifest entry into `folder`. */
export async function writePolicy(engine: WebGpuEngine, task: Task, model: ModelId, seed: number, recipe: Recipe, folder: string): Promise<PolicyEntry> {
  const sampled = await evaluateHeldOut(engine, task, { prompts: MEASURE_PROMPTS, greedy: false });
  const greedy = await evaluateHeldOut(engine, task, { prompts: MEASURE_PROMPTS, greedy: true });
  const bytes = policyToOnnx(engine.config, await engine.readParams(), { model, task: task.id, seed });
  const measured = { passRate: sampled.accuracy, greedy: greedy.accuracy, formatRate: sampled.formatRate, prompts: MEASURE_PROMPTS };
  const entry = await manifestEntry(bytes, { model, task: task.id, seed, recipe, measured });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, entry.file), bytes);
  const path = join(folder, 'manifest.json');
  writeFileSync(path, `${JSON.stringify(withEntry(readManifest(path), entry), null, 2)}\n`);
  return entry;
}

function readManifest(path: string): Manifest | null {
  try {
    return parseManifest(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new UserError(`--${name} ${text} is not a whole number.`, `Give --${name} a number from 0.`);
  return value;
}
