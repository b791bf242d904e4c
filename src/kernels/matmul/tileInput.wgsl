// The shared body of dx = dy W^T: one thread computes 8 rows x 8 input channels in registers.
// dy [M, O], w [K, O]; shape = (K, O, -, -); K and O are multiples of 8.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> dy: array<vec4f>;
@group(0) @binding(3) var<storage, read> w: array<vec4f>;

struct Tile { row: u32, channel4: u32, inside: bool }

fn tileOf(id: u32) -> Tile {
  let tiles = shape.x / 8u;
  let row = (id / tiles) * 8u;
  return Tile(row, (id % tiles) * 2u, row < dims.rows);
}

fn multiplyTransposed(tile: Tile, left: ptr<function, array<vec4f, 8>>, right: ptr<function, array<vec4f, 8>>) {
  let o4 = shape.y / 4u;
  let k = tile.channel4 * 4u;
  let lastRow = dims.rows - 1u;
  let r0 = min(tile.row + 0u, lastRow) * o4;
  let r1 = min(tile.row + 1u, lastRow) * o4;
  let r2 = min(tile.row + 2u, lastRow) * o4;
  let r3 = min(tile.row + 3u, lastRow) * o4;
  let r4 = min(tile.row + 4u, lastRow) * o4;
  let r5 = min(tile.row + 5u, lastRow) * o4;
  let r6 = min(tile.row + 6u, lastRow) * o4;
  let r7 = min(tile.row + 7u, lastRow) * o4;
  var a0 = vec4f(0.0); var a1 = vec4f(0.0); var a2 = vec4f(0.0); var a3 = vec4f(0.0);
  var a4 = vec4f(0.0); var a5 = vec4f(0.0); var a6 = vec4f(0.0); var a7 = vec4f(0.0);
  var b0 = vec4f(0.0); var b1 = vec4f(0.0); var b2 = vec4f(0.0); var b3 = vec4f(0.0);
  var b4 = vec4f(0.0); var b5 = vec4f(0.0); var b6 = vec4f(0.0); var b7 = vec4f(0.0);
  for (var o = 0u; o < o4; o++) {
    let d0 = dy[r0 + o]; let d1 = dy[r1 + o]; let d2 = dy[r2 + o]; let d3 = dy[r3 + o];
    let d4 = dy[r4 + o]; let d5 = dy[r5 + o]; let d6 = dy[r6 + o]; let d7 = dy[r7 + o];
    {
      let w0 = w[(k + 0u) * o4 + o];
      let w1 = w[(k + 1u) * o4 + o];
      let w2 = w[(k + 2u) * o4 + o];
      let w3 = w[(k + 3u) * o4 + o];
      a0 += vec4f(dot(d0, w0), dot(d0, w1), dot(d0, w2), dot(d0, w3));
      a1 += vec4f(dot(d1, w0), dot(d1, w1), dot(d1, w2), dot(d1, w3));
      a2 += vec4f(dot(d2, w0), dot(d2, w1), dot(d2, w2), dot(d2, w3));
      a3 += vec4f(dot(d3, w0), dot(d3, w1), dot(d3, w2), dot(d3, w3));
      a4 += vec4f(dot(d4, w0), dot(d4, w1), dot(d4, w2), dot(d4, w3));
      a5 += vec4f(dot(d5, w0), dot(d5, w1), dot(d5, w2), dot(d5, w3));
      a6 += vec4f(dot(d6, w0), dot(d6, w1), dot(d6, w2), dot(d6, w3));
      a7 += vec4f(dot(d7, w0), dot(d7, w1), dot(d7, w2), dot(d7, w3));
    }
    {
      let w0 = w[(k + 4u) * o4 + o];
      let w1 = w[(k + 5u) * o4 + o];
      let w2 = w[(k + 6u) * o4 + o];
      let w3 = w[(k + 7u) * o4 + o];
      b0 += vec4f(dot(d0, w0), dot(d0, w1), dot(d0, w2), dot(d0, w3));
      b1 += vec4f(dot(d1, w0), dot(d1, w1), dot(d1, w2), dot(d1, w3));
      b2 += vec4f(dot(d2, w0), dot(d2, w1), dot(d2, w2), dot(d2, w3));
      b3 += vec4f(dot(d3, w0), dot(d3, w1), dot(d3, w2), dot(d3, w3));
      b4 += vec4f(dot(d4, w0), dot(d4, w1), dot(d4, w2), dot(d4, w3));
      b5 += vec4f(dot(d5, w0), dot(d5, w1), dot(d5, w2), dot(d5, w3));
      b6 += vec4f(dot(d6, w0), dot(d6, w1), dot(d6, w2), dot(d6, w3));
      b7 += vec4f(dot(d7, w0), dot(d7, w1), dot(d7, w2), dot(d7, w3));
    }
  }
  *left = array<vec4f, 8>(a0, a1, a2, a3, a4, a5, a6, a7);
  *right = array<vec4f, 8>(b0, b1, b2, b3, b4, b5, b6, b7);
}
