import type { EngineState, NetworkState } from '../engines/engine';
import type { PastRewards } from '../objectives';
import type { Promised } from '../trainer/calibration';
import type { Checkpoint } from '../trainer/checkpoint';
import type { CriticState } from '../trainer/critic';
import { arrayOf, isCount, isDoubles, isFloats, isNumber, isString, nullable, record, type Guard } from './shape';

const isMoment: Guard<Float32Array | Float64Array> = (value): value is Float32Array | Float64Array => isFloats(value) || isDoubles(value);
const network = { params: isFloats, m: isMoment, v: isMoment, updates: isCount };
const isNetwork = record<NetworkState>(network);
const isEngine = record<EngineState>({ ...network, history: arrayOf(isFloats), iteration: isCount });
const isCritic = record<CriticState>({ params: isDoubles, m: isDoubles, v: isDoubles, updates: isCount });
const isPromised = record<Promised>({ values: isDoubles, rewards: isDoubles });
const isPast = record<PastRewards>({ visits: isCount, answers: isCount, mean: isNumber, squares: isNumber, lowest: isNumber, highest: isNumber });
const isPrompt: Guard<readonly [string, PastRewards]> = (value): value is readonly [string, PastRewards] => Array.isArray(value) && value.length === 2 && isString(value[0]) && isPast(value[1]);

/** True when `value` is a checkpoint in every field; lengths are the engine's business. */
export const isCheckpoint = record<Checkpoint>({
  step: isCount,
  updates: isCount,
  engine: isEngine,
  promptCritic: nullable(isCritic),
  tokenCritic: nullable(isNetwork),
  calibration: record<Checkpoint['calibration']>({ prompt: arrayOf(isPromised), token: arrayOf(isPromised) }),
  prompts: arrayOf(isPrompt),
});
