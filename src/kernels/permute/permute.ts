import { defineKernel } from '../kernelSpec';
import wgsl from './permute.wgsl?raw';

export const permute = defineKernel('permute', wgsl);
