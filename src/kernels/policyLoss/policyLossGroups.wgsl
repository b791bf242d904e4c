// One workgroup per row, for GPUs: its threads share the row's tokens. Sums run in the order of policyLossRows.wgsl, so that both
// give the same numbers: the terms, which cost the most, are computed side by side, and each unit is then added up by one thread.
const THREADS = 64u;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  if (row >= dims.a) { return; }
  let start = rowStart[row];
  let end = rowStart[row + 1u];
  if (end <= start) { return; }
  let first = responseStart(end);
  for (var p = start + thread; p < first; p += THREADS) { outputs[p] = vec4f(0.0); }
  for (var slot = 0u; slot < MEAN_COUNT; slot++) {
    for (var p = first + thread; p < end; p += THREADS) { scratch[p * MEAN_COUNT + slot] = meanTerm(slot, loadToken(p)); }
    storageBarrier();
    workgroupBarrier();
    var begin = first;
    var unit = 0u;
    while (begin < end) {
      let next = unitEnd(slot, begin, end);
      if (unit % THREADS == thread) {
        var sum = 0.0;
        for (var p = begin; p < next; p++) { sum += scratch[p * MEAN_COUNT + slot]; }
        let average = sum / f32(next - begin);
        for (var p = begin; p < next; p++) { scratch[p * MEAN_COUNT + slot] = average; }
      }
      begin = next;
      unit++;
    }
    storageBarrier();
    workgroupBarrier();
  }
  for (var p = first + thread; p < end; p += THREADS) { finish(p); }
}
