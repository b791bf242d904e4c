import { defineKernel } from '../kernelSpec';
import wgsl from './adamw.wgsl?raw';

export const adamw = defineKernel('adamw', wgsl);
