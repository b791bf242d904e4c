// dx = dy W^T. dx [M, K]. Follows tileInput.wgsl.
@group(0) @binding(4) var<storage, read_write> dx: array<vec4f>;

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
      dx[i] = left[r];
      dx[i + 1u] = right[r];
    }
  }
}
