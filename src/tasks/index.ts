import { UserError } from '../core/errors';
import { chainSum } from './defs/chainSum';
import { columnAddition } from './defs/columnAddition';
import type { Task } from './task';

/** Every task; a new one is a file in defs/ and a line here. The first is the default. */
export const TASKS: readonly Task[] = [columnAddition, chainSum];

/**
 * The task with this id.
 * @throws UserError when there is none.
 */
export function getTask(id: string): Task {
  const task = TASKS.find((t) => t.id === id);
  if (!task) throw new UserError(`There is no task "${id}".`, `Choose one of: ${TASKS.map((t) => t.id).join(', ')}.`);
  return task;
}
