// dh = (dy W^T) * d/dh [h sigmoid(1.702 h)]. h, dh [M, K]. Follows tileInput.wgsl.
@group(0) @binding(4) var<storage, read> h: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> dh: array<vec4f>;

fn slope(v: vec4f) -> vec4f {
  let s = vec4f(1.0) / (vec4f(1.0) + exp(clamp(-1.702 * v, vec4f(-80.0), vec4f(80.0))));
  return s * (vec4f(1.0) + 1.702 * v * (vec4f(1.0) - s));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let k4 = shape.x / 4u;
  let row = (id.x / k4) * 8u;
  let k = id.x % k4;
  if (row >= dims.rows) { return; }
  let a = multiplyTransposed(row, k * 4u);
  for (var r = 0u; r < 8u; r++) {
    if (row + r < dims.rows) {
      let i = (row + r) * k4 + k;
      dh[i] = a[r] * slope(h[i]);
    }
  }
}
