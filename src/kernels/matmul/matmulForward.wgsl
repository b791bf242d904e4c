// y = x W. y [M, O]. Follows tile.wgsl.
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;

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
      y[i] = left[r];
      y[i + 1u] = right[r];
    }
  }
}
