// V of the state at each position: the first logit, 0 where nothing of the response is predicted.
// logits [N, V]; targets [N] (0xffffffff: none); values [N]; shape = (V, -, -, -). One thread per row.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read> targets: array<u32>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= dims.rows) { return; }
  values[n] = select(0.0, logits[n * shape.x], targets[n] < shape.x);
}
