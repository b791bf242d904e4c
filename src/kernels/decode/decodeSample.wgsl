// Draws the next token of every live row from softmax(logits / T) by inverse transform (or takes the largest), and stores
// its log-prob and the entropy (nats) at once: these are oldLogp. The row ends at EOS; what has ended stays as it is.
// logits [live, V]; tokens [R, S]; alive [R]; logp, entropy [R, S - promptLength], 0 where nothing was written.
// step = (position, -, -, -); limits = (R, S, promptLength, EOS); key = (seed, iteration, greedy, bits of 1/T); noise key (seed, iteration, row, position).
struct Sampling { seed: u32, iteration: u32, greedy: u32, inverseT: f32 }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> step: vec4u; // dynamic
@group(0) @binding(2) var<uniform> limits: vec4u;
@group(0) @binding(3) var<uniform> key: Sampling;
@group(0) @binding(4) var<storage, read> liveRows: array<u32>;
@group(0) @binding(5) var<storage, read> logits: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(7) var<storage, read_write> alive: array<u32>;
@group(0) @binding(8) var<storage, read_write> logpEntropy: array<vec2f>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= dims.rows) { return; }
  let row = liveRows[i];
  // Rows that have ended since they were listed are still among the live ones.
  if (alive[row] == 0u) { return; }
  let next = step.x + 1u;
  var top = -1e30;
  var best = 0u;
  for (var v = 0u; v < VOCAB; v++) {
    let z = logits[(i * VOCAB + v) / 4u][v % 4u] * key.inverseT;
    if (z > top) { top = z; best = v; }
  }
  var total = 0.0;
  var weighted = 0.0;
  for (var v = 0u; v < VOCAB; v++) {
    let z = logits[(i * VOCAB + v) / 4u][v % 4u] * key.inverseT - top;
    let e = exp(max(z, -80.0));
    total += e;
    weighted += e * z;
  }
  var chosen = best;
  if (key.greedy == 0u) {
    let u = uniform4(key.seed, key.iteration, row, next) * total;
    var cumulative = 0.0;
    var found = false;
    for (var v = 0u; v < VOCAB; v++) {
      let z = logits[(i * VOCAB + v) / 4u][v % 4u] * key.inverseT - top;
      cumulative += exp(max(z, -80.0));
      if (!found && u < cumulative) { chosen = v; found = true; }
    }
  }
  let logTotal = log(total);
  let z = logits[(i * VOCAB + chosen) / 4u][chosen % 4u] * key.inverseT - top;
  tokens[row * limits.y + next] = chosen;
  logpEntropy[row * (limits.y - limits.z) + next - limits.z] = vec2f(z - logTotal, max(0.0, logTotal - weighted / total));
  if (chosen == limits.w) { alive[row] = 0u; }
}
