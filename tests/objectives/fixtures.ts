import golden from '../fixtures/objectives.json';
import type { ObjectiveBatch } from '../../src/objectives';

/** Fixture A of algorithms.md section 10: two responses, pads full of garbage. */
export function fixtureA(): ObjectiveBatch {
  const { old, new: newLogp, mask, seg, entropy, adv, Lmax } = golden.fixture;
  return {
    oldLogp: old,
    newLogp,
    mask,
    segments: seg,
    entropy,
    advantages: mask.map((row, i) => row.map(() => adv[i])),
    maxTokens: Lmax,
  };
}
