import { defineKernel } from '../kernelSpec';
import tile from './tile.wgsl?raw';
import tileInput from './tileInput.wgsl?raw';
import forward from './matmulForward.wgsl?raw';
import residual from './matmulResidual.wgsl?raw';
import activation from './matmulActivation.wgsl?raw';
import backwardInput from './matmulBackwardInput.wgsl?raw';
import backwardInputActivation from './matmulBackwardInputActivation.wgsl?raw';
import backwardWeight from './matmulBackwardWeight.wgsl?raw';

export const matmulForward = defineKernel('matmulForward', tile + forward);
export const matmulResidual = defineKernel('matmulResidual', tile + residual);
export const matmulActivation = defineKernel('matmulActivation', tile + activation);
export const matmulBackwardInput = defineKernel('matmulBackwardInput', tileInput + backwardInput);
export const matmulBackwardInputActivation = defineKernel('matmulBackwardInputActivation', tileInput + backwardInputActivation);
export const matmulBackwardWeight = defineKernel('matmulBackwardWeight', backwardWeight);
