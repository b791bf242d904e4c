/** Compares two formulas term by term, so that what differs can be framed in both. */

/** Commands that take this many brace groups. */
const ARGUMENTS: Record<string, number> = { '\\htmlClass': 2, '\\frac': 2, '\\operatorname': 1, '\\text': 1, '\\mathcal': 1, '\\mathit': 1, '\\hat': 1, '\\bar': 1, '\\sqrt': 1 };
/** Pieces that only hold a formula together: framing them would break it. */
const GLUE = /^(\\(left|right|bigl|bigr)[()[\]|.{}\\]*|\\begin\{cases\}|\\end\{cases\}|\\\\|&|\\,|[(),\s]+|\\sum|\\in|\\displaystyle)$/;

/** A formula as terms: a symbol with its sub- and superscripts, an operator, or a delimiter. */
export function texTerms(tex: string): string[] {
  const terms: string[] = [];
  let at = 0;
  const group = (): string => {
    // A brace group, or one character.
    if (tex[at] !== '{') return tex[at++] ?? '';
    let depth = 0;
    const from = at;
    do {
      if (tex[at] === '{') depth++;
      else if (tex[at] === '}') depth--;
      at++;
    } while (depth > 0 && at < tex.length);
    return tex.slice(from, at);
  };
  while (at < tex.length) {
    if (/\s/.test(tex[at] as string)) {
      at++;
      continue;
    }
    let term = '';
    const command = /^\\([A-Za-z]+|.)/.exec(tex.slice(at))?.[0];
    if (command) {
      at += command.length;
      term = command;
      if (command === '\\left' || command === '\\right' || command === '\\bigl' || command === '\\bigr') term += /^\\?./.exec(tex.slice(at))?.[0] ?? '';
      if (term !== command) at += term.length - command.length;
      if (command === '\\begin' || command === '\\end') term += group();
      for (let i = 0; i < (ARGUMENTS[command] ?? 0); i++) term += group();
    } else {
      term = /^\d*\.?\d+/.exec(tex.slice(at))?.[0] ?? (tex[at] as string);
      at += term.length;
    }
    while (tex[at] === '_' || tex[at] === '^') {
      term += tex[at++];
      const inner = /^\\[A-Za-z]+/.exec(tex.slice(at))?.[0];
      if (inner) {
        term += inner;
        at += inner.length;
      } else term += group();
    }
    terms.push(term);
  }
  return terms;
}

/** The first formula with every term that is not in the second, in order, wrapped in `\htmlClass{differs}`. */
export function markDifferences(tex: string, other: string): string {
  const a = texTerms(tex);
  const b = texTerms(other);
  const same = commonTerms(a, b);
  return a.map((term, i) => (same.has(i) || GLUE.test(term) ? term : `\\htmlClass{differs}{${term}}`)).join(' ');
}

/** Indices of `a` that are part of a longest common subsequence with `b`. */
function commonTerms(a: readonly string[], b: readonly string[]): Set<number> {
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = length[i];
      if (row) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const kept = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept.add(i++);
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return kept;
}
