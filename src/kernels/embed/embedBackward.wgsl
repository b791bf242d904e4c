// dE[v] = sum of dx[n] over n with tok[n] = v, and dP[p] likewise for pos[n] = p; split s covers its share of the rows.
// dx [N, C]; grads [splits, flat]: token embedding first, position embedding at vec4 offset shape.z; no atomics, so the sum is repeatable.
// shape = (C, V, offset of P in vec4, T); split = (splits, flat size in vec4, -, -). One thread per (split, table row, 4 channels).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<uniform> split: vec4u;
@group(0) @binding(3) var<storage, read> tok: array<u32>;
@group(0) @binding(4) var<storage, read> pos: array<u32>;
@group(0) @binding(5) var<storage, read> dx: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> grads: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = shape.x / 4u;
  let tableRows = shape.y + shape.w;
  let c = id.x % c4;
  let row = (id.x / c4) % tableRows;
  let s = id.x / (c4 * tableRows);
  if (s >= split.x) { return; }
  let chunk = (dims.rows + split.x - 1u) / split.x;
  let last = min(dims.rows, (s + 1u) * chunk);
  var sum = vec4f(0.0);
  if (row < shape.y) {
    for (var n = s * chunk; n < last; n++) {
      if (tok[n] == row) { sum += dx[n * c4 + c]; }
    }
    grads[s * split.y + row * c4 + c] = sum;
  } else {
    let p = row - shape.y;
    for (var n = s * chunk; n < last; n++) {
      if (pos[n] == p) { sum += dx[n * c4 + c]; }
    }
    grads[s * split.y + shape.z + p * c4 + c] = sum;
  }
}
