// The gradients of gains and of the matrices that read normalised rows, for all such pairs at once. With U = xhat^T dy, which
// matmulBackwardWeight has left in the matrix's place: dW = g U by rows, and dg = sum over columns of W U (xhat = x rstd, y = (g xhat) W).
// params [flat]; grads [splits, flat]; pairs [count] = (first of W, first of g, columns of W, -); shape = (C, count, -, -);
// split = (splits, flat size in vec4, -, -). One thread per (split, pair, row of W).
@group(0) @binding(0) var<uniform> shape: vec4u;
@group(0) @binding(1) var<uniform> split: vec4u;
@group(0) @binding(2) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(3) var<storage, read> params: array<f32>;
@group(0) @binding(4) var<storage, read_write> grads: array<f32>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x % shape.x;
  let pair = pairs[id.x / shape.x % shape.y];
  let s = id.x / shape.x / shape.y;
  if (s >= split.x) { return; }
  let first = s * split.y * 4u;
  let g = params[pair.y + c];
  let row = pair.x + c * pair.z;
  var sum = 0.0;
  for (var o = row; o < row + pair.z; o++) {
    let u = grads[first + o];
    sum += params[o] * u;
    grads[first + o] = g * u;
  }
  grads[first + pair.y + c] = sum;
}
