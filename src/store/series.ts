/** A run of consecutive points folded into one; while `count` is 1 it is the point itself. */
export interface Bucket {
  /** x of the first and last point. */
  from: number;
  to: number;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** Where the extremes were. */
  minAt: number;
  maxAt: number;
  last: number;
}

/**
 * A series of any length in at most `capacity` buckets, O(1) amortised per point: when it is full, neighbours fold
 * together and later buckets take twice as many points. Extremes are never lost, whatever the length.
 */
export class BoundedSeries {
  readonly buckets: Bucket[] = [];
  /** Points per full bucket, a power of two. */
  width = 1;
  private readonly capacity: number;

  constructor(capacity = 512) {
    this.capacity = Math.max(2, capacity - (capacity % 2));
  }

  /** Adds one point; x must not fall. A value that is not finite is left out. */
  push(x: number, value: number): void {
    if (!Number.isFinite(value)) return;
    const open = this.buckets.at(-1);
    if (open && open.count < this.width) {
      absorb(open, { from: x, to: x, count: 1, sum: value, min: value, max: value, minAt: x, maxAt: x, last: value });
      return;
    }
    if (this.buckets.length === this.capacity) this.fold();
    const last = this.buckets.at(-1);
    const point = { from: x, to: x, count: 1, sum: value, min: value, max: value, minAt: x, maxAt: x, last: value };
    if (last && last.count < this.width) absorb(last, point);
    else this.buckets.push(point);
  }

  /** Takes back every point after x. Where points were folded, those of a bucket that reaches past x all go. */
  cutAfter(x: number): void {
    while ((this.buckets.at(-1)?.to ?? -Infinity) > x) this.buckets.pop();
  }

  get last(): number | null {
    return this.buckets.at(-1)?.last ?? null;
  }

  /** Mean of each bucket, oldest first. */
  means(): number[] {
    return this.buckets.map((bucket) => bucket.sum / bucket.count);
  }

  /** The line through every extreme, in order of x: exact while nothing has been folded, at most two points a bucket after. */
  outline(): { x: number; value: number }[] {
    const points: { x: number; value: number }[] = [];
    for (const bucket of this.buckets) {
      const low = { x: bucket.minAt, value: bucket.min };
      const high = { x: bucket.maxAt, value: bucket.max };
      if (low.x === high.x) points.push(low);
      else points.push(...(low.x < high.x ? [low, high] : [high, low]));
    }
    return points;
  }

  private fold(): void {
    const half = this.buckets.length / 2;
    for (let i = 0; i < half; i++) {
      const left = this.buckets[2 * i] as Bucket;
      absorb(left, this.buckets[2 * i + 1] as Bucket);
      this.buckets[i] = left;
    }
    this.buckets.length = half;
    this.width *= 2;
  }
}

function absorb(into: Bucket, next: Bucket): void {
  into.to = next.to;
  into.count += next.count;
  into.sum += next.sum;
  into.last = next.last;
  if (next.min < into.min) {
    into.min = next.min;
    into.minAt = next.minAt;
  }
  if (next.max > into.max) {
    into.max = next.max;
    into.maxAt = next.maxAt;
  }
}

/** Appends to a copy that never grows past `capacity`; the oldest entry leaves. */
export function appendBounded<T>(list: readonly T[], item: T, capacity: number): T[] {
  const next = list.length >= capacity ? list.slice(list.length - capacity + 1) : list.slice();
  next.push(item);
  return next;
}

/** Appends to a copy; when that would pass `capacity`, every second of the older entries leaves, so the whole span stays visible. */
export function appendThinned<T>(list: readonly T[], item: T, capacity: number): T[] {
  const kept = list.length >= capacity ? list.filter((_, i) => i % 2 === 0) : list;
  return [...kept, item];
}
