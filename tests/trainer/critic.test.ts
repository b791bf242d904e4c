import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng';
import { Critic } from '../../src/trainer/critic';

const P = 3;
const V = 8;

function randomCritic(): Critic {
  const critic = new Critic(P, V, 5);
  const rng = new Rng(1);
  // Away from the start, where w2 = 0 would hide the gradient of W1.
  for (let i = 0; i < critic.params.length; i++) critic.params[i] = 0.5 * rng.normal();
  return critic;
}

describe('Critic', () => {
  it('starts at V = 1/2 for every prompt', () => {
    expect([...new Critic(P, V, 9).values(Uint32Array.from([0, 1, 2, 7, 7, 7]))]).toEqual([0.5, 0.5]);
  });

  it('has the gradient that finite differences find', () => {
    const critic = randomCritic();
    const prompts = Uint32Array.from([0, 1, 2, 7, 7, 7, 3, 1, 0, 0, 1, 5]);
    const rewards = [1, 0, 1, 0];
    const { gradient } = critic.lossAndGradient(prompts, rewards);
    const loss = (): number => critic.lossAndGradient(prompts, rewards).loss;
    const h = 1e-5;
    let checked = 0;
    for (let i = 0; i < critic.params.length; i++) {
      const kept = critic.params[i];
      critic.params[i] = kept + h;
      const up = loss();
      critic.params[i] = kept - h;
      const down = loss();
      critic.params[i] = kept;
      const difference = (up - down) / (2 * h);
      if (gradient[i] !== 0) checked++;
      expect(Math.abs(difference - gradient[i]) <= 1e-8 + 1e-6 * Math.abs(gradient[i]), `parameter ${i}: ${gradient[i]} against ${difference}`).toBe(true);
    }
    // 9 (position, token) pairs occur; each has a vector of 32, and there are b1, w2 and b2.
    expect(checked).toBe(9 * 32 + 32 + 32 + 1);
  });

  it('learns which prompts are answered rightly', () => {
    const critic = new Critic(P, V, 5);
    const rng = new Rng(2);
    const batch = Array.from({ length: 64 }, () => [rng.int(0, 7), rng.int(0, 7), rng.int(0, 7)]);
    const rewards = batch.map(([first]) => (first < 3 ? 1 : 0));
    const prompts = Uint32Array.from(batch.flat());
    const before = critic.update(prompts, rewards, 3e-3);
    let after = before;
    for (let i = 0; i < 300; i++) after = critic.update(prompts, rewards, 3e-3);
    expect(before).toBeCloseTo(Math.LN2, 10);
    expect(after).toBeLessThan(0.05);
    expect(critic.values(Uint32Array.from([1, 4, 4]))[0]).toBeGreaterThan(0.8);
    expect(critic.values(Uint32Array.from([6, 4, 4]))[0]).toBeLessThan(0.2);
  });
});
