import { defineKernel } from '../kernelSpec';
import gather from './decodeGather.wgsl?raw';
import embed from './decodeEmbed.wgsl?raw';
import attention from './decodeAttention.wgsl?raw';
import sample from './decodeSample.wgsl?raw';
import draw from './draw.wgsl?raw';
import whole from './decodeWhole.wgsl?raw';

export const decodeGather = defineKernel('decodeGather', gather);
export const decodeEmbed = defineKernel('decodeEmbed', embed);
/** HD4 is the head size in vec4, HALF half of it. */
export const decodeAttention = defineKernel('decodeAttention', attention, ['HD4', 'HALF']);
export const decodeSample = defineKernel('decodeSample', draw + sample, ['VOCAB']);
export const decodeWhole = defineKernel('decodeWhole', draw + whole, ['CHANNELS', 'HEADS', 'HEAD', 'LAYERS', 'CONTEXT', 'VOCAB', 'HIDDEN', 'TRIPLE', 'SCORES', 'PER_THREAD']);

/** The constants of decodeWhole for a model of this size. */
export function decodeWholeConstants({ C, L, H, V, T }: { C: number; L: number; H: number; V: number; T: number }): Record<string, number> {
  return { CHANNELS: C, HEADS: H, HEAD: C / H, LAYERS: L, CONTEXT: T, VOCAB: V, HIDDEN: 4 * C, TRIPLE: 3 * C, SCORES: H * T, PER_THREAD: Math.ceil((4 * C) / 64) };
}
