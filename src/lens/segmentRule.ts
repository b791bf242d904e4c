import { quantile, segmentTokens } from '../objectives';
import type { BatchRecord, CompletionRecord, LensSettings, LensSource } from './types';

/** Cuts the completions of a stored batch anew, by the rule of the settings. */

/** Subsentence ids of every completion, from 0, rising by one at each cut; [completions][T]. */
export function segmentsOf(source: LensSource, settings: LensSettings): Uint32Array[] {
  const threshold = entropyThreshold(source.record, settings);
  return source.record.completions.map((row, i) => cutRow(source, settings, row, i, threshold));
}

/** The same for one completion. */
export function segmentsOfRow(source: LensSource, settings: LensSettings, completion: number): Uint32Array {
  return cutRow(source, settings, source.record.completions[completion], completion, entropyThreshold(source.record, settings));
}

function cutRow(source: LensSource, settings: LensSettings, row: CompletionRecord, index: number, threshold: number): Uint32Array {
  const length = row.tokens.length;
  const edit = settings.edits[index] as readonly number[] | undefined;
  if (edit) return idsOf(edit, length);
  const { rule, minLength } = settings;
  switch (rule.kind) {
    case 'stored':
      return mergeShort(idsOf(startsOf(row.segments), length), minLength);
    case 'delimiters':
      return segmentTokens(row.tokens, { delimiters: rule.marks, minSegLen: minLength, ...(source.eos !== null && { eos: source.eos }) });
    case 'newline':
      return segmentTokens(row.tokens, { delimiters: ['\n'], minSegLen: minLength, ...(source.eos !== null && { eos: source.eos }) });
    case 'everyN': {
      const n = Math.max(1, Math.floor(rule.n));
      return mergeShort(Uint32Array.from({ length }, (_, t) => Math.floor(t / n)), minLength);
    }
    case 'entropyPeaks': {
      const starts: number[] = [];
      for (let t = 1; t < length; t++) if (row.entropy[t] > threshold) starts.push(t);
      return mergeShort(idsOf(starts, length), minLength);
    }
    case 'whole':
      return new Uint32Array(length);
  }
}

/** The entropy (nats) above which a token opens a subsentence; NaN for other rules. */
function entropyThreshold(record: BatchRecord, settings: LensSettings): number {
  if (settings.rule.kind !== 'entropyPeaks') return NaN;
  const all = new Float64Array(record.completions.reduce((sum, row) => sum + row.entropy.length, 0));
  let at = 0;
  for (const row of record.completions) {
    all.set(row.entropy, at);
    at += row.entropy.length;
  }
  return quantile(all.sort(), settings.rule.quantile);
}

/** Where subsentences after the first begin; ascending token indices. */
export function startsOf(segments: ArrayLike<number>): number[] {
  const starts: number[] = [];
  for (let t = 1; t < segments.length; t++) if (segments[t] !== segments[t - 1]) starts.push(t);
  return starts;
}

/** Ids from the places at which a new subsentence starts; places outside 1..length-1 cut nothing. */
function idsOf(starts: readonly number[], length: number): Uint32Array {
  const cuts = new Uint8Array(length);
  for (const t of starts) if (Number.isInteger(t) && t > 0 && t < length) cuts[t] = 1;
  const ids = new Uint32Array(length);
  for (let t = 1; t < length; t++) ids[t] = ids[t - 1] + cuts[t];
  return ids;
}

/** Merges a subsentence of fewer than `least` tokens into the next one, the last into the one before (as segmentTokens does). */
function mergeShort(ids: Uint32Array, least: number): Uint32Array {
  if (least <= 1) return ids;
  const length = ids.length;
  const starts: number[] = [];
  let start = 0;
  for (let t = 1; t < length; t++) {
    if (ids[t] !== ids[t - 1] && t - start >= least) {
      starts.push(t);
      start = t;
    }
  }
  if (start > 0 && length - start < least) starts.pop();
  return idsOf(starts, length);
}
