import type { InferenceSession } from 'onnxruntime-web';
import { invariant } from '../core/errors';
import { GPU_USAGE, type GpuContext, type Pipeline } from '../gpu/device';
import { encode } from '../gpu/program';
import { gatherLogp } from '../kernels/gatherLogp/gatherLogp';
import { shaderOf } from '../kernels/kernelSpec';
import type { ModelConfig } from '../model/config';
import type { PackedBatch } from './engine';
import { OrtSession, type OrtModule } from './ortSession';
import { padBatch } from './padBatch';

/** Buffers for one capacity, and the binding of our kernel to them; remade only when a batch is larger than all before. */
interface Buffers {
  /** Padded tokens (rows * length) and packed positions that fit. */
  tokenCapacity: number;
  positionCapacity: number;
  tokens: GPUBuffer;
  logits: GPUBuffer;
  source: GPUBuffer;
  targets: GPUBuffer;
  logp: GPUBuffer;
  staging: GPUBuffer;
  bindGroup: GPUBindGroup;
}

/**
 * The WebGPU provider of onnxruntime-web on our device, without copies: it reads token ids from a buffer of ours and
 * writes logits into another, our kernel picks the targets' log-probs out of them, and only [N] floats come back.
 */
export class OrtGpuScorer {
  readonly description: string;
  private buffers: Buffers | null = null;

  private constructor(
    private readonly ort: OrtModule,
    private readonly session: OrtSession,
    private readonly config: ModelConfig,
    private readonly gpu: GpuContext,
    private readonly pipeline: Pipeline,
    private readonly dims: GPUBuffer,
    private readonly shape: GPUBuffer,
  ) {
    this.description = `onnxruntime-web, WebGPU provider${'Suspending' in WebAssembly ? ' (JSPI)' : ''} on the page's device`;
  }

  static async create(ort: OrtModule, modelBytes: Uint8Array, config: ModelConfig, gpu: GpuContext): Promise<OrtGpuScorer> {
    const options: InferenceSession.SessionOptions = {
      // The only way to hand over a device: ort.env.webgpu.device is ignored by these builds.
      executionProviders: [{ name: 'webgpu', device: gpu.device }],
      preferredOutputLocation: 'gpu-buffer',
    };
    const pipeline = await gpu.pipeline(shaderOf(gatherLogp));
    const uniform = (label: string) => gpu.device.createBuffer({ label, size: 16, usage: GPU_USAGE.UNIFORM | GPU_USAGE.COPY_DST });
    return new OrtGpuScorer(ort, new OrtSession(ort, modelBytes, options), config, gpu, pipeline, uniform('reference dims'), uniform('reference shape'));
  }

  async score(batch: PackedBatch, temperature: number): Promise<Float32Array> {
    const { V, T } = this.config;
    const { device } = this.gpu;
    const { rows, length, tokens, source } = padBatch(batch, T);
    const buffers = this.roomFor(rows * length, batch.positions);
    device.queue.writeBuffer(buffers.tokens, 0, tokens as Int32Array<ArrayBuffer>);
    device.queue.writeBuffer(buffers.source, 0, source as Uint32Array<ArrayBuffer>);
    device.queue.writeBuffer(buffers.targets, 0, batch.targets as Uint32Array<ArrayBuffer>);
    device.queue.writeBuffer(this.dims, 0, Uint32Array.of(batch.positions, 0, 0, 0));
    device.queue.writeBuffer(this.shape, 0, Uint32Array.of(V, new Uint32Array(Float32Array.of(1 / temperature).buffer)[0] as number, 0, 0));

    const { Tensor } = this.ort;
    const input = Tensor.fromGpuBuffer(buffers.tokens, { dataType: 'int32', dims: [rows, length] });
    const output = Tensor.fromGpuBuffer(buffers.logits, { dataType: 'float32', dims: [rows, length, V] });
    const { logits } = await this.session.run({ tokens: input }, { logits: output });
    invariant(logits && logits.location === 'gpu-buffer' && logits.gpuBuffer === buffers.logits, 'the logits lie in our buffer');

    const encoder = device.createCommandEncoder({ label: 'reference logp' });
    const pass = encoder.beginComputePass({ label: 'reference logp' });
    encode(pass, [{ pipeline: this.pipeline, bindGroup: buffers.bindGroup, threads: (n) => n }], batch.positions);
    pass.end();
    encoder.copyBufferToBuffer(buffers.logp, 0, buffers.staging, 0, 4 * batch.positions);
    device.queue.submit([encoder.finish()]);
    await buffers.staging.mapAsync(1 /* READ */, 0, 4 * batch.positions);
    const logp = new Float32Array(buffers.staging.getMappedRange(0, 4 * batch.positions).slice(0));
    buffers.staging.unmap();
    return logp;
  }

  private roomFor(tokens: number, positions: number): Buffers {
    const old = this.buffers;
    if (old && tokens <= old.tokenCapacity && positions <= old.positionCapacity) return old;
    const tokenCapacity = Math.max(tokens, old?.tokenCapacity ?? 0);
    const positionCapacity = Math.max(positions, old?.positionCapacity ?? 0);
    this.freeBuffers();
    const { device } = this.gpu;
    const buffer = (name: string, floats: number, usage: number = GPU_USAGE.STORAGE) =>
      device.createBuffer({ label: `reference ${name}`, size: Math.max(16, Math.ceil(floats / 4) * 16), usage });
    const parts = {
      tokens: buffer('tokens', tokenCapacity),
      logits: buffer('logits', tokenCapacity * this.config.V),
      source: buffer('source', positionCapacity),
      targets: buffer('targets', positionCapacity),
      logp: buffer('logp', positionCapacity),
      staging: buffer('staging', positionCapacity, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST),
    };
    const { logits, source, targets, logp } = parts;
    const bindGroup = this.gpu.bind(this.pipeline, { dims: this.dims, shape: this.shape, logits, source, targets, logp });
    this.buffers = { tokenCapacity, positionCapacity, ...parts, bindGroup };
    return this.buffers;
  }

  private freeBuffers(): void {
    const old = this.buffers;
    this.buffers = null;
    for (const buffer of old ? [old.tokens, old.logits, old.source, old.targets, old.logp, old.staging] : []) buffer.destroy();
  }

  /** Frees the session and our buffers; the device stays. */
  async destroy(): Promise<void> {
    await this.session.release();
    this.freeBuffers();
    this.dims.destroy();
    this.shape.destroy();
  }
}
