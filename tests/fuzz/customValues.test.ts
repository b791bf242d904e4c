import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hyperparametersOf } from '../../src/config/hyper';
import { presetConfig } from '../../src/config/presets';
import { validateConfig } from '../../src/config/validate';
import { compactBatch, evaluateTokens, getObjective, resolveHyperparameters } from '../../src/objectives';
import { randomBatch } from '../helpers/lossBatch';

/** A typed objective with damaged values of its parameters: they end within their bounds, and the gradient stays that of the loss. */

const TEXT = 'param eps = 0.2 in 0.01..1;\nparam tau = 1 in 0.5..20;\nparam beta = 0 in 0..0.5;\n-min(clip(ratio, 1 - eps, 1 + eps) * adv, sigmoid(tau * (ratio - 1)) * adv) + beta * k3(refLogp - logp)';
const number = fc.oneof(fc.double().map(String), fc.constantFrom('0', '1e999', '-1e999', 'NaN', '', ' ', '0x1f', '1e-320', '-0', '٣', '1,5', '1_000', 'null', '0.3'));
const pair = fc.tuple(fc.oneof(fc.constantFrom('eps', 'tau', 'beta', 'zeta', '__proto__', 'constructor', ' eps ', ''), fc.string({ maxLength: 5 })), number).map(([name, value]) => `${name}=${value}`);
const values = fc.oneof(fc.array(pair, { maxLength: 5 }).map((list) => list.join(',')), fc.string({ unit: 'binary', maxLength: 60 }));
const base = presetConfig('grpo', 'small');

describe('1,000 damaged values of a typed objective', () => {
  it('are held within their bounds, and give finite losses whose derivative is the coefficient', () => {
    const batch = randomBatch({ seed: 5, lengths: [1, 4, 9], spread: 0.6, segments: 'random', advantages: [1, -1.3, 0.4] });
    let compared = 0;
    fc.assert(
      fc.property(values, (customParameters) => {
        const { config } = validateConfig({ objective: 'custom', customObjective: TEXT, customParameters }, base);
        expect(validateConfig(config)).toEqual({ config, problems: [] });
        const objective = getObjective(config.objective);
        const hyper = hyperparametersOf(config);
        for (const { name, min, max } of objective.hyperparameters) expect(hyper[name]! >= min && hyper[name]! <= max, `${name} = ${hyper[name]}`).toBe(true);
        const compact = { ...compactBatch(batch, objective.lossAggMode), refLogp: compactBatch(batch, objective.lossAggMode).oldLogp };
        const resolved = resolveHyperparameters(objective, hyper);
        const { loss, coefficient } = evaluateTokens(objective, compact, resolved);
        const h = 1e-6;
        for (let t = 0; t < compact.count; t++) {
          const moved = (d: number): number => {
            const logp = Float64Array.from(compact.logp);
            logp[t]! += d;
            return evaluateTokens(objective, { ...compact, logp }, resolved).loss.reduce((sum, value) => sum + value, 0);
          };
          if (!Number.isFinite(loss[t])) throw new Error(`loss ${loss[t]} with ${customParameters}`);
          const [left, middle, right] = [moved(-h), moved(0), moved(h)];
          // At the edge of the band, or where the two branches meet, there is no derivative.
          if (Math.abs(left + right - 2 * middle) > 1e-9) continue;
          compared++;
          if (!(Math.abs((right - left) / (2 * h) - coefficient[t]!) <= 1e-6)) throw new Error(`token ${t}: ${coefficient[t]} against ${(right - left) / (2 * h)} with ${customParameters}`);
        }
      }),
      { seed: 20261208, numRuns: 1000 },
    );
    expect(compared).toBeGreaterThan(10_000);
  });
});
