// dW = x^T dy, split s covering its share of the rows; a quad computes ROWS rows (input channels) by 4 STRIPS columns in registers.
// x [M, K], dy [M, O]; grads [splits, flat] at this matrix's place; shape = (K, O, scaled, -); split = (splits, flat size in vec4, -, -).
// scaled = 1: each row of dy is multiplied by rstd [M], for an x that the forward pass normalised (rmsnormBackwardGain brings in the gain).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<uniform> split: vec4u;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read> rstd: array<f32>;
@group(0) @binding(6) var<storage, read_write> grads: array<f32>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let width = STRIPS * 4u;
  let columns = (shape.y + width - 1u) / width;
  let tiles = (shape.x + ROWS - 1u) / ROWS * columns;
  let lane = id.x % 4u;
  let s0 = id.x / 4u / tiles;
  if (s0 >= split.x) { return; }
  let k = (id.x / 4u % tiles) / columns * ROWS;
  let o = (id.x / 4u % columns) * width + lane;
  let chunk = (dims.rows + split.x - 1u) / split.x;
  let last = min(dims.rows, (s0 + 1u) * chunk);
  let scaled = shape.z != 0u;
  var sums: array<f32, ROWS * STRIPS>;
  for (var r = 0u; r < ROWS; r++) { // unroll
    for (var s = 0u; s < STRIPS; s++) { // unroll
      sums[r * STRIPS + s] = 0.0;
    }
  }
  for (var m = s0 * chunk; m < last; m++) {
    let scale = select(1.0, rstd[m], scaled);
    var gradients: array<f32, STRIPS>;
    for (var s = 0u; s < STRIPS; s++) { // unroll
      gradients[s] = dy[m * shape.y + o + s * 4u] * scale;
    }
    for (var p = 0u; p < PIECES; p++) { // unroll
      let piece = LOAD(x, m * shape.x + k + p * 4u);
      for (var q = 0u; q < 4u; q++) { // unroll
        let v = SPREAD(piece, q);
        for (var s = 0u; s < STRIPS; s++) { // unroll
          sums[(p * 4u + q) * STRIPS + s] += v * gradients[s];
        }
      }
    }
  }
  for (var r = 0u; r < ROWS; r++) { // unroll
    if (k + r < shape.x) {
      let at = s0 * split.y * 4u + (k + r) * shape.y + o;
      for (var s = 0u; s < STRIPS; s++) { // unroll
        if (o + s * 4u < shape.y) { grads[at + s * 4u] = sums[r * STRIPS + s]; }
      }
    }
  }
}
