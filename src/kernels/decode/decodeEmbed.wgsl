// The input of one decoding step: x[i] = E[token of row i at this position] + P[position].
// tokens [R, S]; liveRows [live]; E [V, C], P [T, C], x [live, C]; step = (position, -, -, -), limits = (R, S, -, -), shape = (C, -, -, -).
// One thread per (live row, 4 channels).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> step: vec4u; // dynamic
@group(0) @binding(2) var<uniform> limits: vec4u;
@group(0) @binding(3) var<uniform> shape: vec4u;
@group(0) @binding(4) var<storage, read> liveRows: array<u32>;
@group(0) @binding(5) var<storage, read> tokens: array<u32>;
@group(0) @binding(6) var<storage, read> tokenEmbedding: array<vec4f>;
@group(0) @binding(7) var<storage, read> positionEmbedding: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> x: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = shape.x / 4u;
  let i = id.x / c4;
  let c = id.x % c4;
  if (i >= dims.rows) { return; }
  let token = tokens[liveRows[i] * limits.y + step.x];
  x[id.x] = tokenEmbedding[token * c4 + c] + positionEmbedding[step.x * c4 + c];
}
