import { defineKernel } from '../kernelSpec';
import forward from './attentionForward.wgsl?raw';
import backwardQuery from './attentionBackwardQuery.wgsl?raw';
import backwardKeyValue from './attentionBackwardKeyValue.wgsl?raw';

/** HD4 is the head size in vec4. */
export const attentionForward = defineKernel('attentionForward', forward, ['HD4']);
export const attentionBackwardQuery = defineKernel('attentionBackwardQuery', backwardQuery, ['HD4']);
export const attentionBackwardKeyValue = defineKernel('attentionBackwardKeyValue', backwardKeyValue, ['HD4']);
