import { UserError } from '../src/core/errors';
import { segmentTokens, type ObjectiveBatch, type SegmentOptions } from '../src/objectives';

/** Reads and checks the batches that `eval` is given. */

/** One batch as it stands in the input. Pads may hold anything. */
export type RawBatch = Record<string, unknown>;

type Cell = number | null;

/** Everything but the advantages, which need the objective. */
export type BatchWithoutAdvantages = Omit<ObjectiveBatch, 'advantages'> & { notes: string[] };

const FIELDS = [
  ...['oldLogp', 'newLogp', 'mask', 'segments', 'tokens', 'entropy', 'advantages', 'rewards', 'groups', 'values', 'refLogp', 'maxTokens', 'meanEntropy'],
  ...['objective', 'ratioLevel', 'clipLevel', 'set', 'delimiters', 'minSegLen', 'digitGuard', 'eos', 'name', 'id'],
];

/**
 * A JSON object, an array of them, or JSON Lines. Bare NaN and Infinity, which Python writes, count as null.
 * Throws UserError that names the line.
 */
export function parseBatches(text: string): RawBatch[] {
  const whole = tryParse(text);
  const values = whole !== undefined ? (Array.isArray(whole) ? whole : [whole]) : parseLines(text);
  if (values.length === 0) throw new UserError('The input holds no batch.', 'Give a JSON object, or one per line.');
  return values.map((value, i) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UserError(`Batch ${i + 1} is not a JSON object.`, 'Give an object with oldLogp, newLogp, mask and advantages.');
    return value as RawBatch;
  });
}

function parseLines(text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const value = tryParse(line);
    if (value === undefined) throw new UserError(`Line ${i + 1} of the input is not JSON.`, 'Give one JSON object, or JSON Lines.');
    return [value];
  });
}

function tryParse(text: string): unknown {
  const candidates = [text, text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (match) => (match.startsWith('"') ? match : 'null'))];
  for (const candidate of candidates) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // The next candidate, or undefined.
    }
  }
  return undefined;
}

/** Checks shapes and numbers and returns the batch. Throws UserError that names the field and the place. */
export function readBatch(raw: RawBatch): BatchWithoutAdvantages {
  const notes: string[] = [];
  const ignored = Object.keys(raw).filter((key) => !FIELDS.includes(key));
  if (ignored.length) notes.push(`ignored fields: ${ignored.join(', ')}`);
  const mask = readMask(raw);
  const table = (field: string) => readTable(raw, field, mask);
  const batch: BatchWithoutAdvantages = { oldLogp: table('oldLogp'), newLogp: table('newLogp'), mask, segments: readSegments(raw, mask, notes), notes };
  if (present(raw.refLogp)) batch.refLogp = table('refLogp');
  if (present(raw.entropy)) batch.entropy = table('entropy');
  for (const field of ['maxTokens', 'meanEntropy'] as const) {
    if (!present(raw[field])) continue;
    const value = raw[field];
    if (typeof value !== 'number' || !(value > 0)) throw new UserError(`${field} must be a number greater than 0.`);
    batch[field] = value;
  }
  return batch;
}

export const present = (value: unknown): boolean => value !== undefined && value !== null;

/** A list with one entry per response; [B]. */
export function readColumn(raw: RawBatch, field: string, B: number): unknown[] {
  const value = raw[field];
  if (!Array.isArray(value) || value.length !== B) {
    throw new UserError(`${field} must be a list of ${B} entries, one per response; it ${Array.isArray(value) ? `has ${value.length}` : 'is no list'}.`);
  }
  return value;
}

function readMask(raw: RawBatch): Uint8Array[] {
  const rows = raw.mask;
  if (!Array.isArray(rows) || rows.length === 0) throw new UserError('mask is missing or empty.', 'Give a list of rows [B][T] of 0 and 1.');
  const T = Array.isArray(rows[0]) ? rows[0].length : 0;
  return rows.map((row: unknown, r) => {
    checkRow('mask', row, r, T);
    const values = row.map((value, t) => {
      if (value !== 0 && value !== 1 && typeof value !== 'boolean') throw new UserError(`mask[${r}][${t}] is ${JSON.stringify(value)}, not 0 or 1.`);
      return Number(value);
    });
    if (!values.includes(1)) throw new UserError(`mask[${r}] has no 1: response ${r} counts no token.`, 'Leave such responses out of the batch.');
    return Uint8Array.from(values);
  });
}

