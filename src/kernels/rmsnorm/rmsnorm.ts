import { defineKernel } from '../kernelSpec';
import backward from './rmsnormBackward.wgsl?raw';
import backwardGain from './rmsnormBackwardGain.wgsl?raw';

// Forward is part of the product that reads the normalised rows: matmul.wgsl.
export const rmsnormBackward = defineKernel('rmsnormBackward', backward);
export const rmsnormBackwardGain = defineKernel('rmsnormBackwardGain', backwardGain);
