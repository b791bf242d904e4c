import { GPU_USAGE, type GpuContext } from '../gpu/device';

/** Copies several buffers of one length to the host in a single readback; the mappable buffer is made once. */
export class StateStaging {
  private readonly ctx: GpuContext;
  private readonly sources: readonly GPUBuffer[];
  private readonly floats: number;
  private readonly buffer: GPUBuffer;

  /** @param floats floats of each source */
  constructor(ctx: GpuContext, sources: readonly GPUBuffer[], floats: number) {
    this.ctx = ctx;
    this.sources = sources;
    this.floats = floats;
    this.buffer = ctx.buffer('stateRead', sources.length * floats * 4, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  }

  /** The sources' contents, in order, each in an array of its own. */
  async read(): Promise<Float32Array[]> {
    const { device } = this.ctx;
    const bytes = this.floats * 4;
    const encoder = device.createCommandEncoder({ label: 'saveState' });
    this.sources.forEach((source, i) => encoder.copyBufferToBuffer(source, 0, this.buffer, i * bytes, bytes));
    device.queue.submit([encoder.finish()]);
    await this.buffer.mapAsync(1);
    const data = this.buffer.getMappedRange();
    const out = this.sources.map((_, i) => new Float32Array(data.slice(i * bytes, (i + 1) * bytes)));
    this.buffer.unmap();
    return out;
  }
}
