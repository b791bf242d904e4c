import { ESTIMATORS } from '../objectives';
import { estimatorOf } from './hyper';
import type { RunConfig } from './runConfig';

/** Which critic the settings ask for: V(prompt) for SPPO with the learnt baseline, V of every state for GAE, or none. */
export function criticOf(config: RunConfig): 'prompt' | 'token' | null {
  const estimator = estimatorOf(config);
  if (ESTIMATORS[estimator].unit === 'token') return 'token';
  return estimator === 'sequenceLevel' && config.baseline === 'value' ? 'prompt' : null;
}
