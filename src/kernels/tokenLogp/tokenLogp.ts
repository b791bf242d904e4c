import { defineKernel } from '../kernelSpec';
import forward from './tokenLogpForward.wgsl?raw';
import backward from './tokenLogpBackward.wgsl?raw';

export const tokenLogpForward = defineKernel('tokenLogpForward', forward);
export const tokenLogpBackward = defineKernel('tokenLogpBackward', backward);
