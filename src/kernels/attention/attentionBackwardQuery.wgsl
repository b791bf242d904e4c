// dq of causal attention, and delta = sum(dout * out) per (n, head), which the key pass needs.
// qkv [N, 3C]; attended, dAttended [N, C]; lse, delta [N, H]; dqkv [N, 3C] (the q third is written, rotated back by the position: table as in rope.wgsl). shape = (C, H, -, -).
// One thread per (n, head).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> pos: array<u32>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> attended: array<vec4f>;
@group(0) @binding(5) var<storage, read> lse: array<f32>;
@group(0) @binding(6) var<storage, read> dAttended: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> delta: array<f32>;
@group(0) @binding(8) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(9) var<storage, read> table: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x / shape.y;
  let head = id.x % shape.y;
  if (n >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  let scale = 1.0 / sqrt(f32(HD4 * 4u));
  let base = n * 3u * c4 + head * HD4;
  let o = n * c4 + head * HD4;
  var q: array<vec4f, HD4>;
  var dOut: array<vec4f, HD4>;
  var dq: array<vec4f, HD4>;
  var d = 0.0;
  for (var i = 0u; i < HD4; i++) { // unroll
    q[i] = qkv[base + i] * scale;
    dOut[i] = dAttended[o + i];
    dq[i] = vec4f(0.0);
    d += dot(dOut[i], attended[o + i]);
  }
  delta[id.x] = d;
  let l = lse[id.x];
  for (var j = n - pos[n]; j <= n; j++) {
    let k = j * 3u * c4 + c4 + head * HD4;
    var s = 0.0;
    var dp = 0.0;
    for (var i = 0u; i < HD4; i++) { // unroll
      s += dot(q[i], qkv[k + i]);
      dp += dot(dOut[i], qkv[k + c4 + i]);
    }
    let ds = exp(clamp(s - l, -80.0, 0.5)) * (dp - d) * scale;
    for (var i = 0u; i < HD4; i++) { // unroll
      dq[i] += ds * qkv[k + i];
    }
  }
  for (var i = 0u; i < HALF; i++) { // unroll
    let co = table[pos[n] * HD4 + i];
    let si = table[pos[n] * HD4 + HALF + i];
    dqkv[base + i] = dq[i] * co + dq[HALF + i] * si;
    dqkv[base + HALF + i] = dq[HALF + i] * co - dq[i] * si;
  }
}