function checkRow(field: string, row: unknown, r: number, T: number): asserts row is unknown[] {
  if (!Array.isArray(row)) throw new UserError(`${field}[${r}] is no list.`, `${field} must be [B][T].`);
  if (row.length !== T) throw new UserError(`${field}[${r}] has ${row.length} entries, where ${T} are expected.`, 'All rows of all fields must be equally long; pad the short ones and mask the pads.');
}

/** Numbers [B][T]; masked slots become 0. */
export function readTable(raw: RawBatch, field: string, mask: ArrayLike<number>[]): Float64Array[] {
  const rows = raw[field];
  if (!Array.isArray(rows)) throw new UserError(`${field} is ${present(rows) ? 'no list' : 'missing'}.`, `Give ${field} as a list of rows [B][T].`);
  if (rows.length !== mask.length) throw new UserError(`${field} has ${rows.length} rows, mask has ${mask.length}.`);
  return rows.map((row: unknown, r) => {
    checkRow(field, row, r, mask[r].length);
    return Float64Array.from(row as Cell[], (value, t) => {
      if (!mask[r][t]) return 0;
      if (typeof value !== 'number' || !Number.isFinite(value)) throw new UserError(`${field}[${r}][${t}] is ${JSON.stringify(value)}, but its token counts (mask is 1).`, 'Give a finite number there, or mask the token.');
      if (field === 'entropy' && value < 0) throw new UserError(`entropy[${r}][${t}] is ${value}; an entropy is never negative.`);
      return value;
    });
  });
}

function readSegments(raw: RawBatch, mask: Uint8Array[], notes: string[]): ArrayLike<number>[] {
  if (present(raw.segments)) {
    const table = readTable(raw, 'segments', mask);
    table.forEach((row, r) => {
      let last = -Infinity;
      row.forEach((id, t) => {
        if (!mask[r][t]) return;
        if (!Number.isInteger(id)) throw new UserError(`segments[${r}][${t}] is ${id}, not an integer.`);
        if (id < last) throw new UserError(`segments[${r}][${t}] is ${id} after ${last}: ids must not fall along a response.`);
        last = id;
      });
    });
    return table;
  }
  if (present(raw.tokens)) return cutTokens(raw, mask);
  notes.push('neither segments nor tokens given: each response counts as one subsentence');
  return mask.map((row) => new Uint32Array(row.length));
}

/** Cuts the counted tokens of each row by the product's own rule. */
function cutTokens(raw: RawBatch, mask: Uint8Array[]): Uint32Array[] {
  const options: SegmentOptions = {};
  if (present(raw.delimiters)) {
    if (!Array.isArray(raw.delimiters) || !raw.delimiters.every((d) => typeof d === 'string')) throw new UserError('delimiters must be a list of strings.');
    options.delimiters = raw.delimiters as string[];
  }
  if (present(raw.minSegLen)) {
    if (!Number.isInteger(raw.minSegLen) || (raw.minSegLen as number) < 1) throw new UserError('minSegLen must be a whole number from 1.');
    options.minSegLen = raw.minSegLen as number;
  }
  if (present(raw.digitGuard)) options.digitGuard = raw.digitGuard === true;
  if (typeof raw.eos === 'string') options.eos = raw.eos;
  const rows = raw.tokens;
  if (!Array.isArray(rows) || rows.length !== mask.length) throw new UserError(`tokens must be a list of ${mask.length} rows.`);
  return rows.map((row: unknown, r) => {
    checkRow('tokens', row, r, mask[r].length);
    const at = Array.from(mask[r].keys()).filter((t) => mask[r][t]);
    const texts = at.map((t) => {
      const text = row[t];
      if (typeof text !== 'string') throw new UserError(`tokens[${r}][${t}] is ${JSON.stringify(text)}, not a string.`);
      return text;
    });
    const ids = segmentTokens(texts, options);
    const out = new Uint32Array(row.length);
    at.forEach((t, i) => (out[t] = ids[i]));
    return out;
  });
}
