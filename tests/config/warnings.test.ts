import { describe, expect, it } from 'vitest';
import { presetConfig, PRESETS } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { mixtureWarnings } from '../../src/config/warnings';

const warnings = (preset: string, patch: Partial<RunConfig> = {}) => mixtureWarnings({ ...presetConfig(preset, 'small'), ...patch });

describe('known-bad mixtures', () => {
  it.each([
    ['gspo', { lossAggMode: 'token-mean' }, /long answers weigh more/],
    ['gspoToken', { lossAggMode: 'constant' }, /long answers weigh more/],
    ['gspo-borrowed', {}, /hardly ever binds/],
    ['grpo', { lossAggMode: 'constant' }, /length budget/],
    ['cispo-trap', {}, /absolute ratio/],
    ['grpo', { advantage: 'reward' }, /No baseline/],
    ['fp8-masked', {}, /product over its tokens/],
    ['grpo', { beta: 0.1, klPlacement: 'reward' }, /blows that difference up/],
    ['dcpo', { beta: 0.1, klPlacement: 'reward' }, /blows that difference up/],
    ['dcpo', { dynamicSampling: true }, /the one undoes the other/],
    ['rft', { overlongCache: 8 }, /long right answers/],
    ['sppo', { dynamicSampling: true }, /no groups/],
    ['grpo', { objective: 'grpo@sequence', lossAggMode: 'token-mean' }, /long answers weigh more/],
    ['grpo', { objective: 'grpo@sequence/token', lossAggMode: 'token-mean' }, /long answers weigh more/],
    ['grpo', { objective: 'grpo@sequence', clipLowSequence: 0.2, clipHighSequence: 0.2 }, /hardly ever binds/],
    ['grpo', { objective: 'grpo@segment', clipLowSegment: 0.2, clipHighSegment: 0.2 }, /a ratio per subsentence: it hardly ever binds/],
    ['gspo', { objective: 'gspo@token', clipLowToken: 3e-4, clipHighToken: 4e-4 }, /An answer’s clip width on token ratios/],
    ['grpo', { objective: 'grpo@token/sequence' }, /only the answer’s mean is held/],
    ['grpo', { objective: 'grpo@token/segment' }, /only the subsentence’s mean is held/],
    ['gspo', { objective: 'gspo@sequence/token' }, /cut tokens still move/],
    ['gspo', { advantage: 'gae' }, /GSPO-token/],
  ] as const)('%s with %j', (preset, patch, message) => {
    expect(warnings(preset, patch).join(' ')).toMatch(message);
  });

  it('are not seen where there are none', () => {
    const known = ['gspo-borrowed', 'sspo-wide', 'cispo-trap', 'fp8-masked'];
    for (const { id } of PRESETS) expect(warnings(id).length > 0, id).toBe(known.includes(id));
    expect(warnings('lpo', { lossAggMode: 'token-mean' })).toEqual([]);
    expect(warnings('grpo', { beta: 0.1 })).toEqual([]);
    expect(warnings('ppo', { objective: 'ppo@sequence' })).toEqual([]);
    // CISPO's bounds are its own: the token width is only measured.
    expect(warnings('cispo', { clipLowToken: 3e-4, clipHighToken: 3e-4 })).toEqual([]);
    expect(warnings('grpo', { objective: 'grpo@segment' })).toEqual([]);
  });
});
