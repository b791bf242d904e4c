// dh = (dy W^T) * d/dh [h sigmoid(1.702 h)]. h, dh [M, K]. Follows tileInput.wgsl.
@group(0) @binding(4) var<storage, read> h: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> dh: array<vec4f>;

fn slope(v: vec4f) -> vec4f {
  let s = vec4f(1.0) / (vec4f(1.0) + exp(clamp(-1.702 * v, vec4f(-80.0), vec4f(80.0))));
  return s * (vec4f(1.0) + 1.702 * v * (vec4f(1.0) - s));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tile = tileOf(id.x);
  if (!tile.inside) { return; }
  var left: array<vec4f, 8>;
  var right: array<vec4f, 8>;
  multiplyTransposed(tile, &left, &right);
  let k4 = shape.x / 4u;
  for (var r = 0u; r < 8u; r++) {
    if (tile.row + r < dims.rows) {
      let i = (tile.row + r) * k4 + tile.channel4;
      dh[i] = left[r] * slope(h[i]);
      dh[i + 1u] = right[r] * slope(h[i + 1u]);
    }
  }
}
