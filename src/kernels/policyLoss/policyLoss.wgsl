// Per-token loss and coefficient c = dLoss/dlogp of one objective; objectives/toWgsl.ts prints the OBJECTIVE part.
// newLogp, targets [N]; lossFloats [N, 8] = (oldLogp, refLogp, advantage, weight, entropyRatio, entropy, -, -);
// lossInts [N, 4] = (segStart, segEnd, respStart, respEnd), packed positions; rowStart [rows + 1]; hyper: 16 values by slot;
// outputs [N, 4] = (coefficient, weight * loss, log ratio at the objective's level, clipped 0/1), zeros where there is no target;
// scratch [N, MEAN_COUNT]: at each position the averages over its unit. dims = (N, rows, -, -).
// Followed by policyLossRows.wgsl or policyLossGroups.wgsl, which share the work out.
// Log ratios are clamped to +-20 by the objective itself before exp. Branches select, so what is not chosen never counts.
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<storage, read> newLogp: array<f32>;
@group(0) @binding(2) var<storage, read> lossFloats: array<f32>;
@group(0) @binding(3) var<storage, read> lossInts: array<u32>;
@group(0) @binding(4) var<uniform> hyper: array<vec4f, 4>;
@group(0) @binding(5) var<storage, read_write> outputs: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> scratch: array<f32>;
@group(0) @binding(7) var<storage, read> targets: array<u32>;
@group(0) @binding(8) var<storage, read> rowStart: array<u32>;

const NO_TARGET = 0xffffffffu;
const SEGMENT = 0u;
const SEQUENCE = 1u;

struct Token { index: u32, logp: f32, oldLogp: f32, refLogp: f32, advantage: f32, weight: f32, entropyRatio: f32, entropy: f32 }
struct TokenResult { coefficient: f32, loss: f32, logRatio: f32, clipped: f32 }

// e^x - 1 and e^x - 1 - x without cancellation: a series within half a nat of 0.
fn expm1(x: f32) -> f32 {
  let series = x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0 * (1.0 + x / 8.0)))))));
  return select(exp(x) - 1.0, series, abs(x) < 0.5);
}
fn k3(x: f32) -> f32 {
  let series = 0.5 * x * x * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0 * (1.0 + x / 8.0))))));
  return select(exp(x) - 1.0 - x, series, abs(x) < 0.5);
}
fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(clamp(-x, -80.0, 80.0)));
}

fn loadToken(p: u32) -> Token {
  let f = p * 8u;
  return Token(p, newLogp[p], lossFloats[f], lossFloats[f + 1u], lossFloats[f + 2u], lossFloats[f + 3u], lossFloats[f + 4u], lossFloats[f + 5u]);
}

fn unitMean(p: u32, slot: u32) -> f32 {
  return scratch[p * MEAN_COUNT + slot];
}

/*OBJECTIVE*/

// One past the last position of the unit that begins at `start`, at most `end`, which closes the row.
fn unitEnd(slot: u32, start: u32, end: u32) -> u32 {
  return select(min(max(lossInts[start * 4u + 1u], start + 1u), end), end, meanLevel(slot) == SEQUENCE);
}

// First position of the row's response: the last one predicts the row's last token; without it the row has no response.
fn responseStart(end: u32) -> u32 {
  return select(lossInts[(end - 1u) * 4u + 2u], end, targets[end - 1u] == NO_TARGET);
}

fn finish(p: u32) {
  let result = tokenLoss(loadToken(p));
  outputs[p] = vec4f(result.coefficient, result.loss, result.logRatio, result.clipped);
}
