import { paramLayout, type ModelConfig } from '../../src/model/config';
import { modelOf } from './work';
import type { CellSpec, Run } from './types';

/** Multiplications and additions that the work needs at least, by the usual count (2 for a multiply-add). */

/** Weights that are multiplied with at every position. */
export function matrixWeights({ C, L, V }: ModelConfig): number {
  return L * 12 * C * C + C * V;
}

export const parameterCount = (config: ModelConfig): number => paramLayout(config).count;

/** Forward at `positions` that each look back at `context` positions on average: products with weights, scores, weighted sums. */
export function forwardFlops(config: ModelConfig, positions: number, context: number): number {
  return positions * (2 * matrixWeights(config) + 4 * config.L * config.C * context);
}

/** Forward and backward. The backward pass costs twice the forward; recomputing scores is not counted. */
export function trainFlops(config: ModelConfig, positions: number, context: number): number {
  return 3 * forwardFlops(config, positions, context);
}

/** Flops of one run of a cell; an iteration's depend on how long the answers were. */
export function cellFlops(spec: CellSpec, run?: Run): number {
  if (spec.kind === 'matmul') return 2 * spec.n ** 3;
  const config = modelOf(spec.model);
  if (spec.kind === 'train') return trainFlops(config, spec.rows * config.T, (config.T + 1) / 2);
  if (spec.kind === 'decode') return forwardFlops(config, spec.rows * spec.tokens, (spec.tokens + 1) / 2);
  const positions = run?.counts?.positions ?? 0;
  const context = (run?.counts?.meanRow ?? 0) / 2;
  return forwardFlops(config, positions, context) + trainFlops(config, positions * (run?.counts?.epochs ?? 1), context);
}
