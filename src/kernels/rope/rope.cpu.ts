/** Rotates q and k of qkv [N, 3C] in place by each row's position; `inverse` rotates back. f64. */
export function ropeCpu(qkv: Float64Array, pos: Uint32Array, C: number, H: number, base: number, inverse = false): void {
  const hd = C / H;
  const half = hd / 2;
  for (let n = 0; n < pos.length; n++) {
    for (let which = 0; which < 2; which++) {
      for (let h = 0; h < H; h++) {
        for (let i = 0; i < half; i++) {
          const angle = pos[n] * base ** ((-2 * i) / hd) * (inverse ? -1 : 1);
          const a = n * 3 * C + which * C + h * hd + i;
          const [u, v] = [qkv[a], qkv[a + half]];
          qkv[a] = u * Math.cos(angle) - v * Math.sin(angle);
          qkv[a + half] = u * Math.sin(angle) + v * Math.cos(angle);
        }
      }
    }
  }
}
