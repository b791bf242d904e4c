import { defineKernel } from '../kernelSpec';
import wgsl from './gatherLogp.wgsl?raw';

export const gatherLogp = defineKernel('gatherLogp', wgsl);
