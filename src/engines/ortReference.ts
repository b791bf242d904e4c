import { UserError, invariant } from '../core/errors';
import type { AdapterFacts, GpuContext } from '../gpu/device';
import { gatherLogpCpu } from '../kernels/gatherLogp/gatherLogp.cpu';
import type { ModelConfig } from '../model/config';
import { NO_TARGET, type PackedBatch, type ReferencePolicy } from './engine';
import { OrtGpuScorer } from './ortGpuScorer';
import { OrtSession, exclusive, loadOrt, reason, type OrtModule, type OrtProvider } from './ortSession';
import { padBatch } from './padBatch';

/**
 * The frozen reference policy: the shipped ONNX graph in onnxruntime-web. Import this file only when the KL coefficient
 * is above 0, by `await import(...)`: it brings the runtime with it.
 */

export interface OrtReferenceOptions {
  /** The ONNX file of the base policy. */
  modelBytes: Uint8Array;
  config: ModelConfig;
  /** See `providerFor`. */
  provider: OrtProvider;
  /** Our device; needed by the WebGPU provider, which then runs on it, unused by WASM. */
  gpu?: GpuContext;
}

/** WASM on software adapters (a hundred times faster there) and without a browser; WebGPU on our own device otherwise. */
export function providerFor(facts: Pick<AdapterFacts, 'software'>): OrtProvider {
  const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
  return facts.software || inNode ? 'wasm' : 'webgpu';
}

/** Scores a padded batch: log-probs of the targets, [N]. */
interface Scorer {
  readonly description: string;
  score(batch: PackedBatch, temperature: number): Promise<Float32Array>;
  destroy(): Promise<void>;
}

/** Rows per run of the WASM provider; bounds its memory for large batches. */
const WASM_ROWS = 64;

class WasmScorer implements Scorer {
  private readonly session: OrtSession;

  constructor(
    private readonly ort: OrtModule,
    modelBytes: Uint8Array,
    private readonly config: ModelConfig,
    readonly description: string,
  ) {
    this.session = new OrtSession(ort, modelBytes, { executionProviders: ['wasm'] });
  }

  async score(batch: PackedBatch, temperature: number): Promise<Float32Array> {
    const { V, T } = this.config;
    const padded = padBatch(batch, T);
    const out = new Float32Array(batch.positions);
    for (let row = 0; row < padded.rows; row += WASM_ROWS) {
      const end = Math.min(padded.rows, row + WASM_ROWS);
      const tokens = padded.tokens.subarray(row * padded.length, end * padded.length);
      const { logits } = await this.session.run({ tokens: new this.ort.Tensor('int32', tokens, [end - row, padded.length]) });
      invariant(logits && logits.data instanceof Float32Array, 'the graph has a float32 output named logits');
      const [from, to] = [batch.rowStart[row] as number, batch.rowStart[end] as number];
      const source = padded.source.subarray(from, to).map((at) => at - row * padded.length);
      out.set(gatherLogpCpu(logits.data, source, batch.targets.subarray(from, to), V, temperature), from);
    }
    return out;
  }

  destroy(): Promise<void> {
    return this.session.release();
  }
}

/** A batch of one row, to compile and check everything before training waits for it. */
const WARM_UP: PackedBatch = {
  rows: 1,
  positions: 2,
  inputs: Uint32Array.of(0, 1),
  pos: Uint32Array.of(0, 1),
  targets: Uint32Array.of(NO_TARGET, 1),
  rowStart: Uint32Array.of(0, 2),
};

async function started(scorer: Scorer): Promise<Scorer> {
  try {
    requireFinite(await scorer.score(WARM_UP, 1));
    return scorer;
  } catch (error) {
    await scorer.destroy();
    throw error;
  }
}

async function createScorer({ modelBytes, config, provider, gpu }: OrtReferenceOptions): Promise<Scorer> {
  let note = '';
  if (provider === 'webgpu') {
    if (!gpu) throw new Error('the WebGPU provider needs the device');
    try {
      return await started(await OrtGpuScorer.create(await loadOrt('webgpu'), modelBytes, config, gpu));
    } catch (error) {
      note = ` (the WebGPU provider did not start: ${reason(error)})`;
    }
  }
  return started(new WasmScorer(await loadOrt('wasm'), modelBytes, config, `onnxruntime-web, WASM provider${note}`));
}

function requireFinite(logp: Float32Array): Float32Array {
  if (!logp.every(Number.isFinite)) throw new UserError('The reference policy gave a log-probability that is not finite.', 'Reload the page; if it stays, set the KL coefficient to 0.');
  return logp;
}

/**
 * Loads the runtime and the model and runs it once. Takes 0.1 to 1 s with WASM, several seconds with WebGPU (it compiles
 * its shaders). Where the WebGPU provider does not start, WASM takes over and `description` says why.
 * @throws UserError when the runtime or the model does not work.
 */
export async function createOrtReference(options: OrtReferenceOptions): Promise<ReferencePolicy> {
  const scorer = await exclusive(() => createScorer(options));
  let destroyed = false;
  return {
    description: scorer.description,
    logp(batch, temperature) {
      invariant(temperature > 0, `temperature ${temperature}`);
      return exclusive(async () => {
        invariant(!destroyed, 'the reference policy was destroyed');
        return batch.positions === 0 ? new Float32Array(0) : requireFinite(await scorer.score(batch, temperature));
      });
    },
    destroy() {
      return exclusive(async () => {
        if (!destroyed) await scorer.destroy();
        destroyed = true;
      });
    },
  };
}
