// y = x * rstd * g with rstd = 1 / sqrt(mean(x^2) + eps); keeps rstd for the backward pass.
// x, y [N, C]; g [C]; rstd [N]; shape = (C, bits of eps, -, -). One thread per row: no barriers, which suits software adapters.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> g: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> rstd: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  var sum = vec4f(0.0);
  for (var c = 0u; c < c4; c++) {
    let v = x[n * c4 + c];
    sum += v * v;
  }
  let r = 1.0 / sqrt(dot(sum, vec4f(1.0)) / f32(shape.x) + bitcast<f32>(shape.y));
  rstd[n] = r;
  for (var c = 0u; c < c4; c++) { y[n * c4 + c] = x[n * c4 + c] * r * g[c]; }
}
