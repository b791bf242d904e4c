// h = x W, y = h * sigmoid(1.702 h). h, y [M, O]; h is kept for the backward pass. Follows tile.wgsl.
@group(0) @binding(4) var<storage, read_write> h: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4f>;

fn activate(v: vec4f) -> vec4f {
  // The clamp keeps exp finite; beyond it the sigmoid is 0 or 1 to f32 precision.
  return v / (vec4f(1.0) + exp(clamp(-1.702 * v, vec4f(-80.0), vec4f(80.0))));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tile = tileOf(id.x);
  if (!tile.inside) { return; }
  var left: array<vec4f, 8>;
  var right: array<vec4f, 8>;
  multiply(tile, &left, &right);
  let o4 = shape.y / 4u;
  for (var r = 0u; r < 8u; r++) {
    if (tile.row + r < dims.rows) {
      let i = (tile.row + r) * o4 + tile.column4;
      h[i] = left[r];
      h[i + 1u] = right[r];
      y[i] = activate(left[r]);
      y[i + 1u] = activate(right[r]);
    }
  }
}
