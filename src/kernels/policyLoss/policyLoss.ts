import type { TokenLoss } from '../../objectives/types';
import { defineKernel, type KernelSpec } from '../kernelSpec';
import shell from './policyLoss.wgsl?raw';
import groups from './policyLossGroups.wgsl?raw';
import rows from './policyLossRows.wgsl?raw';

const SLOT = '/*OBJECTIVE*/';

/** How the work is shared out: a thread for each row, or a workgroup for each row. */
export type LossSharing = 'rows' | 'groups';
const MAINS: Record<LossSharing, string> = { rows, groups };

/** What suits an adapter: software pays too much for barriers, a GPU for few threads with much work each. */
export const lossSharingFor = (facts: { software: boolean }): LossSharing => (facts.software ? 'rows' : 'groups');

/**
 * The policy-loss kernel of one objective: the shell of policyLoss.wgsl around the token loss's own WGSL.
 * Throws when the token loss does not declare what the shell calls.
 */
export function policyLossSpec(loss: TokenLoss, sharing: LossSharing): KernelSpec {
  for (const name of ['const MEAN_COUNT', 'fn meanLevel(', 'fn meanTerm(', 'fn tokenLoss(']) {
    if (!loss.wgsl.includes(name)) throw new Error(`token loss ${loss.id}: its WGSL lacks "${name}"`);
  }
  return defineKernel(`policyLoss.${loss.id}`, shell.replace(SLOT, () => loss.wgsl) + MAINS[sharing]);
}

/** Threads to dispatch for `count` rows. */
export const policyLossThreads = (sharing: LossSharing, count: number): number => (sharing === 'rows' ? count : count * 64);
