// Causal attention within each packed row: out = softmax(q k^T / sqrt(hd)) v; lse [N, H] is kept for the backward pass.
// qkv [N, 3C] (q and k already rotated); out [N, C]; row of n starts at n - pos[n]. shape = (C, H, -, -).
// One thread per (n, head), one pass over the keys with a running maximum: no barriers.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> pos: array<u32>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> attended: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x / shape.y;
  let head = id.x % shape.y;
  if (n >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  let scale = 1.0 / sqrt(f32(HD4 * 4u));
  let base = n * 3u * c4 + head * HD4;
  var q: array<vec4f, HD4>;
  var acc: array<vec4f, HD4>;
  for (var i = 0u; i < HD4; i++) { // unroll
    q[i] = qkv[base + i] * scale;
    acc[i] = vec4f(0.0);
  }
  var top = -1e30;
  var total = 0.0;
  for (var j = n - pos[n]; j <= n; j++) {
    let k = j * 3u * c4 + c4 + head * HD4;
    var s = 0.0;
    for (var i = 0u; i < HD4; i++) { // unroll
      s += dot(q[i], qkv[k + i]);
    }
    let next = max(top, s);
    let shrink = exp(max(top - next, -80.0));
    let p = exp(max(s - next, -80.0));
    total = total * shrink + p;
    for (var i = 0u; i < HD4; i++) { // unroll
      acc[i] = acc[i] * shrink + p * qkv[k + c4 + i];
    }
    top = next;
  }
  for (var i = 0u; i < HD4; i++) { // unroll
    attended[n * c4 + head * HD4 + i] = acc[i] / total;
  }
  lse[id.x] = top + log(total);
}
