// dx = add * (previous dx) + rstd * (g dy - xhat * mean(g dy xhat)), xhat = x * rstd.
// x, dy, dx [N, C]; g [C]; rstd [N]; shape = (C, add (0 or 1), -, -). One thread per row.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> g: array<vec4f>;
@group(0) @binding(4) var<storage, read> rstd: array<f32>;
@group(0) @binding(5) var<storage, read> dy: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> dx: array<vec4f>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  let r = rstd[n];
  var sum = vec4f(0.0);
  for (var c = 0u; c < c4; c++) { sum += g[c] * dy[n * c4 + c] * x[n * c4 + c]; }
  let mean = dot(sum, vec4f(1.0)) * r / f32(shape.x);
  for (var c = 0u; c < c4; c++) {
    let i = n * c4 + c;
    let d = r * (g[c] * dy[i] - x[i] * r * mean);
    if (shape.y == 1u) { dx[i] = dx[i] + d; } else { dx[i] = d; }
  }
}
