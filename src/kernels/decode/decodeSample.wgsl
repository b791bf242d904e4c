// Draws the next token of every live row; what has ended stays as it is. Follows draw.wgsl.
// logits [live, V]; tokens [R, S]; alive [R]; logp, entropy [R, S - promptLength], 0 where nothing was written.
// step = (position, -, -, -); limits = (R, S, promptLength, EOS); key = (seed, iteration, greedy, bits of 1/T).
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> step: vec4u; // dynamic
@group(0) @binding(2) var<uniform> limits: vec4u;
@group(0) @binding(3) var<uniform> key: Sampling;
@group(0) @binding(4) var<storage, read> liveRows: array<u32>;
@group(0) @binding(5) var<storage, read> logits: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(7) var<storage, read_write> alive: array<u32>;
@group(0) @binding(8) var<storage, read_write> logpEntropy: array<vec2f>;

fn logitAt(i: u32, v: u32) -> f32 { return logits[(i * VOCAB + v) / 4u][v % 4u]; }

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= dims.rows) { return; }
  let row = liveRows[id.x];
  // Rows that have ended since they were listed are still among the live ones.
  if (alive[row] == 0u) { return; }
  draw(id.x, row, step.x + 1u);
}
