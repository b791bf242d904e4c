import { describe, expect, it } from 'vitest';
import { importanceWeights } from '../../src/trainer/mismatch';
import { answerRewards, tokenRewards } from '../../src/trainer/shaping';
import { expectClose } from '../helpers/expectClose';

describe('importance weights between the sampler and the old policy', () => {
  // Token ratios 2, .5, 4 (product 4) and .25, 1 (product .25).
  const sampler = [[-2, -1, -3], [-1, -1]];
  const old = [[-2 + Math.log(2), -1 + Math.log(0.5), -3 + Math.log(4)], [-1 + Math.log(0.25), -1]];
  const weights = (mode: Parameters<typeof importanceWeights>[0], cap = 3, floor = 0) => importanceWeights(mode, { cap, floor }, sampler, old)?.map((w) => Array.from(w.applied));

  it('are none when off', () => expect(importanceWeights('none', { cap: 3, floor: 0 }, sampler, old)).toBeNull());

  it.each([
    ['token-truncate', [[2, 0.5, 3], [0.25, 1]]],
    ['token-mask', [[2, 0.5, 0], [0.25, 1]]],
    ['sequence-truncate', [[3, 3, 3], [0.25, 0.25]]],
    ['sequence-mask', [[0, 0, 0], [0.25, 0.25]]],
  ] as const)('%s', (mode, want) => {
    (weights(mode) ?? []).forEach((row, i) => expectClose(row, want[i], 1e-12));
  });

  it('are masked below the floor too, but not truncated there', () => {
    expectClose(weights('token-mask', 3, 0.4)?.flat() ?? [], [2, 0.5, 0, 0, 1], 1e-12);
    expectClose(weights('token-truncate', 3, 0.4)?.flat() ?? [], [2, 0.5, 3, 0.25, 1], 1e-12);
  });

  it('say what they were before the cut, and stay finite far out', () => {
    const got = importanceWeights('sequence-mask', { cap: 3, floor: 0 }, [[-1, -500]], [[-1, -1]]);
    expect([got?.[0].applied[1], Number.isFinite(got?.[0].whole[1])]).toEqual([0, true]);
  });
});

describe('shaped rewards', () => {
  const input = { rewards: [1, 0], lengths: [20, 17], oldLogp: [[-1, -2], [-1]], refLogp: [[-2, -2.5], [-0.5]] };
  it('add the length penalty, and the KL where it is placed in the reward', () => {
    expectClose(answerRewards(tokenRewards({ overlongCache: 4, klPlacement: 'loss', beta: 0.1 }, { maxNewTokens: 20 }, input)), [0, -0.25], 1e-12);
    expectClose(answerRewards(tokenRewards({ overlongCache: 0, klPlacement: 'reward', beta: 0.1 }, { maxNewTokens: 20 }, { ...input, lengths: [2, 1] })), [1 - 0.15, 0.05], 1e-12);
    expectClose(tokenRewards({ overlongCache: 0, klPlacement: 'reward', beta: 0.1 }, { maxNewTokens: 20 }, { ...input, lengths: [2, 1] })[0], [-0.1, 1 - 0.05], 1e-12);
    expect(answerRewards(tokenRewards({ overlongCache: 0, klPlacement: 'reward', beta: 0.1 }, { maxNewTokens: 20 }, { ...input, lengths: [2, 1], refLogp: null }))).toEqual([1, 0]);
  });
});
