import { describe, expect, test } from 'vitest';
import { cellBox, icicleLayout, spread, stemInverse, stemScale } from '../../../src/ui/lens/icicleGeometry';
import { placeLabels } from '../../../src/ui/lens/labels';

describe('the icicle', () => {
  test.each([[1, false], [24, false], [64, false], [64, true], [400, false]] as const)('lays %i tokens out side by side, compact: %s', (count, compact) => {
    const layout = icicleLayout(count, { width: compact ? 358 : 860, height: 300 }, compact);
    const boxes = Array.from({ length: count }, (_, t) => cellBox(layout, { level: 'token', start: t, end: t + 1 }));
    boxes.forEach((box, t) => {
      expect(box.width).toBeGreaterThan(compact ? 18 : 8);
      const next = boxes[t + 1];
      if (next) expect(box.x + box.width).toBeLessThan(next.x + 1e-9);
    });
    const last = boxes.at(-1);
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(layout.width);
    const sequence = cellBox(layout, { level: 'sequence', start: 0, end: count });
    expect(sequence.y + sequence.height).toBeLessThan(boxes[0]?.y ?? 0);
  });

  test.each([1, 10])('reads a height back as the log ratio that was put there (axis to %i)', (limit) => {
    const layout = icicleLayout(20, { width: 860, height: 300 }, false);
    const [y, back] = [stemScale(layout, limit), stemInverse(layout, limit)];
    for (const x of [-0.99, -0.2, -0.01, -0.003, 0, 0.002, 0.05, 0.7]) expect(back(y(x))).toBeCloseTo(x, 10);
    expect(y(0.1)).toBeLessThan(y(0));
    expect(y(50)).toBe(y(limit));
  });
});

describe('labels', () => {
  test('keep their order and their distance', () => {
    const placed = spread([100, 101, 102, 150], 15);
    for (let i = 1; i < placed.length; i++) expect((placed[i] ?? 0) - (placed[i - 1] ?? 0)).toBeGreaterThanOrEqual(15 - 1e-9);
  });

  test('of nearby points do not hide one another where there is room', () => {
    const requests = [{ x: 100, y: 100, text: 'one point' }, { x: 104, y: 102, text: 'another' }, { x: 98, y: 104, text: 'a third' }];
    const placed = placeLabels(requests, { x: 0, y: 0, width: 400, height: 200 });
    const boxes = placed.map((label, i) => {
      const width = (requests[i]?.text.length ?? 0) * 6.1;
      return { left: label.anchor === 'start' ? label.x : label.x - width, right: label.anchor === 'start' ? label.x + width : label.x, top: label.y - 11, bottom: label.y + 3 };
    });
    for (const a of boxes) for (const b of boxes) if (a !== b) expect(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top).toBe(true);
  });
});
