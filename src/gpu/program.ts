import type { Pipeline } from './device';

/** One dispatch of a prebuilt list. `threads` gives the number of invocations for n items (rows of the batch). */
export interface Dispatch {
  pipeline: Pipeline;
  bindGroup: GPUBindGroup;
  threads: (n: number) => number;
}

const MAX_GROUPS_X = 65535;

/** Encodes a list of dispatches for n items into a pass. `dynamicOffsets` goes to those whose shader has a dynamic uniform. */
export function encode(pass: GPUComputePassEncoder, list: readonly Dispatch[], n: number, dynamicOffsets: number[] = []): void {
  for (const { pipeline, bindGroup, threads } of list) {
    const groups = Math.ceil(threads(n) / pipeline.shader.workgroupSize);
    if (groups === 0) continue;
    if (groups > MAX_GROUPS_X) throw new Error(`${pipeline.shader.label}: ${groups} workgroups are more than one dimension holds`);
    pass.setPipeline(pipeline.pipeline);
    if (pipeline.shader.bindings.some((b) => b.dynamic)) pass.setBindGroup(0, bindGroup, dynamicOffsets);
    else pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(groups);
  }
}
