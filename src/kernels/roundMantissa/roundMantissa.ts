import { defineKernel } from '../kernelSpec';
import wgsl from './roundMantissa.wgsl?raw';

export const roundMantissa = defineKernel('roundMantissa', wgsl);
