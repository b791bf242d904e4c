import { closeSync, openSync, writeSync } from 'node:fs';
import { UserError } from '../src/core/errors';
import type { RunConfig } from '../src/config/runConfig';
import { parseArgs } from './args';
import { readObjective } from './files';
import { HeadlessTrainer } from './headless';
import { countFrom, optionLists, runConfigFrom } from './runOptions';
import { summarise, type RunSummary } from './summary';

const OPTIONS = ['objective', 'objective-file', 'preset', 'model', 'task', 'seed', 'steps', 'out', 'set', 'eval-prompts', 'models', 'help'] as const;

const help = (): string => `Trains a policy without a browser, with the code that the page runs.

Usage: npm run -s ratioscope -- train [--objective <id> | --objective-file <file>] [--preset <id>] [--model main|small] [--task <id>]
         [--seed n] [--steps n] [--out metrics.jsonl] [--set name=value ...] [--eval-prompts n] [--models folder]

One line of JSON per step and per evaluation goes to --out, progress to stderr, a closing summary to stdout.
--objective-file: an objective of your own, as the page's editor exports it; checked against central differences first. --set name=value
sets its parameters too.
--eval-prompts: held-out prompts of the last evaluation, at temperature 1 and greedy (256).
--models: folder of the base policies (public/models).

${optionLists()}
`;

/** `train`: one run; see --help. Returns the exit code. */
export async function run(argv: string[]): Promise<number> {
  const args = parseArgs(argv, { known: OPTIONS, flags: ['help'] });
  if (args.values.help) {
    process.stdout.write(help());
    return 0;
  }
  const { 'objective-file': file } = args.values;
  const config = runConfigFrom(args, file === undefined ? null : await readObjective(file));
  const evalPrompts = countFrom('eval-prompts', args.values['eval-prompts'], 256, 1);
  const out = args.values.out === undefined ? null : openLines(args.values.out);
  const trainer = await HeadlessTrainer.open(config.model, args.values.models);
  try {
    const summary = await trainOnce(trainer, config, evalPrompts, out?.write);
    process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
    return 0;
  } finally {
    out?.close();
    trainer.destroy();
  }
}

/** One run with its progress on stderr; `write` gets every line of the record. */
export async function trainOnce(trainer: HeadlessTrainer, config: RunConfig, evalPrompts: number, write: (line: object) => void = () => {}): Promise<RunSummary> {
  const { adapter } = trainer;
  write({ type: 'run', adapter, config });
  const result = await trainer.train(config, evalPrompts, {
    onActivity: (message) => process.stderr.write(`${message}\n`),
    onEval: (report) => {
      write({ type: 'eval', ...report });
      process.stderr.write(`step ${report.step}: held-out greedy ${report.greedy.toFixed(3)} of ${report.prompts} prompts\n`);
    },
    onStep: (report) => {
      write({ type: 'step', ...report });
      const check = report.selfCheck.ok === false ? `  SELF-CHECK BROKEN: |log ratio| ${report.selfCheck.maxAbsLogRatio.toExponential(1)}` : '';
      const { step, reward, ms, tokensPerSecond } = report;
      process.stderr.write(`step ${step} of ${config.totalSteps}  reward ${reward.toFixed(3)}  ${Math.round(ms.total)} ms/step  ${Math.round(tokensPerSecond)} tokens/s  ${adapter}${check}\n`);
    },
  });
  const summary = summarise(config, adapter, result);
  write({ type: 'summary', ...summary });
  return summary;
}

/** A file that takes one JSON object a line, each written before the next step begins. */
export function openLines(path: string): { write: (line: object) => void; close: () => void } {
  let file: number;
  try {
    file = openSync(path, 'w');
  } catch (error) {
    throw new UserError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, 'Name a file in a folder that exists.');
  }
  return { write: (line) => void writeSync(file, `${JSON.stringify(line)}\n`), close: () => closeSync(file) };
}
