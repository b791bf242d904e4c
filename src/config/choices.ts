import { getObjective, OBJECTIVES } from '../objectives';
import { TASKS } from '../tasks';

/** The objectives by id, with the names that people know. */
export const OBJECTIVE_CHOICES: readonly { value: string; label: string }[] = OBJECTIVES.map((o) => ({ value: o.id, label: o.title }));

/** The dual clip that an objective starts with; 0 is none. */
export function defaultDualClip(objective: string): number {
  return getObjective(objective).hyperparameters.find((h) => h.name === 'dualClip')?.default ?? 0;
}

/** The tasks by id; the first is the default. */
export const TASK_CHOICES: readonly { value: string; label: string }[] = TASKS.map((task) => ({ value: task.id, label: task.title }));

/** Id of the task that a fresh page trains on. */
export const DEFAULT_TASK = 'columnAddition';
