import { GPU_USAGE, type GpuContext, type Pipeline } from '../../gpu/device';
import { encode } from '../../gpu/program';
import type { TokenLoss } from '../../objectives/types';
import { shaderOf } from '../kernelSpec';
import { lossSharingFor, policyLossSpec, policyLossThreads, type LossSharing } from './policyLoss';
import type { PolicyLossInputs } from './policyLoss.cpu';

const compiled = new WeakMap<GpuContext, Map<string, Promise<Pipeline>>>();

/** The kernel of a token loss, compiled once per device. */
function pipelineOf(gpu: GpuContext, loss: TokenLoss, sharing: LossSharing): Promise<Pipeline> {
  const ofDevice = compiled.get(gpu) ?? new Map<string, Promise<Pipeline>>();
  compiled.set(gpu, ofDevice);
  const key = `${sharing}\n${loss.wgsl}`;
  const pipeline = ofDevice.get(key) ?? gpu.pipeline(shaderOf(policyLossSpec(loss, sharing)));
  ofDevice.set(key, pipeline);
  return pipeline;
}

/**
 * Runs the kernel once on its own, for `eval --device webgpu` and tests; training uses the engine's prebuilt list.
 * Returns what the kernel wrote, [N, 4] = (coefficient, weight * loss, log ratio, clipped).
 */
export async function runPolicyLoss(gpu: GpuContext, loss: TokenLoss, inputs: PolicyLossInputs, hyper: Readonly<Record<string, number>>, sharing = lossSharingFor(gpu.facts)): Promise<Float32Array> {
  const N = inputs.targets.length;
  const rows = inputs.rowStart.length - 1;
  const floats = new Float32Array(N * 8);
  const ints = new Uint32Array(N * 4);
  for (let r = 0; r < rows; r++) {
    for (let p = inputs.rowStart[r]; p < inputs.rowStart[r + 1]; p++) {
      floats.set([inputs.oldLogp[p], inputs.refLogp[p], inputs.advantage[p], inputs.weight[p], inputs.entropyRatio[p], inputs.entropy[p]], p * 8);
      ints.set([inputs.segStart[p], inputs.segEnd[p], inputs.respStart[p], inputs.rowStart[r + 1]], p * 4);
    }
  }
  const values = new Float32Array(16);
  for (const [name, slot] of Object.entries(loss.slots)) values[slot] = hyper[name];

  const buffers: GPUBuffer[] = [];
  const make = (label: string, bytes: number, usage: number) => {
    const buffer = gpu.device.createBuffer({ label: `policyLoss.${label}`, size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
    buffers.push(buffer);
    return buffer;
  };
  const upload = (label: string, data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>, usage: number = GPU_USAGE.STORAGE) => {
    const buffer = make(label, data.byteLength, usage);
    gpu.device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  try {
    const pipeline = await pipelineOf(gpu, loss, sharing);
    const uniform = GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST;
    const outputs = make('outputs', N * 16, GPU_USAGE.STORAGE);
    const bindGroup = gpu.bind(pipeline, {
      dims: upload('dims', Uint32Array.of(N, rows, 0, 0), uniform),
      newLogp: upload('newLogp', Float32Array.from(inputs.newLogp)),
      lossFloats: upload('lossFloats', floats),
      lossInts: upload('lossInts', ints),
      hyper: upload('hyper', values, uniform),
      outputs,
      scratch: make('scratch', N * 16 * 4, GPU_USAGE.STORAGE),
      targets: upload('targets', Uint32Array.from(inputs.targets)),
      rowStart: upload('rowStart', Uint32Array.from(inputs.rowStart)),
    });
    const staging = make('staging', N * 16, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
    const encoder = gpu.device.createCommandEncoder({ label: 'policyLoss' });
    const pass = encoder.beginComputePass({ label: 'policyLoss' });
    encode(pass, [{ pipeline, bindGroup, threads: (n) => policyLossThreads(sharing, n) }], rows);
    pass.end();
    encoder.copyBufferToBuffer(outputs, 0, staging, 0, N * 16);
    gpu.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const result = new Float32Array(staging.getMappedRange(0, N * 16).slice(0));
    staging.unmap();
    return result;
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}
