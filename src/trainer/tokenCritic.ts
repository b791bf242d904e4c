import type { NetworkState, PackedBatch, PolicyEngine, ValueInputs, ValueNetwork, ValueRecord, ValueUpdateOptions } from '../engines/engine';
import { paramLayout } from '../model/config';
import { packRows, responseOf } from './batch';
import type { TokenRows } from './batch';

/**
 * PPO's critic: a network of the policy's shape with weights of its own, which gives V of every state of an answer. It starts as a copy
 * of the policy as it is when the critic is first needed, but with V = 0 everywhere: it knows how to read the text, and nothing
 * of rewards. The two never share a weight after that.
 */
export class TokenCritic {
  readonly network: ValueNetwork;

  private constructor(network: ValueNetwork) {
    this.network = network;
  }

  /** Makes or takes over the engine's value network and starts it afresh. */
  static async start(engine: PolicyEngine): Promise<TokenCritic> {
    const [network, params] = await Promise.all([engine.openValueNetwork(), engine.readParams()]);
    const head = paramLayout(engine.config).byName.get('unembed');
    if (head) params.fill(0, head.offset, head.offset + head.size);
    network.loadParams(params);
    return new TokenCritic(network);
  }

  /** Takes over the engine's value network in the state that it was saved in. */
  static async resume(engine: PolicyEngine, state: NetworkState): Promise<TokenCritic> {
    const network = await engine.openValueNetwork();
    network.loadState(state);
    return new TokenCritic(network);
  }

  /** V before each response token of every row, scored in parts of `rowsPerBatch`; [R][T]. */
  async values(source: TokenRows, rowsPerBatch: number): Promise<Float32Array[]> {
    const rows = source.lengths.length;
    const out: Float32Array[] = [];
    for (let from = 0; from < rows; from += rowsPerBatch) {
      const part = Array.from({ length: Math.min(rowsPerBatch, rows - from) }, (_, i) => from + i);
      const packed = packRows(source, part);
      const values = await this.network.values(packed);
      part.forEach((r, i) => (out[r] = responseOf(packed, source.promptLength, values, i)));
    }
    return out;
  }

  /** Enqueues one update towards the returns, each token of the batch weighing the same. `values` and `returns`: [rows][T]. */
  update(packed: PackedBatch, promptLength: number, values: readonly ArrayLike<number>[], returns: readonly ArrayLike<number>[], options: ValueUpdateOptions): void {
    const N = packed.positions;
    const tokens = returns.reduce((sum, row) => sum + row.length, 0);
    const inputs: ValueInputs = { oldValues: new Float32Array(N), returns: new Float32Array(N), weight: new Float32Array(N) };
    returns.forEach((row, i) => {
      const start = packed.rowStart[i] + promptLength - 1;
      inputs.oldValues.set(values[i], start);
      inputs.returns.set(row, start);
      inputs.weight.fill(1 / tokens, start, start + row.length);
    });
    this.network.update(packed, inputs, options);
  }

  collect(): Promise<ValueRecord[]> {
    return this.network.collect();
  }
}
