import type { Reals } from '../reals';

/** One position's part in the value loss, and what the clip did. */
export interface ValueItem {
  /** w/2 times the larger of (V - R)^2 and (V held within `clip` of the old V - R)^2. */
  loss: number;
  /** dLoss/dV. */
  gradient: number;
  /** True where the held branch is the larger one: V has left the band towards the return, and its gradient is 0. */
  held: boolean;
}

/** PPO's value loss at one position (arXiv 1707.06347; the clipped form as verl and TRL have it). A clip of 0 is none. */
export function valueLossCpu(value: number, oldValue: number, target: number, weight: number, clip: number): ValueItem {
  const error = value - target;
  const bounded = Math.min(Math.max(value, oldValue - clip), oldValue + clip) - target;
  const held = clip > 0 && bounded * bounded > error * error;
  return { loss: (weight / 2) * (held ? bounded * bounded : error * error), gradient: held ? 0 : weight * error, held };
}

/** First logit of each row with a target, else 0; [N]. logits [N, V]. */
export function valueForwardCpu(logits: Reals, targets: Uint32Array, V: number): Float64Array {
  return Float64Array.from(targets, (t, n) => (t < V ? logits[n * V] : 0));
}

/** dLoss/dlogits, [N, V]: the value loss's gradient in the first column of rows with a target, 0 elsewhere. */
export function valueBackwardCpu(values: Reals, targets: Uint32Array, items: readonly { oldValue: number; target: number; weight: number }[], V: number, clip: number): Float64Array {
  const d = new Float64Array(targets.length * V);
  items.forEach(({ oldValue, target, weight }, n) => {
    if (targets[n] < V) d[n * V] = valueLossCpu(values[n], oldValue, target, weight, clip).gradient;
  });
  return d;
}
