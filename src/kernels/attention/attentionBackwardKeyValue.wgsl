// dk and dv of causal attention: each key sums over the queries from itself to the end of its row.
// qkv [N, 3C]; dAttended [N, C]; lse, delta [N, H]; rowEnd [N]: one past the last position of n's row;
// dqkv [N, 3C] (the k and v thirds are written, dk rotated back by the position: table as in rope.wgsl). shape = (C, H, -, -). One thread per (n, head).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> rowEnd: array<u32>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> delta: array<f32>;
@group(0) @binding(6) var<storage, read> dAttended: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(8) var<storage, read> pos: array<u32>;
@group(0) @binding(9) var<storage, read> table: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x / shape.y;
  let head = id.x % shape.y;
  if (n >= dims.rows) { return; }
  let c4 = shape.x / 4u;
  let scale = 1.0 / sqrt(f32(HD4 * 4u));
  let base = n * 3u * c4 + c4 + head * HD4;
  var k: array<vec4f, HD4>;
  var v: array<vec4f, HD4>;
  var dk: array<vec4f, HD4>;
  var dv: array<vec4f, HD4>;
  for (var i = 0u; i < HD4; i++) { // unroll
    k[i] = qkv[base + i] * scale;
    v[i] = qkv[base + c4 + i];
    dk[i] = vec4f(0.0);
    dv[i] = vec4f(0.0);
  }
  for (var j = n; j < rowEnd[n]; j++) {
    let q = j * 3u * c4 + head * HD4;
    let o = j * c4 + head * HD4;
    var s = 0.0;
    var dp = 0.0;
    for (var i = 0u; i < HD4; i++) { // unroll
      s += dot(k[i], qkv[q + i]);
      dp += dot(v[i], dAttended[o + i]);
    }
    let p = exp(clamp(s - lse[j * shape.y + head], -80.0, 0.5));
    let ds = p * (dp - delta[j * shape.y + head]) * scale;
    for (var i = 0u; i < HD4; i++) { // unroll
      dk[i] += ds * qkv[q + i];
      dv[i] += p * dAttended[o + i];
    }
  }
  for (var i = 0u; i < HALF; i++) { // unroll
    let co = table[pos[n] * HD4 + i];
    let si = table[pos[n] * HD4 + HALF + i];
    dqkv[base + i] = dk[i] * co + dk[HALF + i] * si;
    dqkv[base + HALF + i] = dk[HALF + i] * co - dk[i] * si;
  }
  for (var i = 0u; i < HD4; i++) { // unroll
    dqkv[base + c4 + i] = dv[i];
  }
}
