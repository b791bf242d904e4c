// One decoding step of attention for every live row: rotates q and k, appends k and v to the cache, attends over positions 0 .. step.x.
// qkv [live, 3C]; keys, values [R, H, T, hd]; attended [live, C]; table as in rope.wgsl; liveRows [live]; step = (position, -, -, -).
// shape = (C, H, T, -). One thread per (live row, head): the arithmetic is that of rope.wgsl and attentionForward.wgsl, in the same order.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> liveRows: array<u32>;
@group(0) @binding(3) var<uniform> step: vec4u; // dynamic
@group(0) @binding(4) var<storage, read> table: array<vec4f>;
@group(0) @binding(5) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> keys: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> values: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> attended: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x / shape.y;
  let head = id.x % shape.y;
  if (i >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  let p = step.x;
  let scale = 1.0 / sqrt(f32(HD4 * 4u));
  let base = i * 3u * c4 + head * HD4;
  let cache = (liveRows[i] * shape.y + head) * shape.z * HD4;
  var q: array<vec4f, HD4>;
  var acc: array<vec4f, HD4>;
  for (var j = 0u; j < HALF; j++) { // unroll
    let co = table[p * HD4 + j];
    let si = table[p * HD4 + HALF + j];
    let q0 = qkv[base + j];
    let q1 = qkv[base + HALF + j];
    q[j] = (q0 * co - q1 * si) * scale;
    q[HALF + j] = (q0 * si + q1 * co) * scale;
    let k0 = qkv[base + c4 + j];
    let k1 = qkv[base + c4 + HALF + j];
    keys[cache + p * HD4 + j] = k0 * co - k1 * si;
    keys[cache + p * HD4 + HALF + j] = k0 * si + k1 * co;
  }
  for (var j = 0u; j < HD4; j++) { // unroll
    values[cache + p * HD4 + j] = qkv[base + 2u * c4 + j];
    acc[j] = vec4f(0.0);
  }
  var top = -1e30;
  var total = 0.0;
  for (var t = 0u; t <= p; t++) {
    let k = cache + t * HD4;
    var s = 0.0;
    for (var j = 0u; j < HD4; j++) { // unroll
      s += dot(q[j], keys[k + j]);
    }
    let next = max(top, s);
    let shrink = exp(max(top - next, -80.0));
    let w = exp(max(s - next, -80.0));
    total = total * shrink + w;
    for (var j = 0u; j < HD4; j++) { // unroll
      acc[j] = acc[j] * shrink + w * values[k + j];
    }
    top = next;
  }
  for (var j = 0u; j < HD4; j++) { // unroll
    attended[i * c4 + head * HD4 + j] = acc[j] / total;
  }
}
