// Sums the splits of the gradient into split 0 and leaves one partial sum of squares per thread.
// grads [splits, flat]; partials [threads]; split = (splits, flat size in vec4, threads, -). Thread i takes elements i, i + threads, ...
@group(0) @binding(0) var<uniform> split: vec4u;
@group(0) @binding(1) var<storage, read_write> grads: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= split.z) { return; }
  var squares = vec4f(0.0);
  for (var i = id.x; i < split.y; i += split.z) {
    var sum = grads[i];
    for (var s = 1u; s < split.x; s++) { sum += grads[s * split.y + i]; }
    grads[i] = sum;
    squares += sum * sum;
  }
  partials[id.x] = dot(squares, vec4f(1.0));
}
