/** Mean; NaN when empty. */
export function mean(x: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i];
  return sum / x.length;
}

/** Population variance, by two passes; NaN when empty. */
export function variance(x: ArrayLike<number>): number {
  const m = mean(x);
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += (x[i] - m) ** 2;
  return sum / x.length;
}

/** A sum of squares at most this large is rounding, not spread. */
const NO_SPREAD = 1e-18;

/** Pearson's correlation; null when either side does not vary. */
export function pearson(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) ** 2;
    bb += (b[i] - mb) ** 2;
  }
  return aa > NO_SPREAD && bb > NO_SPREAD ? ab / Math.sqrt(aa * bb) : null;
}

/** Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank; null when either side does not vary. */
export function spearman(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  return pearson(ranks(a), ranks(b));
}

function ranks(x: ArrayLike<number>): Float64Array {
  const order = Uint32Array.from({ length: x.length }, (_, i) => i).sort((i, j) => x[i] - x[j]);
  const out = new Float64Array(x.length);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && x[order[to]] === x[order[from]]) to++;
    for (let k = from; k < to; k++) out[order[k]] = (from + to - 1) / 2;
    from = to;
  }
  return out;
}

/** Share of the target's variance that the prediction takes away, 1 - Var(target - prediction) / Var(target); below 0 it adds some. Null when the target does not vary. */
export function explainedVariance(target: ArrayLike<number>, prediction: ArrayLike<number>): number | null {
  const total = variance(target);
  if (!(total * target.length > NO_SPREAD)) return null;
  return 1 - variance(Float64Array.from({ length: target.length }, (_, i) => target[i] - prediction[i])) / total;
}

/** 97.5 % point of the standard normal. */
const Z95 = 1.959963984540054;

/**
 * 95 % interval of a share of which `successes` of `count` independent trials were seen (Wilson 1927, score interval, no continuity
 * correction): within 0 to 1 even where every trial succeeded. The whole of 0 to 1 for no trial.
 */
export function wilsonInterval(successes: number, count: number): { low: number; high: number } {
  if (!(count > 0)) return { low: 0, high: 1 };
  const share = successes / count;
  const z2 = (Z95 * Z95) / count;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z95 * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count))) / (1 + z2);
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
