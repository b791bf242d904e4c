// Gradient of PPO's value loss by the logits, written over them: w (V - R) in the first column, 0 where the clipped branch is the
// larger one (V has left the band round the old V towards R), 0 in the other columns and where nothing is predicted.
// logits [N, V]; targets [N]; values [N]; items [N] (old V, return R, weight w, -); shape = (V, bits of the clip, -, -), clip 0: none.
// One thread per (n, 4 logits).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> items: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> logits: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let v4 = shape.x / 4u;
  let n = id.x / v4;
  if (n >= dims.rows) { return; }
  let first = id.x % v4 == 0u && targets[n] < shape.x;
  let width = bitcast<f32>(shape.y);
  let item = items[n];
  let error = values[n] - item.y;
  let held = clamp(values[n], item.x - width, item.x + width) - item.y;
  let isHeld = width > 0.0 && held * held > error * error;
  let gradient = select(item.z * error, 0.0, isHeld);
  logits[id.x] = vec4f(select(0.0, gradient, first), 0.0, 0.0, 0.0);
}
