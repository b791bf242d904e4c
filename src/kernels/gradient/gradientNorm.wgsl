// norm = sqrt(sum of partials). partials [threads]; norm [1]; split.z = threads. One thread: a few hundred additions.
@group(0) @binding(0) var<uniform> split: vec4u;
@group(0) @binding(1) var<storage, read> partials: array<f32>;
@group(0) @binding(2) var<storage, read_write> norm: array<f32>;

@compute @workgroup_size(1)
fn main() {
  var sum = 0.0;
  for (var i = 0u; i < split.z; i++) { sum += partials[i]; }
  norm[0] = sqrt(sum);
}
