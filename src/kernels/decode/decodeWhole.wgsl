// Decoding of whole rows, for GPUs: one workgroup runs its row through every layer and every step of a span, so that a rollout
// is a handful of dispatches. Software adapters pay too much for its barriers. Follows draw.wgsl; the arithmetic is that of the
// kernels that decode in parts, in another order of summation.
// params [flat] at the places given; table as in rope.wgsl; tokens [R, S]; alive [R]; keys, values [L, R, T, C].
// span = (first position, one past the last, -, -); limits = (R, S, promptLength, EOS); key = (seed, iteration, greedy, bits of 1/T).
// One workgroup per row. Constants: CHANNELS, HEADS, HEAD = C/H, LAYERS, CONTEXT = T, VOCAB, and the sizes made of them.
struct Places { token: u32, position: u32, finalNorm: u32, unembed: u32, norm1: u32, qkv: u32, attnOut: u32, norm2: u32, fc1: u32, fc2: u32, layer: u32, eps: f32 }
@group(0) @binding(0) var<uniform> span: vec4u; // dynamic
@group(0) @binding(1) var<uniform> limits: vec4u;
@group(0) @binding(2) var<uniform> key: Sampling;
@group(0) @binding(3) var<uniform> places: Places;
@group(0) @binding(4) var<storage, read> params: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<f32>;
@group(0) @binding(6) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(7) var<storage, read_write> alive: array<u32>;
@group(0) @binding(8) var<storage, read_write> logpEntropy: array<vec2f>;
@group(0) @binding(9) var<storage, read_write> keys: array<f32>;
@group(0) @binding(10) var<storage, read_write> values: array<f32>;

const THREADS = 64u;
var<workgroup> running: u32;
var<workgroup> x: array<f32, CHANNELS>;
var<workgroup> input: array<f32, HIDDEN>;
var<workgroup> qkv: array<f32, TRIPLE>;
var<workgroup> scores: array<f32, SCORES>;
var<workgroup> logits: array<f32, VOCAB>;

fn logitAt(i: u32, v: u32) -> f32 { return logits[v]; }

// Column o of (the first K of input) W.
fn column(w: u32, K: u32, O: u32, o: u32) -> f32 {
  var sum = 0.0;
  for (var k = 0u; k < K; k++) { sum += input[k] * params[w + k * O + o]; }
  return sum;
}

// input = x / rms(x) * gain. Every thread sums for itself: the row is short.
fn normalise(thread: u32, gain: u32) {
  var sum = 0.0;
  for (var c = 0u; c < CHANNELS; c++) { sum += x[c] * x[c]; }
  let r = 1.0 / sqrt(sum / f32(CHANNELS) + places.eps);
  for (var c = thread; c < CHANNELS; c += THREADS) { input[c] = x[c] * r * params[gain + c]; }
}

fn attend(thread: u32, cache: u32, t: u32) {
  for (var j = thread; j < HEADS * (t + 1u); j += THREADS) {
    let head = j / (t + 1u);
    let at = j % (t + 1u);
    var s = 0.0;
    for (var i = 0u; i < HEAD; i++) { s += qkv[head * HEAD + i] * keys[cache + at * CHANNELS + head * HEAD + i]; }
    scores[head * CONTEXT + at] = s / sqrt(f32(HEAD));
  }
  workgroupBarrier();
  for (var c = thread; c < CHANNELS; c += THREADS) {
    let first = c / HEAD * CONTEXT;
    var top = -1e30;
    for (var j = 0u; j <= t; j++) { top = max(top, scores[first + j]); }
    var total = 0.0;
    var sum = 0.0;
    for (var j = 0u; j <= t; j++) {
      let p = exp(max(scores[first + j] - top, -80.0));
      total += p;
      sum += p * values[cache + j * CHANNELS + c];
    }
    input[c] = sum / total;
  }
}

fn rotate(thread: u32, cache: u32, t: u32) {
  for (var j = thread; j < CHANNELS / 2u; j += THREADS) {
    let i = j % (HEAD / 2u);
    let a = j / (HEAD / 2u) * HEAD + i;
    let b = a + HEAD / 2u;
    let co = table[t * HEAD + i];
    let si = table[t * HEAD + HEAD / 2u + i];
    let q = vec2f(qkv[a], qkv[b]);
    qkv[a] = q.x * co - q.y * si;
    qkv[b] = q.x * si + q.y * co;
    let k = vec2f(qkv[CHANNELS + a], qkv[CHANNELS + b]);
    keys[cache + t * CHANNELS + a] = k.x * co - k.y * si;
    keys[cache + t * CHANNELS + b] = k.x * si + k.y * co;
  }
  for (var c = thread; c < CHANNELS; c += THREADS) { values[cache + t * CHANNELS + c] = qkv[2u * CHANNELS + c]; }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  for (var t = span.x; t < min(span.y, limits.y - 1u); t++) {
    if (thread == 0u) { running = alive[row]; }
    if (workgroupUniformLoad(&running) == 0u) { break; }
    let token = tokens[row * limits.y + t];
    for (var c = thread; c < CHANNELS; c += THREADS) { x[c] = params[places.token + token * CHANNELS + c] + params[places.position + t * CHANNELS + c]; }
    workgroupBarrier();
    for (var l = 0u; l < LAYERS; l++) {
      let layer = l * places.layer;
      let cache = (l * limits.x + row) * CONTEXT * CHANNELS;
      normalise(thread, layer + places.norm1);
      workgroupBarrier();
      for (var o = thread; o < TRIPLE; o += THREADS) { qkv[o] = column(layer + places.qkv, CHANNELS, TRIPLE, o); }
      workgroupBarrier();
      rotate(thread, cache, t);
      storageBarrier();
      workgroupBarrier();
      attend(thread, cache, t);
      workgroupBarrier();
      for (var o = thread; o < CHANNELS; o += THREADS) { x[o] += column(layer + places.attnOut, CHANNELS, CHANNELS, o); }
      workgroupBarrier();
      normalise(thread, layer + places.norm2);
      workgroupBarrier();
      var h: array<f32, PER_THREAD>;
      for (var o = 0u; o < PER_THREAD; o++) {
        let v = column(layer + places.fc1, CHANNELS, HIDDEN, min(thread + o * THREADS, HIDDEN - 1u));
        h[o] = v / (1.0 + exp(clamp(-1.702 * v, -80.0, 80.0)));
      }
      workgroupBarrier();
      for (var o = 0u; o < PER_THREAD; o++) {
        if (thread + o * THREADS < HIDDEN) { input[thread + o * THREADS] = h[o]; }
      }
      workgroupBarrier();
      for (var o = thread; o < CHANNELS; o += THREADS) { x[o] += column(layer + places.fc2, HIDDEN, CHANNELS, o); }
      workgroupBarrier();
    }
    // Inside the prompt the next token is known: only its keys and values are wanted.
    if (t + 1u >= limits.z) {
      normalise(thread, places.finalNorm);
      workgroupBarrier();
      for (var o = thread; o < VOCAB; o += THREADS) { logits[o] = column(places.unembed, CHANNELS, VOCAB, o); }
      workgroupBarrier();
      if (thread == 0u) { draw(0u, row, t + 1u); }
      storageBarrier();
      workgroupBarrier();
    }
  }
}
