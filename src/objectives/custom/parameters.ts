import { beta, clipWidth, dualClip } from '../defs/shared';
import type { HyperparameterSpec } from '../types';
import { nameTex } from './symbols';

/**
 * Parameters that mean the same in every objective and share a setting with it: their words and symbols are known.
 * `clipLow` and `clipHigh` are the clip widths of the objective's level; `beta` is the weight for which the reference policy is loaded.
 */
const SHARED: Readonly<Record<string, HyperparameterSpec>> = { clipLow: clipWidth('low', 0.2, 'token', {}), clipHigh: clipWidth('high', 0.2, 'token', {}), dualClip: dualClip(0), beta };

export interface Declaration {
  name: string;
  value: number;
  min: number;
  max: number;
  step: number | null;
  help: string;
}

/** A declared parameter as the page's controls take it. */
export function parameterSpec({ name, value, min, max, step, help }: Declaration): HyperparameterSpec {
  const shared = Object.hasOwn(SHARED, name) ? SHARED[name] : null;
  return {
    name,
    label: shared?.label ?? name,
    help: help || shared?.help || `Declared by the objective, ${min} to ${max}.`,
    unit: shared?.unit ?? 'dimensionless',
    tex: shared?.tex ?? nameTex(name),
    default: value,
    min,
    max,
    step: step ?? (max - min) / 100,
    ...(shared?.named?.off !== undefined && { named: { off: shared.named.off } }),
    ...(shared?.zeroOrAbove !== undefined && { zeroOrAbove: shared.zeroOrAbove }),
  };
}
