// Every few decoding steps: lists the rollout rows that still run, so that later kernels work on live rows only.
// alive [R] (1 or 0); live.rows gets the count; liveRows [R] the row numbers. limits = (R, -, -, -). One thread: R is a few hundred.
struct Live { rows: u32, a: u32, b: u32, c: u32 }
@group(0) @binding(0) var<uniform> limits: vec4u;
@group(0) @binding(1) var<storage, read> alive: array<u32>;
@group(0) @binding(2) var<storage, read_write> live: Live;
@group(0) @binding(3) var<storage, read_write> liveRows: array<u32>;

@compute @workgroup_size(1)
fn main() {
  var count = 0u;
  for (var r = 0u; r < limits.x; r++) {
    if (alive[r] != 0u) {
      liveRows[count] = r;
      count++;
    }
  }
  live.rows = count;
}
