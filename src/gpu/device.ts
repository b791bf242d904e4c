import { UserError } from '../core/errors';
import type { ShaderBinding, ComputeShader } from './shader';

/** What the adapter is and offers; `software` is true for SwiftShader, WARP, llvmpipe and the like. */
export interface AdapterFacts {
  vendor: string;
  architecture: string;
  device: string;
  description: string;
  software: boolean;
  f16: boolean;
  subgroups: boolean;
  timestamps: boolean;
}

export interface Pipeline {
  shader: ComputeShader;
  pipeline: GPUComputePipeline;
  layout: GPUBindGroupLayout;
}

/** A buffer, or a slice of one (bytes). */
export type BufferSlice = GPUBuffer | { buffer: GPUBuffer; offset: number; size: number };

const WANTED_FEATURES: GPUFeatureName[] = ['timestamp-query', 'subgroups', 'shader-f16'];
const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
] as const;

const COUNTED = [
  'createBuffer',
  'createBindGroup',
  'createBindGroupLayout',
  'createPipelineLayout',
  'createShaderModule',
  'createComputePipeline',
  'createComputePipelineAsync',
  'createTexture',
  'createSampler',
  'createQuerySet',
] as const;

/**
 * A device with what the project needs around it: every object is labelled, creations are counted (so that a test can
 * show that a training step makes none), and losses and uncaptured errors reach one listener.
 */
export class GpuContext {
  /** How many buffers, bind groups, pipelines, ... were made on this device so far, by whomever. */
  objectsCreated = 0;
  /** Bytes of buffers made through `buffer`, less those given to `release`. */
  bufferBytes = 0;
  private readonly buffers = new Set<GPUBuffer>();
  /** Called once, with a message for people, when the device is lost or reports an error nobody caught. */
  onFailure: (kind: 'deviceLost' | 'gpuError', message: string) => void = () => {};
  private destroyed = false;

  constructor(
    readonly device: GPUDevice,
    readonly facts: AdapterFacts,
  ) {
    const countable = device as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of COUNTED) {
      const original = (countable[name] as (...args: unknown[]) => unknown).bind(device);
      countable[name] = (...args: unknown[]) => {
        this.objectsCreated++;
        return original(...args);
      };
    }
    void device.lost.then((info) => {
      if (!this.destroyed) this.onFailure('deviceLost', info.message || 'the GPU device was lost');
    });
    device.addEventListener('uncapturederror', (event) => {
      this.onFailure('gpuError', (event as GPUUncapturedErrorEvent).error.message);
    });
  }

  /** A storage or uniform buffer of `bytes` (rounded up to 16), contents zero. */
  buffer(label: string, bytes: number, usage: number = GPU_USAGE.STORAGE): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = this.device.createBuffer({ label, size, usage });
    this.buffers.add(buffer);
    this.bufferBytes += size;
    return buffer;
  }

  /** Frees buffers that were made here for a moment only. */
  release(buffers: readonly GPUBuffer[]): void {
    for (const buffer of buffers) {
      this.buffers.delete(buffer);
      this.bufferBytes -= buffer.size;
      buffer.destroy();
    }
  }

  /** Compiles a shader with an explicit layout. Throws with the compiler's messages and their lines. */
  async pipeline(shader: ComputeShader): Promise<Pipeline> {
    const { device } = this;
    // A shader that does not compile is thrown below; without the scope it would reach onFailure as well.
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ label: shader.label, code: shader.code });
    const layout = device.createBindGroupLayout({
      label: shader.label,
      entries: shader.bindings.map((b) => ({ binding: b.index, visibility: 4 /* COMPUTE */, buffer: bufferLayout(b) })),
    });
    try {
      const compiling = device.createComputePipelineAsync({
        label: shader.label,
        layout: device.createPipelineLayout({ label: shader.label, bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main' },
      });
      void device.popErrorScope();
      const pipeline = await compiling;
      return { shader, pipeline, layout };
    } catch (error) {
      const info = await module.getCompilationInfo();
      const lines = info.messages.map((m) => `${shader.label}:${m.lineNum}:${m.linePos} ${m.message}`);
      throw new Error(`shader ${shader.label} does not compile\n${lines.join('\n') || String(error)}`);
    }
  }

  /** Binds buffers to a pipeline by the names its shader declares. Throws on a missing or unknown name. */
  bind(pipeline: Pipeline, buffers: Record<string, BufferSlice>): GPUBindGroup {
    const { shader } = pipeline;
    for (const name of Object.keys(buffers)) {
      if (!shader.bindings.some((b) => b.name === name)) throw new Error(`shader ${shader.label} has no binding ${name}`);
    }
    return this.device.createBindGroup({
      label: shader.label,
      layout: pipeline.layout,
      entries: shader.bindings.map((b) => {
        const slice = buffers[b.name];
        if (!slice) throw new Error(`shader ${shader.label}: binding ${b.name} was given no buffer`);
        const resource = 'buffer' in slice ? slice : b.dynamic ? { buffer: slice, size: 256 } : { buffer: slice };
        return { binding: b.index, resource };
      }),
    });
  }

  /** Frees every buffer made through this context and the device itself. */
  destroy(): void {
    this.destroyed = true;
    for (const buffer of this.buffers) buffer.destroy();
    this.bufferBytes = 0;
    this.device.destroy();
  }
}

function bufferLayout(b: ShaderBinding): GPUBufferBindingLayout {
  if (b.kind === 'uniform') return { type: 'uniform', hasDynamicOffset: b.dynamic };
  return { type: b.kind === 'read' ? 'read-only-storage' : 'storage' };
}

/** GPUBufferUsage by value: Node has no such global. */
export const GPU_USAGE = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 | 8 | 4 } as const;

/**
 * Asks `gpu` (navigator.gpu, or Dawn's in Node) for the fastest adapter and a device with the limits it allows.
 * Throws UserError when there is no adapter or no device.
 */
export async function requestGpu(gpu: GPU | undefined): Promise<GpuContext> {
  const hint = 'Use a current Chrome, Edge, Safari 26 or Firefox 141+, and check that hardware acceleration is on.';
  if (!gpu) throw new UserError('This browser has no WebGPU.', hint);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new UserError('WebGPU is present, but no graphics adapter answered.', hint);
  const requiredFeatures = WANTED_FEATURES.filter((f) => adapter.features.has(f));
  const requiredLimits: Record<string, number> = {};
  for (const name of WANTED_LIMITS) requiredLimits[name] = adapter.limits[name];
  const info = adapter.info;
  const text = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  const fallback = (info as { isFallbackAdapter?: boolean }).isFallbackAdapter === true;
  const facts: AdapterFacts = {
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    software: fallback || /swiftshader|llvmpipe|lavapipe|warp|basic render/.test(text),
    f16: adapter.features.has('shader-f16'),
    subgroups: adapter.features.has('subgroups'),
    timestamps: adapter.features.has('timestamp-query'),
  };
  const device = await adapter.requestDevice({ label: 'ratioscope', requiredFeatures, requiredLimits });
  return new GpuContext(device, facts);
}

/** The browser's GPU: the only place that reads `navigator.gpu`. */
export function browserGpu(): GPU | undefined {
  return typeof navigator === 'undefined' ? undefined : (navigator as { gpu?: GPU }).gpu;
}
