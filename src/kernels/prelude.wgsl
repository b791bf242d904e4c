// Shared by every kernel. Dims.rows is the number of rows (packed positions, or live rollout rows) that count.
struct Dims { rows: u32, a: u32, b: u32, c: u32 }

// Counter-based random numbers, the same as core/rng.ts.
fn pcg(value: u32) -> u32 {
  let state = value * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}
fn hash4(a: u32, b: u32, c: u32, d: u32) -> u32 {
  return pcg(pcg(pcg(pcg(0x9e3779b9u ^ a) ^ b) ^ c) ^ d);
}
fn uniform4(a: u32, b: u32, c: u32, d: u32) -> f32 {
  return f32(hash4(a, b, c, d) >> 8u) / 16777216.0;
}
