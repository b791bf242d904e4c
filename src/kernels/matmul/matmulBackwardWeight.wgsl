// dW = x^T dy, split s covering its share of the rows; one thread computes 8 x 8 of it in registers.
// x [M, K], dy [M, O]; grads [splits, flat] at this matrix's place; shape = (K, O, -, -); split = (splits, flat size in vec4, -, -).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<uniform> split: vec4u;
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read> dy: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> grads: array<vec4f>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let k4 = shape.x / 4u;
  let o4 = shape.y / 4u;
  let columns = o4 / 2u;
  let tiles = (k4 / 2u) * columns;
  let s = id.x / tiles;
  if (s >= split.x) { return; }
  let k = ((id.x % tiles) / columns) * 2u;
  let o = (id.x % columns) * 2u;
  let chunk = (dims.rows + split.x - 1u) / split.x;
  let last = min(dims.rows, (s + 1u) * chunk);
  var a0 = vec4f(0.0); var a1 = vec4f(0.0); var a2 = vec4f(0.0); var a3 = vec4f(0.0);
  var a4 = vec4f(0.0); var a5 = vec4f(0.0); var a6 = vec4f(0.0); var a7 = vec4f(0.0);
  var b0 = vec4f(0.0); var b1 = vec4f(0.0); var b2 = vec4f(0.0); var b3 = vec4f(0.0);
  var b4 = vec4f(0.0); var b5 = vec4f(0.0); var b6 = vec4f(0.0); var b7 = vec4f(0.0);
  for (var m = s * chunk; m < last; m++) {
    let p = x[m * k4 + k];
    let q = x[m * k4 + k + 1u];
    let u = dy[m * o4 + o];
    let v = dy[m * o4 + o + 1u];
    a0 += p.x * u; b0 += p.x * v;
    a1 += p.y * u; b1 += p.y * v;
    a2 += p.z * u; b2 += p.z * v;
    a3 += p.w * u; b3 += p.w * v;
    a4 += q.x * u; b4 += q.x * v;
    a5 += q.y * u; b5 += q.y * v;
    a6 += q.z * u; b6 += q.z * v;
    a7 += q.w * u; b7 += q.w * v;
  }
  let left = array<vec4f, 8>(a0, a1, a2, a3, a4, a5, a6, a7);
  let right = array<vec4f, 8>(b0, b1, b2, b3, b4, b5, b6, b7);
  for (var r = 0u; r < 8u; r++) {
    let i = s * split.y + (k * 4u + r) * o4 + o;
    grads[i] = left[r];
    grads[i + 1u] = right[r];
  }
}
