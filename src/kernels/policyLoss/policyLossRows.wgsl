// One thread per row fills the row's averages slot by slot, then its tokens: no barrier, which suits software adapters.
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= dims.a) { return; }
  let start = rowStart[row];
  let end = rowStart[row + 1u];
  if (end <= start) { return; }
  let first = responseStart(end);
  for (var p = start; p < first; p++) { outputs[p] = vec4f(0.0); }
  for (var slot = 0u; slot < MEAN_COUNT; slot++) {
    var begin = first;
    while (begin < end) {
      let next = unitEnd(slot, begin, end);
      var sum = 0.0;
      for (var p = begin; p < next; p++) { sum += meanTerm(slot, loadToken(p)); }
      let average = sum / f32(next - begin);
      for (var p = begin; p < next; p++) { scratch[p * MEAN_COUNT + slot] = average; }
      begin = next;
    }
  }
  for (var p = first; p < end; p++) { finish(p); }
}
