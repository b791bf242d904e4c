import { defineKernel } from '../kernelSpec';
import reduce from './gradientReduce.wgsl?raw';
import norm from './gradientNorm.wgsl?raw';

export const gradientReduce = defineKernel('gradientReduce', reduce);
export const gradientNorm = defineKernel('gradientNorm', norm);
