import { defineKernel } from '../kernelSpec';
import forward from './embedForward.wgsl?raw';
import backward from './embedBackward.wgsl?raw';

export const embedForward = defineKernel('embedForward', forward);
export const embedBackward = defineKernel('embedBackward', backward);
