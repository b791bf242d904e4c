import fc from 'fast-check';

/** What stands in for a value in a damaged message or file: of the wrong kind, out of range, or only odd. */
export const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, '', '0', '__proto__', NaN, Infinity, -Infinity, -0, -1, 0.5, 1e308, 2 ** 53, [], {}, [[]], [null], { length: 3 }),
  fc.double(), fc.integer(), fc.string({ unit: 'binary', maxLength: 20 }), fc.array(fc.double(), { maxLength: 4 }),
  fc.float32Array({ maxLength: 4 }), fc.uint32Array({ maxLength: 4 }),
);

/** One to three changes of fields anywhere inside a value. */
export interface Damage {
  /** Which field of all, as a share; what becomes of it; what is put there. */
  changes: { at: number; kind: 'put' | 'drop' | 'add' | 'repeat'; odd: unknown }[];
}

export const DAMAGE: fc.Arbitrary<Damage> = fc.record({
  changes: fc.array(fc.record({ at: fc.double({ min: 0, max: 0.999999, noNaN: true }), kind: fc.constantFrom('put', 'put', 'put', 'drop', 'add', 'repeat'), odd: ODD }), { minLength: 1, maxLength: 3 }),
});

type Owner = Record<string, unknown> | unknown[];

/** Every (owner, key) inside a value, typed arrays' elements aside. */
function places(value: unknown, out: { owner: Owner; key: string }[] = []): { owner: Owner; key: string }[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return out;
  for (const key of Object.keys(value)) {
    out.push({ owner: value as Owner, key });
    places((value as Record<string, unknown>)[key], out);
  }
  return out;
}

/** A damaged copy; the original stays. */
export function damaged<T>(original: T, { changes }: Damage): unknown {
  const root = { value: structuredClone(original) as unknown };
  for (const { at, kind, odd } of changes) {
    const all = places(root);
    const { owner, key } = all[Math.floor(at * all.length)] ?? { owner: root, key: 'value' };
    const fields = owner as Record<string, unknown>;
    if (kind === 'drop' && Array.isArray(owner)) owner.splice(Number(key), 1);
    else if (kind === 'drop') delete fields[key];
    else if (kind === 'add' && Array.isArray(owner)) owner.push(odd);
    else if (kind === 'add') fields[`${key}Odd`] = odd;
    else if (kind === 'repeat' && Array.isArray(owner)) owner.push(structuredClone(owner[Number(key)]));
    else fields[key] = odd;
  }
  return root.value;
}
