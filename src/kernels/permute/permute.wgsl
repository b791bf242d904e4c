// result[i] = source[index[i]]: all matrices of a parameter vector transposed at once, since a product reads its right factor by rows.
// source, index, result [rows]. One thread per value.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<storage, read> index: array<u32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < dims.rows) { result[id.x] = source[index[id.x]]; }
}
