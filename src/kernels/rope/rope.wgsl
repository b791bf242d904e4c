// Rotates q and k in place, pairs (i, i + hd/2), by the angle of the row's position.
// qkv [N, 3C]; table [T, hd]: hd/2 cosines, then hd/2 sines, computed on the host (WGSL's own sin and cos are too coarse).
// shape = (C, H, hd/4, -). One thread per (n, q or k, head, 4 pairs).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> pos: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> qkv: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let half = shape.z / 2u;
  let perRow = 2u * shape.y * half;
  let n = id.x / perRow;
  if (n >= dims.rows) { return; }
  let rest = id.x % perRow;
  let j = rest % half;
  let head = (rest / half) % shape.y;
  let which = rest / (half * shape.y);
  let c4 = shape.x / 4u;
  let a = n * 3u * c4 + which * c4 + head * shape.z + j;
  let b = a + half;
  let co = table[pos[n] * shape.z + j];
  let si = table[pos[n] * shape.z + half + j];
  let u = qkv[a];
  let v = qkv[b];
  qkv[a] = u * co - v * si;
  qkv[b] = u * si + v * co;
}
