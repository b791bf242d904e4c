// dlogits = c / T * (onehot(target) - softmax(logits / T)), written over the logits; c = dLoss/dlogp, 0 rows where there is no target.
// logits [N, V]; targets, lse [N]; coefficients [N, 4] (policy loss output, c first); shape = (V, bits of 1/T, -, -).
// One thread per (n, 4 vocabulary entries).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> coefficients: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> logits: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let v4 = shape.x / 4u;
  let n = id.x / v4;
  if (n >= dims.rows) { return; }
  let first = (id.x % v4) * 4u;
  let inverseT = bitcast<f32>(shape.y);
  let t = targets[n];
  let p = exp(clamp(logits[id.x] * inverseT - lse[n], vec4f(-80.0), vec4f(0.5)));
  let onehot = select(vec4f(0.0), vec4f(1.0), vec4u(first, first + 1u, first + 2u, first + 3u) == vec4u(t));
  let c = select(0.0, coefficients[n].x, t < shape.x);
  logits[id.x] = c * inverseT * (onehot - p);
}
