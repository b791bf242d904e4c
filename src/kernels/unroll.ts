const LOOP = /^([ \t]*)for \(var (\w+) = 0u; \2 < (\w+); \2\+\+\) \{ \/\/ unroll\n([\s\S]*?)^\1\}\n/m;

/**
 * Writes out loops marked `// unroll`, whose bounds are numbers or known constants: a register array that is only ever
 * indexed by literals stays in registers, which is worth a factor of two and more on software adapters.
 * Nested marked loops are written out from the outside in. Throws when a bound is not known.
 */
export function unroll(wgsl: string, constants: Record<string, number>): string {
  let text = wgsl;
  for (let match = LOOP.exec(text); match; match = LOOP.exec(text)) {
    const [whole, indent, variable, bound, body] = match as unknown as [string, string, string, string, string];
    const count = constants[bound] ?? Number.parseInt(bound, 10);
    if (!Number.isInteger(count)) throw new Error(`unroll: the bound ${bound} is not known`);
    const word = new RegExp(`\\b${variable}\\b`, 'g');
    // Each copy is a block of its own, so that names declared inside do not clash.
    const copies = Array.from({ length: count }, (_, k) => [`${indent}{`, '\n', body.replace(word, `${k}u`), `${indent}}`, '\n'].join(''));
    text = text.replace(whole, () => copies.join(''));
  }
  return text;
}
