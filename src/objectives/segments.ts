/** Cuts responses into subsentences (algorithms.md section 8, item 1; the rule is ours, after LPO's "pause punctuation"). */

/** After these a subsentence ends, where a task names no set of its own. */
export const SUBSENTENCE_DELIMITERS: readonly string[] = [',', '.', ';', ':', '!', '?', '\n', '，', '。', '；', '：', '！', '？', '、'];

/** The coarser set: whole sentences. */
export const SENTENCE_DELIMITERS: readonly string[] = ['.', '!', '?', '\n', '。', '！', '？'];

export interface SegmentOptions {
  /** Characters that end a segment; default SUBSENTENCE_DELIMITERS. */
  delimiters?: readonly string[];
  /** A segment with fewer tokens is merged into the next one (the last one into the one before). Default 1. */
  minSegLen?: number;
  /**
   * Keeps `3.14` and `1,000` whole: no cut at `.` or `,` between two digits. Default: on with the default delimiters, off when
   * `delimiters` is given, because a task that names its own marks (the addition task ends a column with `.`) means them.
   */
  digitGuard?: boolean;
  /** A token that only ends the response; it joins the last segment. Known special tokens do so anyway. */
  eos?: string;
}

/** `<eos>`, `</s>`, `<|endoftext|>`, `[EOS]`, or nothing at all. */
const SPECIAL_TOKEN = /^(?:<\/?\|?[A-Za-z_]+\|?>|\[EOS\])?$/;

const isDigit = (character: string | undefined): boolean => character !== undefined && character >= '0' && character <= '9';

/**
 * Segment id of each token, from 0, rising by one at each cut. A segment ends after a token whose text, right-trimmed, ends
 * with a delimiter; a line break counts also when it is what gets trimmed. The delimiter belongs to the segment that it closes.
 * @param tokens decoded text of each response token; [T]
 */
export function segmentTokens(tokens: readonly string[], options: SegmentOptions = {}): Uint32Array {
  const delimiters = new Set(options.delimiters ?? SUBSENTENCE_DELIMITERS);
  const digitGuard = options.digitGuard ?? options.delimiters === undefined;
  const ends = tokens.map((_, t) => endsSegment(tokens, t, delimiters, digitGuard));
  const last = tokens.length - 1;
  const closing = tokens[last];
  if (last > 0 && closing !== undefined && (closing === options.eos || SPECIAL_TOKEN.test(closing))) ends[last - 1] = false;
  const minSegLen = Math.max(1, options.minSegLen ?? 1);
  const ids = new Uint32Array(tokens.length);
  let id = 0;
  let start = 0;
  tokens.forEach((_, t) => {
    ids[t] = id;
    if (ends[t] && t - start + 1 >= minSegLen) {
      id++;
      start = t + 1;
    }
  });
  const trailing = tokens.length - start;
  if (start > 0 && trailing > 0 && trailing < minSegLen) ids.fill(id - 1, start);
  return ids;
}

function endsSegment(tokens: readonly string[], t: number, delimiters: ReadonlySet<string>, digitGuard: boolean): boolean {
  const text = tokens[t];
  const trimmed = text.trimEnd();
  if (delimiters.has('\n') && text.slice(trimmed.length).includes('\n')) return true;
  const mark = [...trimmed].at(-1);
  if (mark === undefined || !delimiters.has(mark)) return false;
  const splitsNumber =
    digitGuard && (mark === '.' || mark === ',') && trimmed.length === text.length && isDigit(characterBefore(tokens, t)) && isDigit(tokens[t + 1]?.[0]);
  return !splitsNumber;
}

/** The character before the mark that ends token t, in the same token or the one before. */
function characterBefore(tokens: readonly string[], t: number): string | undefined {
  const own = tokens[t].trimEnd();
  return own.length > 1 ? own.at(-2) : tokens[t - 1]?.at(-1);
}
