import type { TokenLoss } from '../../objectives/types';
import { defineKernel, type KernelSpec } from '../kernelSpec';
import shell from './policyLoss.wgsl?raw';

const SLOT = '/*OBJECTIVE*/';

/**
 * The policy-loss kernel of one objective: the shell of policyLoss.wgsl around the token loss's own WGSL.
 * Dispatch one thread per row. Throws when the token loss does not declare what the shell calls.
 */
export function policyLossSpec(loss: TokenLoss): KernelSpec {
  for (const name of ['const MEAN_COUNT', 'fn meanLevel(', 'fn meanTerm(', 'fn tokenLoss(']) {
    if (!loss.wgsl.includes(name)) throw new Error(`token loss ${loss.id}: its WGSL lacks "${name}"`);
  }
  return defineKernel(`policyLoss.${loss.id}`, shell.replace(SLOT, () => loss.wgsl));
}
