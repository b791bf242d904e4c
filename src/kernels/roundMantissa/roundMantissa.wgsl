// Rounds f32 values to `bits` mantissa bits, ties to even, exponent range kept; 23 bits copies. This stands in for FP8 sampler weights.
// source, result [rows]; shape = (bits, -, -, -). One thread per value; integer arithmetic on the bit pattern.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> source: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= dims.rows) { return; }
  let word = source[i];
  if (shape.x >= 23u) {
    result[i] = word;
    return;
  }
  let drop = 23u - shape.x;
  let half = (1u << (drop - 1u)) - 1u;
  let odd = (word >> drop) & 1u;
  result[i] = ((word + half + odd) >> drop) << drop;
}
