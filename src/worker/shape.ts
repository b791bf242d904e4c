/**
 * Small validators for messages. A guard built here checks every field of the type it names, and that there are no
 * others, so a field that one side sends and the other does not know is found at the first message.
 */

/** True when `value` is a T. */
export type Guard<T> = (value: unknown) => value is T;

export const isString: Guard<string> = (value): value is string => typeof value === 'string';
export const isBoolean: Guard<boolean> = (value): value is boolean => typeof value === 'boolean';
/** Any number but NaN; infinities are for events, which report what was measured. */
export const isNumber: Guard<number> = (value): value is number => typeof value === 'number' && !Number.isNaN(value);
/** A whole number from 0, exactly representable. */
export const isCount: Guard<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isFloats: Guard<Float32Array> = (value): value is Float32Array => value instanceof Float32Array;
export const isDoubles: Guard<Float64Array> = (value): value is Float64Array => value instanceof Float64Array;
export const isUints: Guard<Uint32Array> = (value): value is Uint32Array => value instanceof Uint32Array;

/** An object with string keys: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One of a few strings. */
export function oneOf<const T extends readonly string[]>(...values: T): Guard<T[number]> {
  return (value): value is T[number] => typeof value === 'string' && values.includes(value);
}

export function nullable<T>(guard: Guard<T>): Guard<T | null> {
  return (value): value is T | null => value === null || guard(value);
}

export function arrayOf<T>(guard: Guard<T>): Guard<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every(guard);
}

/** Any keys, each value a T. */
export function dictionaryOf<T>(guard: Guard<T>): Guard<Record<string, T>> {
  return (value): value is Record<string, T> => isRecord(value) && Object.values(value).every(guard);
}

/** Exactly these fields. */
export function record<T extends object>(fields: { [K in keyof T]-?: Guard<T[K]> }): Guard<T> {
  const entries = Object.entries<Guard<unknown>>(fields);
  return (value): value is T =>
    isRecord(value) && Object.keys(value).length === entries.length && entries.every(([name, guard]) => Object.hasOwn(value, name) && guard(value[name]));
}

/** These fields, and perhaps some of the optional ones. */
export function recordWith<T extends object, K extends keyof T>(fields: { [F in Exclude<keyof T, K>]-?: Guard<T[F]> }, optional: { [F in K]-?: Guard<NonNullable<T[F]>> }): Guard<T> {
  const needed = Object.entries<Guard<unknown>>(fields);
  const further = new Map<string, Guard<unknown>>(Object.entries<Guard<unknown>>(optional));
  return (value): value is T =>
    isRecord(value) &&
    needed.every(([name, guard]) => Object.hasOwn(value, name) && guard(value[name])) &&
    Object.keys(value).every((name) => Object.hasOwn(fields, name) || (further.get(name)?.(value[name]) ?? false));
}

/** A union told apart by `type`: one guard for every member, which checks the fields besides `type`. */
export function tagged<T extends { type: string }>(members: { [K in T['type']]: Guard<Omit<Extract<T, { type: K }>, 'type'>> }): Guard<T> {
  const byTag = new Map<string, Guard<unknown>>(Object.entries<Guard<unknown>>(members));
  return (value): value is T => {
    if (!isRecord(value) || typeof value.type !== 'string') return false;
    const { type, ...rest } = value;
    return byTag.get(type)?.(rest) ?? false;
  };
}
