import { getObjective, OBJECTIVES, type Objective } from '../../src/objectives';

/** Mixtures of every kind: one level for both, two levels each way, bases that carry, scale by entropy, clip dually, credit by token. */
export const MIXTURES: readonly Objective[] = [
  'grpo@sequence', 'gspo@segment', 'sppo@sequence', 'sppo@segment', 'ppo@sequence', 'sspo@token', 'dapo@segment',
  'grpo@segment/token', 'grpo@token/sequence', 'gspo@sequence/segment', 'sppo@sequence/token', 'sspo@token/segment', 'sspo@segment/sequence', 'gspoToken@token/segment',
].map(getObjective);

/** Everything that the property suites hold. */
export const LISTED_AND_MIXED: readonly Objective[] = [...OBJECTIVES, ...MIXTURES];
