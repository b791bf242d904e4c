import { describe, expect, it } from 'vitest';
import { BIN_EDGES, binVariable, ratioBin } from '../../src/ui/text/ratioBins';

describe('bins of the diverging ratio scale', () => {
  it('changes colour at .022, .07, .18 and .5 nats, on both sides of ratio 1', () => {
    expect([0, 0.0219, 0.022, 0.0699, 0.07, 0.1799, 0.18, 0.499, 0.5, 9].map(ratioBin)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    for (const edge of BIN_EDGES) expect(ratioBin(-edge)).toBe(-ratioBin(edge));
    expect(ratioBin(NaN)).toBe(0);
  });

  it('names blue below 1 and orange above', () => {
    expect([-4, -1, 0, 1, 4].map(binVariable)).toEqual(['--ratio-lo-4', '--ratio-lo-1', '--ratio-0', '--ratio-hi-1', '--ratio-hi-4']);
  });
});
