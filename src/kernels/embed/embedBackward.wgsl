// dE[v] = sum of dx[n] over n with tok[n] = v, and dP[p] likewise for pos[n] = p; split s covers its share of the rows.
// One thread owns 4 channels of one split, so it may add without atomics and the sum is repeatable.
// dx [N, C]; grads [splits, flat]: token embedding first, position embedding at vec4 offset shape.z.
// shape = (C, V, offset of P in vec4, T); split = (splits, flat size in vec4, -, -).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<uniform> split: vec4u;
@group(0) @binding(3) var<storage, read> tok: array<u32>;
@group(0) @binding(4) var<storage, read> pos: array<u32>;
@group(0) @binding(5) var<storage, read> dx: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> grads: array<vec4f>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = shape.x / 4u;
  let c = id.x % c4;
  let s = id.x / c4;
  if (s >= split.x) { return; }
  let tokens = s * split.y + c;
  let positions = tokens + shape.z;
  for (var v = 0u; v < shape.y; v++) { grads[tokens + v * c4] = vec4f(0.0); }
  for (var p = 0u; p < shape.w; p++) { grads[positions + p * c4] = vec4f(0.0); }
  let chunk = (dims.rows + split.x - 1u) / split.x;
  let last = min(dims.rows, (s + 1u) * chunk);
  for (var n = s * chunk; n < last; n++) {
    let d = dx[n * c4 + c];
    let t = tokens + tok[n] * c4;
    let p = positions + pos[n] * c4;
    grads[t] = grads[t] + d;
    grads[p] = grads[p] + d;
  }
}
