import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../src/core/errors';
import { checkDifferences, registerCustom, type CustomObjective } from '../src/objectives/custom';

/** Reads an objective from a file and makes it known. Throws UserError on what is wrong in it, with line and column. */
export async function readObjective(file: string): Promise<CustomObjective> {
  const custom = registerCustom((await readInput(file)).replace(/\r\n?/g, '\n'));
  const { objective } = custom;
  const check = checkDifferences(objective);
  if (!check.ok) throw new UserError(`The gradient of ${objective.title} differs from central differences by ${check.maxError.toPrecision(2)} of its size.`, 'Its loss may be too steep for differences; look for exp of large numbers.');
  return custom;
}

/** Text of a file, or of stdin for `-`. Throws UserError where there is none. */
export async function readInput(input: string): Promise<string> {
  if (input === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  }
  // npm runs scripts in the project's folder; the path is meant from where the person stands.
  for (const folder of [process.env.INIT_CWD, process.cwd()]) {
    if (!folder) continue;
    try {
      return readFileSync(resolve(folder, input), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new UserError(`${input} cannot be read (${(error as Error).message}).`);
    }
  }
  throw new UserError(`There is no file ${input}.`, 'Give a file, or - for stdin.');
}
