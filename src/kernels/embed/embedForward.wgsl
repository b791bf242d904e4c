// x[n] = E[tok[n]] + P[pos[n]].
// tok, pos [N]; E [V, C], P [T, C], x [N, C]; shape = (C, -, -, -). One thread per (n, 4 channels).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> tok: array<u32>;
@group(0) @binding(3) var<storage, read> pos: array<u32>;
@group(0) @binding(4) var<storage, read> tokenEmbedding: array<vec4f>;
@group(0) @binding(5) var<storage, read> positionEmbedding: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> x: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = shape.x / 4u;
  let n = id.x / c4;
  let c = id.x % c4;
  if (n >= dims.rows) { return; }
  x[id.x] = tokenEmbedding[tok[n] * c4 + c] + positionEmbedding[pos[n] * c4 + c];
}
