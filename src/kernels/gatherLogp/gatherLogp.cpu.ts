import type { Reals } from '../reals';

/**
 * Log-prob (nats, f64) of each target under softmax(logits / temperature): position n reads row source[n] of
 * logits [rows, V]; 0 where the target is not below V. Returns [N].
 */
export function gatherLogpCpu(logits: Reals, source: Uint32Array, targets: Uint32Array, V: number, temperature: number): Float64Array {
  return Float64Array.from(targets, (target, n) => {
    if (target >= V) return 0;
    const first = (source[n] as number) * V;
    let top = -Infinity;
    for (let v = 0; v < V; v++) top = Math.max(top, logits[first + v] as number);
    let sum = 0;
    for (let v = 0; v < V; v++) sum += Math.exp(((logits[first + v] as number) - top) / temperature);
    return ((logits[first + target] as number) - top) / temperature - Math.log(sum);
  });
}
