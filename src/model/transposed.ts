import type { BufferSlice, GpuContext } from '../gpu/device';
import type { Dispatch } from '../gpu/program';
import { uniform4, type GpuParams } from './parameters';
import type { ParamLayout } from './config';
import type { ModelPipelines } from './pipelines';

/** For each place of the transposed parameters, the place it is filled from; [flat]. Every weight keeps its offset. */
export function transposedIndex(layout: ParamLayout): Uint32Array<ArrayBuffer> {
  const index = Uint32Array.from({ length: layout.flatSize }, (_, i) => i);
  for (const { shape, offset } of layout.specs) {
    const [rows, columns = 1] = shape;
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) index[offset + c * rows + r] = offset + r * columns + c;
  }
  return index;
}

/** A copy of the parameters with every matrix transposed, [columns, rows], and the dispatch that refreshes it. */
export function transposedParams(ctx: GpuContext, p: ModelPipelines, params: GpuParams, label: string): { dispatch: Dispatch; slice(name: string): BufferSlice } {
  const { flatSize, byName } = params.layout;
  const index = ctx.buffer(`${label}.transposedIndex`, flatSize * 4);
  ctx.device.queue.writeBuffer(index, 0, transposedIndex(params.layout));
  const result = ctx.buffer(`${label}.transposed`, flatSize * 4);
  return {
    dispatch: {
      pipeline: p.permute,
      bindGroup: ctx.bind(p.permute, { dims: uniform4(ctx, `${label}.transposedDims`, [flatSize]), index, source: params.buffer, result }),
      threads: () => flatSize,
    },
    slice: (name) => {
      const spec = byName.get(name);
      if (!spec) throw new Error(`no parameter is called ${name}`);
      return { buffer: result, offset: spec.offset * 4, size: spec.size * 4 };
    },
  };
}
