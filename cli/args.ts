import { UserError } from '../src/core/errors';

export interface ArgSpec {
  /** Names that take a value, and those of `flags`, which take none. `set` may be given many times, as `--set name=value`. */
  known: readonly string[];
  flags?: readonly string[];
}

export interface Args {
  /** Values by name; a flag that is present has the value "true". */
  values: Partial<Record<string, string>>;
  /** The pairs of all `--set name=value`. */
  sets: Record<string, string>;
}

/** Reads `--name value`, `--name=value`, flags and `--set name=value`. Throws UserError on anything else. */
export function parseArgs(argv: readonly string[], spec: ArgSpec): Args {
  const args: Args = { values: {}, sets: {} };
  for (let i = 0; i < argv.length; i++) {
    const match = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(argv[i]);
    const name = match?.[1] ?? '';
    if (!match || !spec.known.includes(name)) {
      throw new UserError(`"${argv[i]}" is not an option of this command.`, `Options: ${spec.known.map((k) => `--${k}`).join(' ')}.`);
    }
    if (spec.flags?.includes(name)) {
      args.values[name] = 'true';
      continue;
    }
    const value = match[2] ?? argv[++i];
    if (value === undefined || (match[2] === undefined && value.startsWith('--'))) throw new UserError(`--${name} needs a value.`);
    if (name === 'set') addSet(args.sets, value);
    else if (args.values[name] !== undefined) throw new UserError(`--${name} is given twice.`);
    else args.values[name] = value;
  }
  return args;
}

function addSet(sets: Record<string, string>, pair: string): void {
  const at = pair.indexOf('=');
  if (at <= 0 || at === pair.length - 1) throw new UserError(`--set ${pair} is not a name and a value.`, 'Write it as --set clipLow=0.2.');
  sets[pair.slice(0, at)] = pair.slice(at + 1);
}
