// y = norm(x) W with an ending: four neighbouring lanes compute ROWS rows by 4 STRIPS columns in registers, each lane every fourth
// column, so that their loads of W are one. No workgroup memory and no barrier, which software adapters pay dearly for.
// x [M, K], w [K, O], y [M, O]; K and O are multiples of 4. shape = (K, O, ending, bits of eps).
// eps not 0: each row of x is first divided by its root mean square and multiplied by gain [K]; rstd [M] is kept for the backward pass.
// Endings: 0 none; 1 adds extra [M, O]; 2 also keeps activated = y sigmoid(1.702 y); 3 multiplies by that function's slope at extra.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> shape: vec4u;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read> gain: array<f32>;
@group(0) @binding(5) var<storage, read> extra: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<storage, read_write> activated: array<f32>;
@group(0) @binding(8) var<storage, read_write> rstd: array<f32>;

const STRIDE = 4u;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let width = STRIPS * 4u;
  let tiles = (shape.y + width - 1u) / width;
  let lane = id.x % 4u;
  let row = id.x / 4u / tiles * ROWS;
  let column = (id.x / 4u % tiles) * width + lane;
  if (row >= dims.rows) { return; }
  let lastRow = dims.rows - 1u;
  var first: array<u32, ROWS>;
  var sums: array<f32, ROWS * STRIPS>;
  var squares: array<Piece, ROWS>;
  for (var r = 0u; r < ROWS; r++) { // unroll
    first[r] = min(row + r, lastRow) * shape.x;
    squares[r] = Piece();
    for (var s = 0u; s < STRIPS; s++) { // unroll
      sums[r * STRIPS + s] = 0.0;
    }
  }
  for (var k = 0u; k < shape.x; k += 4u) {
    let g = LOAD(gain, k);
    var pieces: array<Piece, ROWS>;
    for (var r = 0u; r < ROWS; r++) { // unroll
      let p = LOAD(x, first[r] + k);
      squares[r] += p * p;
      pieces[r] = p * g;
    }
    for (var q = 0u; q < 4u; q++) { // unroll
      let at = (k + q) * shape.y + column;
      var weights: array<f32, STRIPS>;
      for (var s = 0u; s < STRIPS; s++) { // unroll
        weights[s] = w[at + s * 4u];
      }
      for (var r = 0u; r < ROWS; r++) { // unroll
        let v = SPREAD(pieces[r], q);
        for (var s = 0u; s < STRIPS; s++) { // unroll
          sums[r * STRIPS + s] += v * weights[s];
        }
      }
    }
  }
  // The endings take the sums by a variable index, so a copy: an array indexed by literals alone stays in registers.
  let normed = shape.w != 0u;
  var products: array<f32, ROWS * STRIPS>;
  for (var r = 0u; r < ROWS; r++) { // unroll
    let inverse = 1.0 / sqrt(TOTAL(squares[r]) / f32(shape.x) + bitcast<f32>(shape.w));
    if (normed && column == 0u && row + r < dims.rows) { rstd[row + r] = inverse; }
    let scale = select(1.0, inverse, normed);
    for (var s = 0u; s < STRIPS; s++) { // unroll
      products[r * STRIPS + s] = sums[r * STRIPS + s] * scale;
    }
  }
  let outputs = shape.y;
  let rows = min(ROWS, dims.rows - row);
  let strips = min(STRIPS, (outputs - (column - lane)) / 4u);
  /*ENDINGS*/
}
