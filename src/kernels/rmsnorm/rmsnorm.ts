import { defineKernel } from '../kernelSpec';
import forward from './rmsnormForward.wgsl?raw';
import backward from './rmsnormBackward.wgsl?raw';
import backwardGain from './rmsnormBackwardGain.wgsl?raw';

export const rmsnormForward = defineKernel('rmsnormForward', forward);
export const rmsnormBackward = defineKernel('rmsnormBackward', backward);
export const rmsnormBackwardGain = defineKernel('rmsnormBackwardGain', backwardGain);
