import { defineKernel } from '../kernelSpec';
import forward from './attentionForward.wgsl?raw';
import backwardQuery from './attentionBackwardQuery.wgsl?raw';
import backwardKeyValue from './attentionBackwardKeyValue.wgsl?raw';

/** HD4 is the head size in vec4, HALF half of it. */
export const attentionForward = defineKernel('attentionForward', forward, ['HD4']);
export const attentionBackwardQuery = defineKernel('attentionBackwardQuery', backwardQuery, ['HD4', 'HALF']);
export const attentionBackwardKeyValue = defineKernel('attentionBackwardKeyValue', backwardKeyValue, ['HD4', 'HALF']);
