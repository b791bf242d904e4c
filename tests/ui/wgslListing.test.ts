import { describe, expect, it } from 'vitest';
import { compileTokenLoss, OBJECTIVES } from '../../src/objectives';
import { wgslPieces } from '../../src/ui/editor/WgslListing';

describe('the look of WGSL', () => {
  it('never changes the text', () => {
    for (const objective of OBJECTIVES) {
      const { wgsl } = compileTokenLoss(objective);
      expect(wgslPieces(wgsl).map(({ text }) => text).join('')).toBe(wgsl);
    }
    const odd = '@compute fn a/*b*/() // c @ d\n{ let x = 1 / 2; é }';
    expect(wgslPieces(odd).map(({ text }) => text).join('')).toBe(odd);
  });

  it('gives ratios the hue of their level', () => {
    const piece = wgslPieces('let segmentRatio_ = exp(segmentRatioLog_);').find(({ text }) => text === 'segmentRatio_');
    expect(piece?.style).toEqual({ color: 'var(--level-sub)' });
  });
});
