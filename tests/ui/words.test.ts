import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/fields';
import { getObjective } from '../../src/objectives';
import type { Mark } from '../../src/ui/text/marks';
import { branchWords, clipSentence, deadWords, edgeText, groupWords, mixtureWords, natsText, stateWords, verdictTitle } from '../../src/ui/text/words';
import { fakeBatch } from '../visual/fakeData';

const mark = (patch: Partial<Mark>): Mark => ({ logRatio: 0, ratio: 1, low: 0.8, high: 1.2, verdict: 'inside', side: null, loss: -1, weight: 1, ...patch });
const config = (objective: string) => ({ ...defaultConfig(), objective, dualClip: 3 });

describe('numbers of the inspector', () => {
  it('writes edges with as many decimals as the width needs', () => {
    expect([1.2, 0.8, 1.05, 1.0375, 1.0004, 0.9997, 1.01, 0, Infinity, -Infinity].map(edgeText)).toEqual(['1.20', '0.80', '1.05', '1.038', '1.0004', '0.9997', '1.01', 'none', 'none', 'none']);
  });

  it('never writes a log-prob that is not 0 as .000', () => {
    expect([-0.946, -0.0005, -0.0003, 0, -12].map(natsText)).toEqual(['−.946', '−.001', '−3e−4', '0', '−12.000']);
  });
});

describe('sentences', () => {
  it('names the side and the verdict', () => {
    expect(stateWords(mark({ verdict: 'clipped', side: 'low' }))).toBe(', clipped below');
    expect(stateWords(mark({ verdict: 'kept', side: 'high' }))).toBe(', outside above but kept');
    expect(stateWords(mark({}))).toBe('');
  });

  it('says which units the objective in use clips', () => {
    expect(clipSentence(config('grpo'))).toMatch(/^GRPO clips tokens;/);
    expect(clipSentence(config('lpo'))).toMatch(/^LPO clips subsentences;/);
    expect(clipSentence(config('gspo'))).toMatch(/^GSPO clips sequences;/);
  });

  it('explains each way a token can end up', () => {
    const clipped = mark({ verdict: 'clipped', side: 'high', ratio: 1.55 });
    expect(branchWords(clipped, 1, config('grpo'), 1)).toContain('clipped branch won');
    expect(branchWords(clipped, 1, config('gspo'), 31)).toContain('31 tokens');
    expect(branchWords(mark({ verdict: 'clipped', side: 'high', ratio: 4 }), -1, config('sppo'), 1)).toContain('dual clip 3');
    expect(branchWords(mark({ verdict: 'kept', side: 'low' }), 1, config('grpo'), 1)).toContain('Below the band but A > 0');
    expect(branchWords(mark({ verdict: 'kept', side: 'high' }), -1, config('grpo'), 1)).toContain('Above the band but A < 0');
    expect(branchWords(mark({}), 1, config('sspo'), 4)).toContain('Subsentence ratio inside the band');
    expect(branchWords(mark({}), 0, config('grpo'), 1)).toContain('A = 0');
    expect(verdictTitle(clipped, 1)).toBe('Why this token was clipped');
    expect(verdictTitle(mark({ side: 'low', verdict: 'kept' }), 1)).toBe('Why this token was kept');
    expect(verdictTitle(mark({}), 0)).toBe('Why this token teaches nothing');
  });

  it('explains a token whose own ratio weighs and whose answer is clipped', () => {
    const words = (id: string, patch: Partial<Mark>, advantage: number) => mixtureWords(mark(patch), advantage, getObjective(id));
    expect(words('grpo@token/sequence', { ratio: 1.03, loss: -1.8, verdict: 'inside' }, 1.2)).toBe('Sequence ratio 1.030 is inside the band: kept, and A weighs by the token ratio 1.500.');
    expect(words('grpo@token/sequence', { ratio: 1.3, verdict: 'clipped', side: 'high' }, 1)).toBe('Sequence ratio 1.300 is above the band: no gradient, whatever the token ratio.');
    expect(words('grpo@segment/token', { ratio: 0.5, loss: -0.9, verdict: 'kept', side: 'low' }, 1)).toBe('Token ratio 0.500 is below the band but A > 0: kept, and A weighs by the subsentence ratio 0.900.');
    expect(words('sppo@token/sequence', { ratio: 1.02, loss: 3, verdict: 'clipped', side: null }, -1)).toBe('Its token ratio is past the dual clip 3: the loss is flat there, no gradient.');
    expect(words('grpo@token/sequence', {}, 0)).toContain('A = 0');
  });

  it('counts a group, and says when it is dead', () => {
    const rows = fakeBatch(5, 'grpo', 1, 4).completions;
    const alike = rows.map((row) => ({ ...row, reward: 1, advantage: 0 }));
    expect(groupWords(alike, false)).toBe('4 answers, 4 right');
    expect(groupWords(alike.slice(0, 1), true)).toBe('1 prompt, 1 right');
    expect(deadWords(alike, false)).toContain('all 4 alike, advantage 0');
    expect(deadWords(alike, true)).toBeNull();
    expect(deadWords(rows.map((row, i) => ({ ...row, reward: i % 2, advantage: i % 2 ? 1 : -1 })), false)).toBeNull();
  });
});
