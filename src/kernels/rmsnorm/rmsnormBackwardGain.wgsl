// dg = sum over rows of dy * x * rstd, split s covering its share of the rows.
// x, dy [N, C]; rstd [N]; grads [splits, flat] at this gain's place; shape = (C, -, -, -); split = (splits, flat size in vec4, -, -).
// One thread per (split, 4 channels).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<uniform> split: vec4u;
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read> rstd: array<f32>;
@group(0) @binding(5) var<storage, read> dy: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> grads: array<vec4f>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = shape.x / 4u;
  let c = id.x % c4;
  let s = id.x / c4;
  if (s >= split.x) { return; }
  let chunk = (dims.rows + split.x - 1u) / split.x;
  let last = min(dims.rows, (s + 1u) * chunk);
  var sum = vec4f(0.0);
  for (var n = s * chunk; n < last; n++) { sum += dy[n * c4 + c] * x[n * c4 + c] * rstd[n]; }
  grads[s * split.y + c] = sum;
}
