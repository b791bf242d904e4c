import { criticOf } from '../config/critic';
import { estimatorOf } from '../config/hyper';
import type { RunConfig } from '../config/runConfig';
import { mean } from '../core/statistics';
import type { PackedBatch } from '../engines/engine';
import { ESTIMATORS } from '../objectives';
import type { CalibrationWindow } from './calibration';
import { promptCriticLesson, tokenCriticLesson } from './criticLesson';
import type { Critic } from './critic';
import { sigmoid } from './critic';
import type { PromptHistory } from './promptHistory';
import type { CriticReport } from './report';
import { encodePrompts } from './rollout';
import type { Rollout } from './rollout';
import { groupsOf, rowsPerPass } from './selection';
import type { Task } from '../tasks/task';
import type { TokenCritic } from './tokenCritic';

/** What a run keeps from one iteration to the next to tell good answers from bad; critics are there once they were needed. */
export interface Critics {
  prompt: Critic | null;
  token: TokenCritic | null;
  /** Of each critic: values of one must not stand for the other's when a run changes between them. */
  calibration: { prompt: CalibrationWindow; token: CalibrationWindow };
  /** What prompts have earned since advantages were first smoothed. */
  history: PromptHistory;
}

/** A critic's part in the updates of one iteration, and what is said of it afterwards. */
export interface CriticLesson {
  /** Enqueues its update for the minibatch of these rows. */
  train(rows: readonly number[], packed: PackedBatch): void;
  /** After the last update. */
  report(): Promise<CriticReport>;
}

/** Who gets how much of the credit for the rewards of a rollout. */
export interface Credit {
  /** Of every response token; [R][T]. */
  advantages: Float64Array[];
  /** The answer's, or the mean over its tokens where they differ; [R]. */
  byAnswer: Float64Array;
  /** True when the tokens of an answer differ. */
  isPerToken: boolean;
  /** V(prompt); [R]; null without a critic. */
  promptValues: Float64Array | null;
  /** V before each token; [R][T]; null without a token critic. */
  tokenValues: Float32Array[] | null;
  /** Groups whose prompt is remembered from before, where advantages are smoothed over its visits; else null. */
  revisited: number | null;
  lesson: CriticLesson | null;
}

export interface Rewards {
  /** As earned; [R]. */
  earned: readonly number[];
  /** As advantages are formed from: each token's share, [R][T], and the sums, [R]. */
  arriving: readonly Float64Array[];
  shaped: readonly number[];
}

/** Advantages of every token by the estimator in force, and the lesson for its critic. */
export async function assignCredit(config: RunConfig, task: Task, critics: Critics, rollout: Rollout, rewards: Rewards, step: number): Promise<Credit> {
  const estimator = ESTIMATORS[estimatorOf(config)];
  if (estimator.unit === 'token') {
    const { token: critic } = critics;
    if (!critic) throw new Error('invariant: GAE without its critic');
    const tokenValues = await critic.values(rollout, rowsPerPass(config));
    const { advantages: exact, returns } = estimator.estimate({
      rewards: [...rewards.arriving], values: tokenValues, gamma: config.gaeGamma, lambda: config.gaeLambda, whiten: config.whitenAdvantages,
    });
    // As the GPU and the stored batch hold them, so that everyone counts with the same numbers.
    const advantages = exact.map((row) => row.map(Math.fround));
    return {
      advantages, byAnswer: Float64Array.from(advantages, mean), isPerToken: true, tokenValues, revisited: null,
      promptValues: Float64Array.from(tokenValues, (row) => row[0]),
      lesson: tokenCriticLesson(config, task, critic, critics.calibration.token, { values: tokenValues, returns, earned: rewards.earned, step }),
    };
  }
  const promptIds = encodePrompts(task, rollout.prompts, rollout.groupSize);
  const critic = criticOf(config) === 'prompt' ? critics.prompt : null;
  const valueLogits = critic?.logits(promptIds) ?? null;
  const values = valueLogits?.map(sigmoid) ?? null;
  const { history } = critics;
  const byAnswer = estimator.estimate({
    pastOf: (group) => history.of(rollout.prompts[group]),
    rewards: rewards.shaped, groups: groupsOf(rollout.rows, rollout.groupSize), baseline: config.baseline, normalize: config.normalizeAdvantage,
    ...(valueLogits && { valueLogits }),
  });
  let revisited: number | null = null;
  if (estimator === ESTIMATORS.smoothed) {
    revisited = rollout.prompts.filter((prompt) => history.of(prompt) !== null).length;
    history.add(rollout, rewards.shaped);
  }
  return {
    advantages: rollout.characters.map((tokens, r) => new Float64Array(tokens.length).fill(byAnswer[r])), byAnswer, isPerToken: false, tokenValues: null, revisited,
    promptValues: values,
    lesson: critic && values && promptCriticLesson(config, task, critic, critics.calibration.prompt, { promptIds, values, earned: rewards.earned }),
  };
}
