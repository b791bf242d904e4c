// Log-prob of the target under softmax(logits / temperature), for positions whose logits lie scattered in a padded batch.
// logits [rows of the padded batch, V]; source [N]: row of each position; targets [N] (0xffffffff: none, result 0); logp [N] (nats);
// shape = (V, bits of 1/temperature, -, -). One thread per position.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> logits: array<vec4f>;
@group(0) @binding(3) var<storage, read> source: array<u32>;
@group(0) @binding(4) var<storage, read> targets: array<u32>;
@group(0) @binding(5) var<storage, read_write> logp: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= dims.rows) { return; }
  let v4 = shape.x / 4u;
  let inverseT = bitcast<f32>(shape.y);
  let first = source[n] * v4;
  var top4 = logits[first];
  for (var v = 1u; v < v4; v++) { top4 = max(top4, logits[first + v]); }
  let top = max(max(top4.x, top4.y), max(top4.z, top4.w));
  var sum = vec4f(0.0);
  for (var v = 0u; v < v4; v++) { sum += exp(max((logits[first + v] - top) * inverseT, vec4f(-80.0))); }
  let t = targets[n];
  let real = t < shape.x;
  let safe = select(0u, t, real);
  let z = (logits[first + safe / 4u][safe % 4u] - top) * inverseT;
  logp[n] = select(0.0, z - log(dot(sum, vec4f(1.0))), real);
}
