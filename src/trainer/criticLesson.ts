import type { RunConfig } from '../config/runConfig';
import { explainedVariance, mean, pearson } from '../core/statistics';
import type { PackedBatch } from '../engines/engine';
import { valueLossCpu } from '../kernels/value/value.cpu';
import type { Task } from '../tasks/task';
import { ADAM } from './adam';
import { responseOf } from './batch';
import type { CalibrationWindow } from './calibration';
import type { CriticLesson } from './credit';
import type { Critic } from './critic';
import { NotFiniteError } from './errors';
import type { CriticReport } from './report';
import type { TokenCritic } from './tokenCritic';

/** SPPO's: V(prompt) towards the reward of the answer, by cross-entropy. */
export function promptCriticLesson(
  config: RunConfig,
  task: Task,
  critic: Critic,
  calibration: CalibrationWindow,
  { promptIds, values, earned }: { promptIds: Uint32Array; values: Float64Array; earned: readonly number[] },
): CriticLesson {
  const losses: number[] = [];
  return {
    train(rows) {
      losses.push(critic.update(gather(promptIds, rows, task.promptLength), rows.map((r) => earned[r]), config.criticLearningRate));
    },
    report: async () => ({
      level: 'prompt', loss: mean(losses), ...said(calibration, values, earned), explainedVariance: explainedVariance(earned, values), clippedValues: null,
    }),
  };
}

/** PPO's: V before each token towards its return, by the clipped squared error. */
export function tokenCriticLesson(
  config: RunConfig,
  task: Task,
  critic: TokenCritic,
  calibration: CalibrationWindow,
  { values, returns, earned, step }: { values: Float32Array[]; returns: Float64Array[]; earned: readonly number[]; step: number },
): CriticLesson {
  const taught: { rows: readonly number[]; packed: PackedBatch }[] = [];
  const pick = <T>(of: readonly T[], rows: readonly number[]) => rows.map((r) => of[r]);
  return {
    train(rows, packed) {
      taught.push({ rows, packed });
      critic.update(packed, task.promptLength, pick(values, rows), pick(returns, rows), {
        ...ADAM, learningRate: config.criticLearningRate, maxGradNorm: config.maxGradNorm, valueClip: config.valueClip,
      });
    },
    async report() {
      const records = await critic.collect();
      const losses: number[] = [];
      let [held, tokens] = [0, 0];
      taught.forEach(({ rows, packed }, k) => {
        let [loss, count] = [0, 0];
        rows.forEach((r, i) => {
          responseOf(packed, task.promptLength, records[k].values, i).forEach((value, t) => {
            const item = valueLossCpu(value, values[r][t], returns[r][t], 1, config.valueClip);
            loss += item.loss;
            held += item.held ? 1 : 0;
            count++;
          });
        });
        if (!Number.isFinite(loss) || !Number.isFinite(records[k].gradNorm)) throw new NotFiniteError('The critic’s loss or its gradient', step, k + 1);
        losses.push(loss / count);
        tokens += count;
      });
      const flat = (of: readonly ArrayLike<number>[]) => of.flatMap((row) => Array.from(row));
      return {
        level: 'token', loss: mean(losses), ...said(calibration, Float64Array.from(values, (row) => row[0]), earned),
        explainedVariance: explainedVariance(flat(returns), flat(values)), clippedValues: config.valueClip > 0 ? held / tokens : null,
      };
    },
  };
}

/** What any critic promised of whole answers, against what they earned. */
function said(calibration: CalibrationWindow, values: Float64Array, earned: readonly number[]): Pick<CriticReport, 'meanValue' | 'correlation' | 'calibration'> {
  calibration.add(values, earned);
  return { meanValue: mean(values), correlation: pearson(values, earned), calibration: calibration.report() };
}

function gather(source: Uint32Array, rows: readonly number[], width: number): Uint32Array {
  const out = new Uint32Array(rows.length * width);
  rows.forEach((r, i) => out.set(source.subarray(r * width, (r + 1) * width), i * width));
  return out;
}
