import { defineKernel } from '../kernelSpec';
import forward from './valueForward.wgsl?raw';
import backward from './valueBackward.wgsl?raw';

export const valueForward = defineKernel('valueForward', forward);
export const valueBackward = defineKernel('valueBackward', backward);
