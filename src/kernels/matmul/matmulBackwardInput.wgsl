// dx = dy W^T. dx [M, K]. Follows tileInput.wgsl.
@group(0) @binding(4) var<storage, read_write> dx: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let k4 = shape.x / 4u;
  let row = (id.x / k4) * 8u;
  let k = id.x % k4;
  if (row >= dims.rows) { return; }
  let a = multiplyTransposed(row, k * 4u);
  for (var r = 0u; r < 8u; r++) {
    if (row + r < dims.rows) { dx[(row + r) * k4 + k] = a[r]; }
  }
}
