/** Places short labels beside points so that they hide neither one another nor leave the picture. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface LabelRequest {
  x: number;
  y: number;
  text: string;
}

export interface PlacedLabel {
  x: number;
  /** Baseline. */
  y: number;
  anchor: 'start' | 'end';
}

const HEIGHT = 14;
const CHARACTER = 6.1;

const overlap = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/** For each label the place, of eight round its point, that overlaps least with points, earlier labels and the frame's outside. */
export function placeLabels(requests: readonly LabelRequest[], frame: Box, obstacles: readonly Box[] = []): PlacedLabel[] {
  const taken: Box[] = [...obstacles, ...requests.map(({ x, y }) => ({ x: x - 5, y: y - 5, width: 10, height: 10 }))];
  return requests.map(({ x, y, text }) => {
    const width = text.length * CHARACTER;
    const candidates = [
      { dx: 9, dy: -6, anchor: 'start' as const },
      { dx: 9, dy: 14, anchor: 'start' as const },
      { dx: -9, dy: -6, anchor: 'end' as const },
      { dx: -9, dy: 14, anchor: 'end' as const },
      { dx: 9, dy: -20, anchor: 'start' as const },
      { dx: 9, dy: 28, anchor: 'start' as const },
      { dx: -9, dy: -20, anchor: 'end' as const },
      { dx: -9, dy: 28, anchor: 'end' as const },
    ];
    const boxOf = (candidate: (typeof candidates)[number]): Box => ({
      x: candidate.anchor === 'start' ? x + candidate.dx : x + candidate.dx - width,
      y: y + candidate.dy - HEIGHT + 3,
      width,
      height: HEIGHT,
    });
    const cost = (candidate: (typeof candidates)[number], rank: number): number => {
      const box = boxOf(candidate);
      const inside = overlap(box, frame);
      return (box.width * box.height - inside) * 4 + taken.reduce((sum, other) => sum + overlap(box, other), 0) + rank * 2;
    };
    const best = candidates.reduce((a, b, i) => (cost(b, i) < cost(a, candidates.indexOf(a)) ? b : a));
    taken.push(boxOf(best));
    return { x: x + best.dx, y: y + best.dy, anchor: best.anchor };
  });
}
