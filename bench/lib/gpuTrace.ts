/**
 * Watches a device from outside: counts its commands, and while profiling puts every dispatch into a pass of its own
 * between two timestamps. Nothing in the engine knows of it.
 */
export interface GpuTrace {
  counts: Record<'dispatches' | 'passes' | 'submits' | 'buffer writes' | 'readbacks', number>;
  resetCounts(): void;
  /** From now on dispatches are timed, until `stop`, which waits for the GPU and returns them in order. */
  start(): void;
  stop(): Promise<TimedDispatch[]>;
}

export interface TimedDispatch {
  /** Label of the pipeline. */
  kernel: string;
  ms: number;
}

/** Timestamps of one query set; a new set is made when it is full. */
const SLOTS = 2048;

export function traceGpu(device: GPUDevice): GpuTrace {
  const counts: GpuTrace['counts'] = { dispatches: 0, passes: 0, submits: 0, 'buffer writes': 0, readbacks: 0 };
  let profiling = false;
  let sets: { set: GPUQuerySet; labels: string[] }[] = [];

  const slot = (label: string): { querySet: GPUQuerySet; beginningOfPassWriteIndex: number; endOfPassWriteIndex: number } => {
    let last = sets.at(-1);
    if (!last || last.labels.length * 2 >= SLOTS) {
      last = { set: device.createQuerySet({ type: 'timestamp', count: SLOTS }), labels: [] };
      sets.push(last);
    }
    const first = last.labels.length * 2;
    last.labels.push(label);
    return { querySet: last.set, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
  };

  const createCommandEncoder = device.createCommandEncoder.bind(device);
  device.createCommandEncoder = (descriptor) => {
    const encoder = createCommandEncoder(descriptor);
    const beginComputePass = encoder.beginComputePass.bind(encoder);
    encoder.beginComputePass = (d) => {
      counts.passes++;
      if (profiling) return timedPass(beginComputePass, slot, counts);
      const pass = beginComputePass(d);
      const dispatch = pass.dispatchWorkgroups.bind(pass);
      pass.dispatchWorkgroups = (...size) => {
        counts.dispatches++;
        return dispatch(...size);
      };
      return pass;
    };
    return encoder;
  };
  const { queue } = device;
  const count = (name: 'submit' | 'writeBuffer', as: keyof GpuTrace['counts']): void => {
    const methods = queue as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[name].bind(queue);
    methods[name] = (...args) => {
      counts[as]++;
      return original(...args);
    };
  };
  count('submit', 'submits');
  count('writeBuffer', 'buffer writes');
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    const mapAsync = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = (...args) => {
      counts.readbacks++;
      return mapAsync(...args);
    };
    return buffer;
  };

  return {
    counts,
    resetCounts: () => {
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0;
    },
    start: () => {
      profiling = true;
      sets = [];
    },
    stop: async () => {
      profiling = false;
      const result: TimedDispatch[] = [];
      for (const { set, labels } of sets) {
        const times = await resolve(device, createCommandEncoder, set, labels.length * 2);
        labels.forEach((kernel, i) => result.push({ kernel, ms: Number(times[2 * i + 1] - times[2 * i]) / 1e6 }));
        set.destroy();
      }
      return result;
    },
  };
}

/** Stands in for a compute pass: the state is kept, and each dispatch opens a real pass. */
function timedPass(begin: GPUCommandEncoder['beginComputePass'], slot: (label: string) => GPUComputePassTimestampWrites, counts: GpuTrace['counts']): GPUComputePassEncoder {
  let pipeline: GPUComputePipeline | undefined;
  let group: [GPUBindGroup, number[] | undefined] | undefined;
  const pass = {
    setPipeline: (p: GPUComputePipeline) => {
      pipeline = p;
    },
    setBindGroup: (_: number, g: GPUBindGroup, offsets?: number[]) => {
      group = [g, offsets && [...offsets]];
    },
    dispatchWorkgroups: (...size: [number, number?, number?]) => {
      if (!pipeline || !group) throw new Error('a dispatch without pipeline or bind group');
      counts.dispatches++;
      const real = begin({ timestampWrites: slot(pipeline.label) });
      real.setPipeline(pipeline);
      if (group[1]) real.setBindGroup(0, group[0], group[1]);
      else real.setBindGroup(0, group[0]);
      real.dispatchWorkgroups(...size);
      real.end();
    },
    end: () => {},
  };
  return pass as unknown as GPUComputePassEncoder;
}

async function resolve(device: GPUDevice, createCommandEncoder: GPUDevice['createCommandEncoder'], set: GPUQuerySet, n: number): Promise<BigUint64Array> {
  const QUERY_RESOLVE = 512;
  const target = device.createBuffer({ label: 'timestamps', size: n * 8, usage: QUERY_RESOLVE | 4 });
  const read = device.createBuffer({ label: 'timestampsRead', size: n * 8, usage: 1 | 8 });
  const encoder = createCommandEncoder({ label: 'timestamps' });
  encoder.resolveQuerySet(set, 0, n, target, 0);
  encoder.copyBufferToBuffer(target, 0, read, 0, n * 8);
  device.queue.submit([encoder.finish()]);
  await read.mapAsync(1);
  const times = new BigUint64Array(read.getMappedRange().slice(0));
  read.unmap();
  target.destroy();
  read.destroy();
  return times;
}
