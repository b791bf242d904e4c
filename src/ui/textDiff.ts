/** A stretch of a text; `added` where the other text has nothing like it. */
export interface DiffPart {
  text: string;
  added: boolean;
}

/** `after` cut into what `before` also has, in order, and what is new (longest common subsequence; texts are short). */
export function diffParts(before: string, after: string): DiffPart[] {
  const rows = before.length;
  const columns = after.length;
  // common[i][j]: length of the longest common subsequence of before[i..] and after[j..].
  const common = Array.from({ length: rows + 1 }, () => new Array<number>(columns + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      (common[i] as number[])[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const parts: DiffPart[] = [];
  const put = (text: string, added: boolean) => {
    const last = parts.at(-1);
    if (last && last.added === added) last.text += text;
    else parts.push({ text, added });
  };
  let i = 0;
  for (let j = 0; j < columns; j++) {
    while (i < rows && before[i] !== after[j] && at(i + 1, j) >= at(i, j + 1) && at(i + 1, j) === at(i, j)) i++;
    if (i < rows && before[i] === after[j] && at(i, j) === at(i + 1, j + 1) + 1) {
      put(after[j] as string, false);
      i++;
    } else put(after[j] as string, true);
  }
  return parts;
}
