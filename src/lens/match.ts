import { LENS_BOUNDS } from './settings';
import type { ClipProfile } from './profile';
import { clippedShareAt, clippedTokensAt } from './profile';
import type { MatchQuantity, MatchRequest, MatchResult } from './types';

/** Solves clip widths for a wanted clipped share (algorithms.md section 8: the only fair way to compare levels). */

type Widths = { low: number; high: number };

/** Two widths closer than this (relative) are one: f64 cannot put a number safely between their clips. */
const CLOSE = 1e-9;

/** Widths on both sides from one number. A width of 1 below is no bound, so nothing wider is asked for there. */
function widthsOf(epsilon: number, ratio: Widths): Widths {
  const { min, lowMax, highMax } = LENS_BOUNDS.width;
  const hold = (x: number, max: number) => Math.min(Math.max(x, min), max);
  return { low: hold(epsilon * ratio.low, lowMax), high: hold(epsilon * ratio.high, highMax) };
}

/** How low and high follow the one number that is solved for. */
export function shapeOf(request: Pick<MatchRequest, 'shape'>, current: Widths): Widths {
  if (request.shape === 'symmetric' || !(current.low > 0) || !(current.high > 0)) return { low: 1, high: 1 };
  return { low: current.low / current.high, high: 1 };
}

/**
 * The widths whose clipped share comes nearest to the target; of two equally near ones the wider. Where single tokens can
 * be let go one by one the share is within half a token of the target; whole responses move in larger steps.
 * @param current widths in force, for `keepRatio`
 */
export function solveMatch(profile: ClipProfile, request: MatchRequest, current: Widths): MatchResult {
  const ratio = shapeOf(request, current);
  const steps = stepsOf(profile, ratio);
  const shareOf = (k: number) => shareAfter(profile, ratio, steps, k, request.quantity);
  // The share rises with k (it does not fall), so the nearest is on one side of the first that reaches the target.
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shareOf(middle) >= request.target) high = middle;
    else low = middle + 1;
  }
  // Of steps with equal shares (tokens without gradient) the widest.
  const firstLike = (at: number): number => (at > 0 && shareOf(at - 1) === shareOf(at) ? firstLike(at - 1) : at);
  const k = low > 0 && Math.abs(shareOf(low - 1) - request.target) <= Math.abs(shareOf(low) - request.target) ? firstLike(low - 1) : low;
  const widths = widthsOf(between(steps, k), ratio);
  const tokensOf = (i: number): number | null => {
    if (i < 0 || i > steps.length) return null;
    const w = widthsOf(between(steps, i), ratio);
    return clippedTokensAt(profile, w.low, w.high);
  };
  return {
    objective: profile.objective,
    widths,
    achieved: clippedShareAt(profile, widths.low, widths.high, request.quantity),
    tokens: clippedTokensAt(profile, widths.low, widths.high),
    nextTokens: { narrower: tokensOf(k + 1), wider: tokensOf(k - 1) },
  };
}

/** The values of epsilon at which something is let go; falling, within what can be asked for. */
function stepsOf(profile: ClipProfile, ratio: Widths): Float64Array {
  const { min, highMax } = LENS_BOUNDS.width;
  const all = new Float64Array(profile.low.width.length + profile.high.width.length);
  let n = 0;
  for (const width of profile.low.width) all[n++] = width / ratio.low;
  for (const width of profile.high.width) all[n++] = width / ratio.high;
  all.sort().reverse();
  const least = min / Math.min(ratio.low, ratio.high);
  let kept = 0;
  for (const x of all) {
    if (!(x > least) || !(x < highMax)) continue;
    if (kept > 0 && all[kept - 1] - x <= CLOSE * all[kept - 1]) {
      // The lower one stands for both, so that the number between two steps lies below all that it lets in.
      all[kept - 1] = x;
      continue;
    }
    all[kept++] = x;
  }
  return all.subarray(0, kept);
}

/** A width between step k - 1 and step k: everything up to step k - 1 is clipped, and nothing beyond. The roundest such number. */
function between(steps: Float64Array, k: number): number {
  const { min, highMax } = LENS_BOUNDS.width;
  const above = k > 0 ? steps[k - 1] : highMax;
  const below = k < steps.length ? steps[k] : Math.min(min, above / 2);
  return roundest(below, above);
}

function shareAfter(profile: ClipProfile, ratio: Widths, steps: Float64Array, k: number, quantity: MatchQuantity): number {
  const { low, high } = widthsOf(between(steps, k), ratio);
  return clippedShareAt(profile, low, high, quantity);
}

/** The number with the fewest decimal digits strictly between two positive ones. */
export function roundest(below: number, above: number): number {
  const middle = below > 0 ? Math.sqrt(below * above) : above / 2;
  for (let digits = 1; digits <= 15; digits++) {
    const x = Number(middle.toPrecision(digits));
    if (x > below && x < above) return x;
  }
  return middle;
}
