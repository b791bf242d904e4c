import { parseBindings, parseWorkgroupSize, type ComputeShader } from '../gpu/shader';
import { unroll } from './unroll';
import prelude from './prelude.wgsl?raw';

/**
 * A kernel: its WGSL and, in the same folder, an f64 twin that tests hold it against. `constants` are u32 values the
 * WGSL leaves undeclared (array sizes must be known when it compiles).
 */
export interface KernelSpec {
  name: string;
  wgsl: string;
  constants: readonly string[];
}

/** Checks the declarations at load, so that a broken shader fails at once and not at its first use. */
export function defineKernel(name: string, wgsl: string, constants: readonly string[] = []): KernelSpec {
  parseBindings(name, wgsl);
  parseWorkgroupSize(name, wgsl);
  return { name, wgsl, constants };
}

/** The complete shader of a kernel, prelude and constants included. Throws when a constant is missing. */
export function shaderOf(spec: KernelSpec, constants: Record<string, number> = {}): ComputeShader {
  const lines = spec.constants.map((name) => {
    const value = constants[name];
    if (value === undefined) throw new Error(`kernel ${spec.name}: constant ${name} was not given`);
    return `const ${name}: u32 = ${value}u;`;
  });
  // Directives must stand before all else.
  const [directives] = /^((enable|diagnostic)\b.*\n)*/.exec(spec.wgsl) as unknown as [string];
  return {
    label: spec.name,
    code: `${directives}${lines.join('\n')}\n${prelude}\n${unroll(spec.wgsl.slice(directives.length), constants)}`,
    bindings: parseBindings(spec.name, spec.wgsl),
    workgroupSize: parseWorkgroupSize(spec.name, spec.wgsl),
  };
}
