/** A compute shader as the GPU layer takes it. Bindings are parsed from the WGSL itself, so there is one declaration only. */
export interface ComputeShader {
  label: string;
  code: string;
  bindings: readonly ShaderBinding[];
  workgroupSize: number;
}

export interface ShaderBinding {
  name: string;
  index: number;
  kind: 'uniform' | 'read' | 'readWrite';
  /** A uniform bound with a dynamic offset: its declaration ends in the comment `// dynamic`. */
  dynamic: boolean;
}

const DECLARATION = /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(uniform|storage)\s*(?:,\s*(read|read_write)\s*)?>\s*(\w+)\s*:[^;]*;[ \t]*(\/\/\s*dynamic)?/g;

/** Reads the `@group(0) @binding(n) var<...> name` lines of a shader. Throws when indices repeat or have gaps. */
export function parseBindings(label: string, code: string): ShaderBinding[] {
  const bindings: ShaderBinding[] = [];
  for (const match of code.matchAll(DECLARATION)) {
    const [, index, space, access, name, dynamic] = match;
    const kind = space === 'uniform' ? 'uniform' : access === 'read_write' ? 'readWrite' : 'read';
    bindings.push({ name: name as string, index: Number(index), kind, dynamic: dynamic !== undefined });
  }
  bindings.sort((a, b) => a.index - b.index);
  bindings.forEach((b, i) => {
    if (b.index !== i) throw new Error(`shader ${label}: binding ${i} is missing or declared twice`);
  });
  return bindings;
}

/** Parses `@workgroup_size(n)`; the shaders here are one-dimensional. */
export function parseWorkgroupSize(label: string, code: string): number {
  const match = /@workgroup_size\((\d+)\)/.exec(code);
  if (!match) throw new Error(`shader ${label}: no @workgroup_size(n)`);
  return Number(match[1]);
}
