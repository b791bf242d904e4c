import { UserError } from '../src/core/errors';
import {
  ADVANTAGE_ESTIMATORS,
  ADVANTAGE_STDS,
  broadcastAdvantages,
  criticLoss,
  ESTIMATORS,
  type AdvantageEstimator,
  type AdvantageStd,
  type Baseline,
  type Objective,
} from '../src/objectives';
import { present, readColumn, readTable, type RawBatch } from './evalInput';

/** From what a batch of `eval` gives to advantages [B][T]. */

const BASELINES = ['value', 'batchMean', 'zero'] as const satisfies readonly Baseline[];

/** How rewards become advantages. */
export interface CreditSettings {
  /** Null: the objective's own. */
  advantage: AdvantageEstimator | null;
  advantageStd: AdvantageStd;
  baseline: Baseline;
  normalizeAdvantage: boolean;
  gaeGamma: number;
  gaeLambda: number;
  whitenAdvantages: boolean;
}

export function defaultCredit(): CreditSettings {
  return { advantage: null, advantageStd: 'population', baseline: 'value', normalizeAdvantage: false, gaeGamma: 1, gaeLambda: 0.95, whitenAdvantages: false };
}

/** Takes one `--set` if it is about advantages; false when it is not. Throws UserError on a bad value. */
export function setCredit(settings: CreditSettings, name: string, text: string): boolean {
  const flag = () => choice(name, text, ['true', 'false']) === 'true';
  if (name === 'advantage') settings.advantage = choice(name, text, ADVANTAGE_ESTIMATORS);
  else if (name === 'advantageStd') settings.advantageStd = choice(name, text, ADVANTAGE_STDS);
  else if (name === 'baseline') settings.baseline = choice(name, text, BASELINES);
  else if (name === 'normalizeAdvantage') settings.normalizeAdvantage = flag();
  else if (name === 'whitenAdvantages') settings.whitenAdvantages = flag();
  else if (name === 'gaeGamma' || name === 'gaeLambda') settings[name] = readShare(name, text);
  else return false;
  return true;
}

/** One of a list of words. Throws UserError that lists them. */
export function choice<T extends string>(name: string, text: string, known: readonly T[]): T {
  if (!known.includes(text as T)) throw new UserError(`${name} = "${text}" is unknown.`, `Known: ${known.join(', ')}.`);
  return text as T;
}

/** A finite number from text. Throws UserError on anything else. */
export function readNumber(name: string, text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new UserError(`${name} = "${text}" is not a finite number.`);
  return value;
}

function readShare(name: string, text: string): number {
  const value = readNumber(name, text);
  if (value < 0 || value > 1) throw new UserError(`${name} = ${value} does not lie between 0 and 1.`);
  return value;
}

/** What SPPO's critic would report of its logits. */
interface PromptCritic {
  value: number[];
  loss: number;
  gradient: number[];
}

/** Advantages [B][T] from whatever the batch gives, and the critic's loss where its logits are there. */
export function readAdvantages(raw: RawBatch, objective: Objective, mask: ArrayLike<number>[], settings: CreditSettings): { advantages: Float64Array[]; critic: PromptCritic | null } {
  const B = mask.length;
  const numbers = (field: string, nullable: boolean) =>
    Float64Array.from(readColumn(raw, field, B), (value, i) => {
      if (nullable && value === null) return NaN;
      if (typeof value !== 'number' || !Number.isFinite(value)) throw new UserError(`${field}[${i}] is ${JSON.stringify(value)}, not a finite number.`);
      return value;
    });
  const estimator = ESTIMATORS[settings.advantage ?? objective.advantageEstimator];
  if (estimator.unit === 'token' && !present(raw.advantages)) return { advantages: tokenAdvantages(raw, mask, settings), critic: null };
  const rewards = present(raw.rewards) ? numbers('rewards', true) : null;
  const values = present(raw.values) && estimator.unit === 'answer' ? numbers('values', false) : null;
  let critic: PromptCritic | null = null;
  if (rewards && values && rewards.every((r) => !Number.isNaN(r))) {
    const { value, loss, gradient } = criticLoss(rewards, values);
    critic = { value: Array.from(value), loss, gradient: Array.from(gradient) };
  }
  if (present(raw.advantages)) {
    const perToken = Array.isArray(raw.advantages) && raw.advantages.some(Array.isArray);
    return { advantages: perToken ? readTable(raw, 'advantages', mask) : broadcastAdvantages(numbers('advantages', false), mask), critic };
  }
  if (!rewards) throw new UserError('Neither advantages nor rewards are given.', 'Give advantages [B] or [B][T], or rewards [B] with groups [B] (sppo: with values [B]).');
  if (estimator.unit === 'token') throw new Error('invariant: token advantages were read above');
  const { baseline, advantageStd: std, normalizeAdvantage: normalize } = settings;
  const readsValue = estimator === ESTIMATORS.sequenceLevel && baseline === 'value';
  if (readsValue && !values) throw new UserError(`${objective.title} subtracts V(prompt) from the reward, but values are missing.`, 'Give values [B] (logits), or --set baseline=zero or batchMean.');
  if (estimator.answers === 'several' && !present(raw.groups)) throw new UserError('rewards are given without groups.', 'Give groups [B]: the prompt that each response answers, as a number or a string.');
  const groups = present(raw.groups) ? groupIds(readColumn(raw, 'groups', B)) : new Uint32Array(B);
  return { advantages: broadcastAdvantages(estimator.estimate({ rewards, groups, std, baseline, normalize, ...(values && { valueLogits: values }) }), mask), critic };
}

/** GAE over the counted tokens of each row; masked slots are skipped, as verl has it. */
function tokenAdvantages(raw: RawBatch, mask: ArrayLike<number>[], settings: CreditSettings): Float64Array[] {
  if (!present(raw.rewards) || !present(raw.values)) {
    throw new UserError('Advantages by GAE need rewards and values.', 'Give rewards [B] (with the last token) or [B][T], and values [B][T] (V before each token), or advantages.');
  }
  const at = mask.map((row) => Array.from(row, (m, t) => (m ? t : -1)).filter((t) => t >= 0));
  const pick = (rows: Float64Array[]) => rows.map((row, r) => at[r].map((t) => row[t]));
  const isTable = Array.isArray(raw.rewards) && raw.rewards.some(Array.isArray);
  const rewards = isTable
    ? pick(readTable(raw, 'rewards', mask))
    : readColumn(raw, 'rewards', mask.length).map((reward, r) => {
        if (typeof reward !== 'number' || !Number.isFinite(reward)) throw new UserError(`rewards[${r}] is ${JSON.stringify(reward)}, not a finite number.`);
        return at[r].map((_, i) => (i === at[r].length - 1 ? reward : 0));
      });
  const values = pick(readTable(raw, 'values', mask));
  const { advantages } = ESTIMATORS.gae.estimate({ rewards, values, gamma: settings.gaeGamma, lambda: settings.gaeLambda, whiten: settings.whitenAdvantages });
  return mask.map((row, r) => {
    const out = new Float64Array(row.length);
    at[r].forEach((t, i) => (out[t] = advantages[r][i]));
    return out;
  });
}

/** Numbers for group names of any kind. */
function groupIds(groups: unknown[]): number[] {
  const ids = new Map<string, number>();
  return groups.map((group, i) => {
    if (typeof group !== 'number' && typeof group !== 'string') throw new UserError(`groups[${i}] is ${JSON.stringify(group)}, not a number or a string.`);
    const key = JSON.stringify(group);
    ids.set(key, ids.get(key) ?? ids.size);
    return ids.get(key) as number;
  });
}
