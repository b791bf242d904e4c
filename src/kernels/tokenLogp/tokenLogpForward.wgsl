// Log-prob of the target and entropy of softmax(logits / temperature), f32, maximum subtracted; lse is kept for the backward pass.
// logits [N, V]; targets [N] (0xffffffff: none, results 0); logp, entropy (nats), lse [N]; shape = (V, bits of 1/temperature, -, -).
// One thread per row.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> logits: array<vec4f>;
@group(0) @binding(3) var<storage, read> targets: array<u32>;
@group(0) @binding(4) var<storage, read_write> logp: array<f32>;
@group(0) @binding(5) var<storage, read_write> entropy: array<f32>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= dims.rows) { return; }
  let v4 = shape.x / 4u;
  let inverseT = bitcast<f32>(shape.y);
  var top4 = logits[n * v4];
  for (var v = 1u; v < v4; v++) { top4 = max(top4, logits[n * v4 + v]); }
  let top = max(max(top4.x, top4.y), max(top4.z, top4.w)) * inverseT;
  var sum = vec4f(0.0);
  var weighted = vec4f(0.0);
  for (var v = 0u; v < v4; v++) {
    let z = logits[n * v4 + v] * inverseT - top;
    let e = exp(max(z, vec4f(-80.0)));
    sum += e;
    weighted += e * z;
  }
  let total = dot(sum, vec4f(1.0));
  let logTotal = log(total);
  lse[n] = top + logTotal;
  let t = targets[n];
  let real = t < shape.x;
  let safe = select(0u, t, real);
  let z = logits[n * v4 + safe / 4u][safe % 4u] * inverseT - top;
  logp[n] = select(0.0, z - logTotal, real);
  entropy[n] = select(0.0, max(0.0, logTotal - dot(weighted, vec4f(1.0)) / total), real);
}
