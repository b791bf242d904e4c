import { invariant } from '../core/errors';
import { GPU_USAGE, type GpuContext } from '../gpu/device';
import type { UpdateRecord } from './engine';

/** Bytes for all updates of one iteration: 24 per position. */
const CAPACITY = 8 << 20;

/**
 * Collects what each update leaves behind in one mappable buffer, so that an iteration needs a single readback and
 * training never waits for one update's numbers.
 */
export class RecordStaging {
  private readonly buffer: GPUBuffer;
  private entries: { offset: number; n: number }[] = [];
  private used = 0;

  constructor(ctx: GpuContext) {
    this.buffer = ctx.buffer('records', CAPACITY, GPU_USAGE.MAP_READ | GPU_USAGE.COPY_DST);
  }

  /** Appends the copies of one update of n positions to an encoder: logp, entropy [n], coefficients [n, 4], norm [1]. */
  record(encoder: GPUCommandEncoder, n: number, logp: GPUBuffer, entropy: GPUBuffer, coefficients: GPUBuffer, norm: GPUBuffer): void {
    const offset = this.used;
    invariant(offset + n * 24 + 4 <= CAPACITY, `the updates of one iteration leave over ${CAPACITY} bytes; collect earlier`);
    encoder.copyBufferToBuffer(logp, 0, this.buffer, offset, n * 4);
    encoder.copyBufferToBuffer(entropy, 0, this.buffer, offset + n * 4, n * 4);
    encoder.copyBufferToBuffer(coefficients, 0, this.buffer, offset + n * 8, n * 16);
    encoder.copyBufferToBuffer(norm, 0, this.buffer, offset + n * 24, 4);
    this.used = offset + n * 24 + 4;
    this.entries.push({ offset, n });
  }

  /** The records so far, in order; resolves when the GPU has finished them. */
  async collect(): Promise<UpdateRecord[]> {
    const { entries, used } = this;
    this.entries = [];
    this.used = 0;
    if (entries.length === 0) return [];
    const bytes = Math.ceil(used / 8) * 8;
    await this.buffer.mapAsync(1, 0, bytes);
    const data = this.buffer.getMappedRange(0, bytes).slice(0);
    this.buffer.unmap();
    return entries.map(({ offset, n }) => {
      const out = new Float32Array(data, offset + n * 8, n * 4);
      const coefficient = new Float32Array(n);
      for (let i = 0; i < n; i++) coefficient[i] = out[4 * i];
      return {
        newLogp: new Float32Array(data, offset, n),
        entropy: new Float32Array(data, offset + n * 4, n),
        coefficient,
        gradNorm: new Float32Array(data, offset + n * 24, 1)[0],
      };
    });
  }
}
