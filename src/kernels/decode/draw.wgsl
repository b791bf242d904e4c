// Draws the token at position `next` of a row from softmax(logits / T) by inverse transform (or takes the largest), and stores
// its log-prob and the entropy (nats) at once: these are oldLogp. The row ends at EOS. Noise key (seed, iteration, row, position).
// Uses of the including shader: logitAt(i, v); limits = (R, S, promptLength, EOS); key; tokens, alive, logpEntropy.
struct Sampling { seed: u32, iteration: u32, greedy: u32, inverseT: f32 }

fn draw(i: u32, row: u32, next: u32) {
  var top = -1e30;
  var best = 0u;
  for (var v = 0u; v < VOCAB; v++) {
    let z = logitAt(i, v) * key.inverseT;
    if (z > top) { top = z; best = v; }
  }
  var total = 0.0;
  var weighted = 0.0;
  for (var v = 0u; v < VOCAB; v++) {
    let z = logitAt(i, v) * key.inverseT - top;
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
      cumulative += exp(max(logitAt(i, v) * key.inverseT - top, -80.0));
      if (!found && u < cumulative) { chosen = v; found = true; }
    }
  }
  let logTotal = log(total);
  let z = logitAt(i, chosen) * key.inverseT - top;
  tokens[row * limits.y + next] = chosen;
  logpEntropy[row * (limits.y - limits.z) + next - limits.z] = vec2f(z - logTotal, max(0.0, logTotal - weighted / total));
  if (chosen == limits.w) { alive[row] = 0u; }
}
