/** Throws unless every number is within `tolerance` of its counterpart; NaN on either side is a failure. */
export function expectClose(got: ArrayLike<number> | number, want: ArrayLike<number> | number, tolerance: number, what = 'value'): void {
  const [a, b] = [got, want].map((x) => (typeof x === 'number' ? [x] : Array.from(x)));
  if (a.length !== b.length) throw new Error(`${what}: ${a.length} numbers against ${b.length}`);
  a.forEach((x, i) => {
    if (!(Math.abs(x - b[i]) <= tolerance)) throw new Error(`${what}[${i}]: ${x} against ${b[i]} (tolerance ${tolerance})`);
  });
}
