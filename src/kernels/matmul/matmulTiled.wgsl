// The product of matmul.wgsl, same bindings, shape and endings, for GPUs: a workgroup of 8 x 8 threads computes 32 rows by 32
// columns, 4 x 4 a thread, from tiles that it stages in workgroup memory. Software adapters pay too much for its barriers.
// gain multiplies the rows of W here: (x gain) W = x (gain W).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read> gain: array<f32>;
@group(0) @binding(5) var<storage, read> extra: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<storage, read_write> activated: array<f32>;
@group(0) @binding(8) var<storage, read_write> rstd: array<f32>;

const TILE = 32u;
const DEPTH = 16u;
const STRIPS = 4u;
const STRIDE = 1u;
// [depth][row] and [depth][column].
var<workgroup> left: array<f32, 512>;
var<workgroup> right: array<f32, 512>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tiles = (shape.y + TILE - 1u) / TILE;
  let firstRow = group.x / tiles * TILE;
  let firstColumn = group.x % tiles * TILE;
  if (firstRow >= dims.rows) { return; }
  let tr = thread / 8u * 4u;
  let tc = thread % 8u * 4u;
  var sums: array<vec4f, 4>;
  var squares = vec4f(0.0);
  for (var k0 = 0u; k0 < shape.x; k0 += DEPTH) {
    for (var i = thread; i < TILE * DEPTH; i += 64u) {
      let r = firstRow + i / DEPTH;
      let k = k0 + i % DEPTH;
      left[i % DEPTH * TILE + i / DEPTH] = select(0.0, x[r * shape.x + k], r < dims.rows && k < shape.x);
      let d = k0 + i / TILE;
      let c = firstColumn + i % TILE;
      right[i] = select(0.0, w[d * shape.y + c] * gain[d], d < shape.x && c < shape.y);
    }
    workgroupBarrier();
    for (var k = 0u; k < DEPTH; k++) {
      let at = k * TILE;
      let a = vec4f(left[at + tr], left[at + tr + 1u], left[at + tr + 2u], left[at + tr + 3u]);
      let b = vec4f(right[at + tc], right[at + tc + 1u], right[at + tc + 2u], right[at + tc + 3u]);
      squares += a * a;
      for (var r = 0u; r < 4u; r++) { // unroll
        sums[r] += a[r] * b;
      }
    }
    workgroupBarrier();
  }
  let row = firstRow + tr;
  let column = firstColumn + tc;
  if (row >= dims.rows || column >= shape.y) { return; }
  let normed = shape.w != 0u;
  let inverse = vec4f(1.0) / sqrt(squares / f32(shape.x) + bitcast<f32>(shape.w));
  let outputs = shape.y;
  let rows = min(4u, dims.rows - row);
  let strips = min(STRIPS, outputs - column);
  var products: array<f32, 16>;
  for (var r = 0u; r < 4u; r++) {
    if (normed && column == 0u && r < rows) { rstd[row + r] = inverse[r]; }
    for (var s = 0u; s < 4u; s++) { products[r * 4u + s] = sums[r][s] * select(1.0, inverse[r], normed); }
  }
  /*ENDINGS*/
}
