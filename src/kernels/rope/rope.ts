import { defineKernel } from '../kernelSpec';
import wgsl from './rope.wgsl?raw';

export const rope = defineKernel('rope', wgsl);

/**
 * Cosines and sines of every position: [T, hd], hd/2 cosines then hd/2 sines; angle = position * base^(-2i/hd)
 * (Su et al. 2021, arXiv 2104.09864, eq. 15, with the two halves of a head paired).
 */
export function ropeTable(T: number, hd: number, base: number): Float32Array<ArrayBuffer> {
  const half = hd / 2;
  const table = new Float32Array(T * hd);
  for (let t = 0; t < T; t++) {
    for (let i = 0; i < half; i++) {
      const angle = t * base ** ((-2 * i) / hd);
      table[t * hd + i] = Math.cos(angle);
      table[t * hd + half + i] = Math.sin(angle);
    }
  }
  return table;
}
