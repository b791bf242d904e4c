import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { linter, type Diagnostic } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { LOSS_AGG_MODES } from '../../objectives';
import { ADVANTAGE_ESTIMATORS, ESTIMATORS } from '../../objectives';
import { FUNCTIONS, LEAVES, LEVEL_WORDS, ObjectiveTextError, readCustom, STATEMENTS } from '../../objectives/custom';

/** The editor's knowledge of the language: colours, completion and errors at their place. Reading is the parser's business. */

const KEYWORDS = new Set<string>([...STATEMENTS, 'in', 'step', 'and', 'or', 'none']);

const language = StreamLanguage.define<null>({
  name: 'objective',
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/(#|\/\/).*/)) return 'comment';
    if (stream.match(/"[^"]*"?/)) return 'string';
    if (stream.match(/(\d+(\.(?!\.)\d*)?|\.\d+)([eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/[A-Za-z][A-Za-z0-9]*/)) {
      const word = stream.current();
      if (KEYWORDS.has(word)) return 'keyword';
      if (Object.hasOwn(FUNCTIONS, word)) return 'function';
      return Object.hasOwn(LEAVES, word) ? leafStyle(word) : 'variableName';
    }
    stream.next();
    return 'operator';
  },
  tokenTable: { function: tags.function(tags.variableName), leaf: tags.special(tags.variableName), token: tags.atom, segment: tags.typeName, sequence: tags.className },
});

/** A ratio wears the hue of its level, as in the formula. */
function leafStyle(word: string): string {
  if (/^seg|^entropyRatio$/.test(word)) return 'segment';
  if (word.startsWith('seq')) return 'sequence';
  return word === 'adv' ? 'leaf' : 'token';
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--ink)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--ink-2)' },
  { tag: tags.number, color: 'var(--ink)' },
  { tag: tags.function(tags.variableName), color: 'var(--ink)', textDecoration: 'underline', textDecorationColor: 'var(--line-2)', textUnderlineOffset: '3px' },
  { tag: tags.special(tags.variableName), color: 'var(--ink)', fontWeight: '600' },
  { tag: tags.variableName, color: 'var(--ink)' },
  { tag: tags.operator, color: 'var(--ink-2)' },
  { tag: tags.atom, color: 'var(--level-token)' },
  { tag: tags.typeName, color: 'var(--level-sub)' },
  { tag: tags.className, color: 'var(--level-seq)' },
]);

const completions: Completion[] = [
  ...Object.entries(LEAVES).map(([label, { unit, help }]) => ({ label, type: 'variable', detail: unit, info: help })),
  ...Object.entries(FUNCTIONS).map(([label, { signature, help }]) => ({ label, apply: `${label}(`, type: 'function', detail: signature.slice(label.length), info: help })),
];
const statements: Completion[] = STATEMENTS.map((label) => ({ label, type: 'keyword' }));

/** The words that may follow a header, and names declared further up. */
function complete(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const header = /^\s*(level|aggregation|advantage)\s+([\w-]*)$/.exec(before);
  if (header) {
    const options: Record<string, Completion[]> = {
      level: Object.keys(LEVEL_WORDS).map((label) => ({ label })),
      aggregation: LOSS_AGG_MODES.map((label) => ({ label })),
      advantage: ADVANTAGE_ESTIMATORS.map((label) => ({ label, info: ESTIMATORS[label].text })),
    };
    return { from: context.pos - header[2].length, options: options[header[1]] };
  }
  if (/#|\/\/|^[^"]*"[^"]*$/.test(before)) return null;
  const word = context.matchBefore(/[A-Za-z][A-Za-z0-9]*/);
  if (!word && !context.explicit) return null;
  const declared = [...context.state.doc.sliceString(0, line.from).matchAll(/^\s*(param|let)\s+([A-Za-z][A-Za-z0-9]*)/gm)].map(([, kind, label]) => ({ label, type: 'constant', detail: kind === 'param' ? 'parameter' : 'term' }));
  const atStart = /^\s*[A-Za-z]*$/.test(before);
  return { from: word?.from ?? context.pos, options: [...declared, ...completions, ...(atStart ? statements : [])], validFor: /^[A-Za-z0-9]*$/ };
}

/** The one error of a text, at its place. */
function lint(view: EditorView): Diagnostic[] {
  const text = view.state.doc.toString();
  try {
    readCustom(text);
    return [];
  } catch (error) {
    if (!(error instanceof ObjectiveTextError)) throw error;
    const { start, end } = error.span;
    const from = Math.min(start, Math.max(0, text.length - 1));
    return [{ from, to: Math.max(from, Math.min(text.length, end > start ? end : start + 1)), severity: 'error', message: `${error.reason} ${error.hint}`.trim() }];
  }
}

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--well)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', fontVariantLigatures: 'none' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--ink)', outlineOffset: '-1px' },
  '.cm-gutters': { backgroundColor: 'var(--well)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--raised)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--line-2)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line-2)', borderRadius: '6px', fontSize: '12px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--line-2)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--ink-2)', fontStyle: 'normal' },
  '.cm-completionInfo': { maxWidth: '300px', padding: '8px 10px' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--ink)' },
  // Errors are ink, not hue; the squiggle that comes with the package is a red picture.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--ink) 1px', textUnderlineOffset: '3px' },
  '.cm-lint-marker-error': { content: 'none' },
});

/** Everything that makes an editor of text into one of objectives. */
export const objectiveSupport = [
  language,
  syntaxHighlighting(colours),
  autocompletion({ override: [complete], icons: false }),
  linter(lint, { delay: 250 }),
  theme,
];
