import { TASKS } from '../tasks';

/** The objectives by id, with the names that people know. */
export const OBJECTIVE_CHOICES: readonly { value: string; label: string }[] = [
  { value: 'grpo', label: 'GRPO' },
  { value: 'gspo', label: 'GSPO' },
  { value: 'sspo', label: 'SSPO' },
  { value: 'sppo', label: 'SPPO' },
  { value: 'lpo', label: 'LPO' },
];

/** The tasks by id; the first is the default. */
export const TASK_CHOICES: readonly { value: string; label: string }[] = TASKS.map((task) => ({ value: task.id, label: task.title }));

/** Id of the task that a fresh page trains on. */
export const DEFAULT_TASK = 'columnAddition';
