import type { EngineState, NetworkState, PolicyEngine } from '../engines/engine';
import type { Task } from '../tasks/task';
import { VOCABULARY } from '../tasks/tokenizer';
import type { Promised } from './calibration';
import type { Critics } from './credit';
import { Critic } from './critic';
import type { CriticState } from './critic';
import type { PastRewards } from '../objectives';
import { NotFiniteError } from './errors';
import { TokenCritic } from './tokenCritic';

/** All that a run changes as it goes, so that it can go on from here on this engine or another of its kind. Settings are not part of it. */
export interface Checkpoint {
  /** Finished iterations and updates. */
  step: number;
  updates: number;
  engine: EngineState;
  /** Of the critics that were needed so far. */
  promptCritic: CriticState | null;
  tokenCritic: NetworkState | null;
  calibration: { prompt: readonly Promised[]; token: readonly Promised[] };
  prompts: readonly (readonly [string, PastRewards])[];
}

/** Everything is copied. Between iterations only. @throws NotFiniteError when a parameter or moment is not finite: nothing could go on from there */
export async function takeCheckpoint(engine: PolicyEngine, critics: Critics, step: number, updates: number): Promise<Checkpoint> {
  const policy = await engine.saveState();
  const tokenCritic = (await critics.token?.network.saveState()) ?? null;
  const promptCritic = critics.prompt?.saveState() ?? null;
  checkNetwork(policy, 'of the policy', step);
  if (promptCritic) checkNetwork(promptCritic, 'of the critic', step);
  if (tokenCritic) checkNetwork(tokenCritic, 'of the critic', step);
  return {
    step,
    updates,
    engine: policy,
    promptCritic,
    tokenCritic,
    calibration: { prompt: critics.calibration.prompt.saveState(), token: critics.calibration.token.saveState() },
    prompts: critics.history.saveState(),
  };
}

function checkNetwork({ params, m, v }: { params: ArrayLike<number>; m: ArrayLike<number>; v: ArrayLike<number> }, whose: string, step: number): void {
  for (const [name, values] of Object.entries({ 'A parameter': params, 'A moment of Adam': m, 'A second moment of Adam': v })) {
    for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) throw new NotFiniteError(`${name} ${whose}`, step, null, `number ${i} of its flat vector`);
  }
}

/** Puts engine and critics back to a checkpoint; what was not needed by then is forgotten. */
export async function applyCheckpoint(checkpoint: Checkpoint, engine: PolicyEngine, task: Task, seed: number, critics: Critics): Promise<void> {
  engine.loadState(checkpoint.engine);
  critics.prompt = null;
  if (checkpoint.promptCritic) {
    critics.prompt = new Critic(task.promptLength, VOCABULARY, seed);
    critics.prompt.loadState(checkpoint.promptCritic);
  }
  critics.token = checkpoint.tokenCritic && (await TokenCritic.resume(engine, checkpoint.tokenCritic));
  critics.calibration.prompt.loadState(checkpoint.calibration.prompt);
  critics.calibration.token.loadState(checkpoint.calibration.token);
  critics.history.loadState(checkpoint.prompts);
}
