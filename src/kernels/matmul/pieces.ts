/**
 * How four neighbouring lanes get at four consecutive values of the left factor. With `quads` each lane loads one of them
 * and the quad passes them round (subgroup operations, which need four consecutive invocations to be a quad); without,
 * every lane loads all four. A load costs a software adapter as much as some twenty multiply-adds.
 *
 * Writes out, in a shader: `Piece`, the type of a lane's share; `LOAD(array, index)`; `SPREAD(piece, q)`, value q of the
 * four; `TOTAL(piece)`, the sum over the four. `lane` is the lane's number, 0 .. 3.
 */
export function withPieces(wgsl: string, quads: boolean): string {
  const written = wgsl
    .replace(/LOAD\((\w+), ([^()]+)\)/g, (_, array: string, i: string) => (quads ? `${array}[${i} + lane]` : `vec4f(${[0, 1, 2, 3].map((q) => `${array}[${i} + ${q}u]`).join(', ')})`))
    .replace(/SPREAD\(([^(),]+), (\w+)\)/g, (_, piece: string, q: string) => (quads ? `quadBroadcast(${piece}, ${q})` : `${piece}[${q}]`))
    .replace(/TOTAL\(([^(),]+)\)/g, (_, piece: string) => (quads ? `(${[0, 1, 2, 3].map((q) => `quadBroadcast(${piece}, ${q}u)`).join(' + ')})` : `dot(${piece}, vec4f(1.0))`));
  // The four lanes follow one control flow, which is all that quad operations need; the analysis asks for whole subgroups.
  const directives = quads ? 'enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n' : '';
  return `${directives}alias Piece = ${quads ? 'f32' : 'vec4f'};\n${written}`;
}
