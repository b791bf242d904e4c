import { defineKernel } from '../kernelSpec';
import gather from './decodeGather.wgsl?raw';
import embed from './decodeEmbed.wgsl?raw';
import attention from './decodeAttention.wgsl?raw';
import sample from './decodeSample.wgsl?raw';

export const decodeGather = defineKernel('decodeGather', gather);
export const decodeEmbed = defineKernel('decodeEmbed', embed);
/** HD4 is the head size in vec4, HALF half of it. */
export const decodeAttention = defineKernel('decodeAttention', attention, ['HD4', 'HALF']);
export const decodeSample = defineKernel('decodeSample', sample, ['VOCAB']);
