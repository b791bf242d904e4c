/** Rounds each value to `bits` mantissa bits, ties to even, with arithmetic instead of bit patterns (values are normal f32 numbers or 0). */
export function roundMantissaCpu(values: ArrayLike<number>, bits: number): Float64Array {
  return Float64Array.from(values, (v) => {
    if (v === 0 || bits >= 23) return v;
    const unit = 2 ** (Math.floor(Math.log2(Math.abs(v))) - bits);
    const scaled = Math.abs(v) / unit;
    const below = Math.floor(scaled);
    const rest = scaled - below;
    const up = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
    return Math.sign(v) * (below + (up ? 1 : 0)) * unit;
  });
}
