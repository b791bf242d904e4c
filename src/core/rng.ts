/**
 * Counter-based random numbers: the same key gives the same number, on the CPU and in WGSL (kernels/prelude.wgsl),
 * in any order. The mixing function is PCG's output hash (Jarzynski & Olano, "Hash Functions for GPU Rendering", JCGT 2020).
 */

/** One round of PCG hashing: u32 -> u32. */
export function pcg(value: number): number {
  const state = (Math.imul(value, 747796405) + 2891336453) >>> 0;
  const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
  return ((word >>> 22) ^ word) >>> 0;
}

/** A u32 that depends on every part of the key (each taken modulo 2^32). */
export function hashKey(...key: number[]): number {
  let h = 0x9e3779b9;
  for (const part of key) h = pcg((h ^ (part >>> 0)) >>> 0);
  return h;
}

/** Uniform in [0, 1) with 24 bits, exactly representable in f32, for the given key. */
export function uniformAt(...key: number[]): number {
  return (hashKey(...key) >>> 8) / 16777216;
}

/** A stream of numbers from one key, for host code that just needs "the next one". */
export class Rng {
  private readonly key: number;
  private counter = 0;
  constructor(...key: number[]) {
    this.key = hashKey(...key);
  }
  /** Uniform in [0, 1). */
  uniform(): number {
    return uniformAt(this.key, this.counter++);
  }
  /** Integer in [low, high], both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.uniform() * (high - low + 1));
  }
  /** One of the items, each as likely. */
  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T;
  }
  /** Standard normal (Box-Muller). */
  normal(): number {
    const u = 1 - this.uniform();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.uniform());
  }
  /** Shuffles in place (Fisher-Yates) and returns the same array. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [items[i], items[j]] = [items[j] as T, items[i] as T];
    }
    return items;
  }
}
