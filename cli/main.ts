import { UserError } from '../src/core/errors';

/** The command line: one module per command, loaded when it is asked for. */

type Command = { run(argv: string[]): Promise<number> };

const COMMANDS: Record<string, string> = {
  eval: 'what an objective says about a batch of log-probs: loss, coefficients, ratios, clip flags, metrics',
  train: 'trains a policy without a browser and writes its metrics',
  pretrain: 'makes a base policy and writes it as ONNX',
  table: 'trains a list of conditions with several seeds and writes docs/measured.md',
  bench: 'measures the engine on this machine',
};

const modules = import.meta.glob<Command>(['./eval.ts', './train.ts', './pretrain.ts', './table.ts', './bench.ts']);
const available = Object.keys(COMMANDS).filter((name) => `./${name}.ts` in modules);

function help(): string {
  const lines = available.map((name) => `  ${name.padEnd(10)}${COMMANDS[name]}`);
  return ['Usage: npm run -s ratioscope -- <command> [options]', '', ...lines, '', 'Each command explains itself with --help.', ''].join('\n');
}

/** Runs a command and returns the exit code; an error for people becomes one line on stderr and exit code 1. */
export async function main(argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  try {
    if (name === undefined || name === 'help' || name === '--help') {
      process.stdout.write(help());
      return name === undefined ? 1 : 0;
    }
    const load = available.includes(name) ? modules[`./${name}.ts`] : undefined;
    if (!load) throw new UserError(`There is no command "${name}".`, `Commands: ${available.join(', ')}.`);
    return await (await load()).run(rest);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${[error.message, error.hint].filter(Boolean).join(' ').replace(/\s*\n\s*/g, ' ')}\n`);
    return 1;
  }
}
