import type { Reals } from '../reals';

/** result[i] = source[index[i]]. */
export function permuteCpu(source: Reals, index: Uint32Array): Float64Array {
  return Float64Array.from(index, (i) => source[i]);
}
