// The shared body of dx = dy W^T: one thread computes 8 rows x 4 input channels.
// dy [M, O], w [K, O]; shape = (K, O, -, -).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> dy: array<vec4f>;
@group(0) @binding(3) var<storage, read> w: array<vec4f>;

fn multiplyTransposed(row: u32, k: u32) -> array<vec4f, 8> {
  let o4 = shape.y / 4u;
  let lastRow = dims.rows - 1u;
  let r0 = min(row, lastRow) * o4;
  let r1 = min(row + 1u, lastRow) * o4;
  let r2 = min(row + 2u, lastRow) * o4;
  let r3 = min(row + 3u, lastRow) * o4;
  let r4 = min(row + 4u, lastRow) * o4;
  let r5 = min(row + 5u, lastRow) * o4;
  let r6 = min(row + 6u, lastRow) * o4;
  let r7 = min(row + 7u, lastRow) * o4;
  var a0 = vec4f(0.0); var a1 = vec4f(0.0); var a2 = vec4f(0.0); var a3 = vec4f(0.0);
  var a4 = vec4f(0.0); var a5 = vec4f(0.0); var a6 = vec4f(0.0); var a7 = vec4f(0.0);
  for (var o = 0u; o < o4; o++) {
    let w0 = w[k * o4 + o];
    let w1 = w[(k + 1u) * o4 + o];
    let w2 = w[(k + 2u) * o4 + o];
    let w3 = w[(k + 3u) * o4 + o];
    let d0 = dy[r0 + o]; let d1 = dy[r1 + o]; let d2 = dy[r2 + o]; let d3 = dy[r3 + o];
    let d4 = dy[r4 + o]; let d5 = dy[r5 + o]; let d6 = dy[r6 + o]; let d7 = dy[r7 + o];
    a0 += vec4f(dot(d0, w0), dot(d0, w1), dot(d0, w2), dot(d0, w3));
    a1 += vec4f(dot(d1, w0), dot(d1, w1), dot(d1, w2), dot(d1, w3));
    a2 += vec4f(dot(d2, w0), dot(d2, w1), dot(d2, w2), dot(d2, w3));
    a3 += vec4f(dot(d3, w0), dot(d3, w1), dot(d3, w2), dot(d3, w3));
    a4 += vec4f(dot(d4, w0), dot(d4, w1), dot(d4, w2), dot(d4, w3));
    a5 += vec4f(dot(d5, w0), dot(d5, w1), dot(d5, w2), dot(d5, w3));
    a6 += vec4f(dot(d6, w0), dot(d6, w1), dot(d6, w2), dot(d6, w3));
    a7 += vec4f(dot(d7, w0), dot(d7, w1), dot(d7, w2), dot(d7, w3));
  }
  return array<vec4f, 8>(a0, a1, a2, a3, a4, a5, a6, a7);
}
