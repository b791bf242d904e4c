import type { Problem } from '../config/fieldTypes';
import { LEVELS } from '../core/levels';
import { LOSS_AGG_MODES, OBJECTIVES } from '../objectives';
import { LENS_BOUNDS } from './settings';
import type { DecodedLens, LensSettings, SegmentRule } from './types';

/**
 * Lens settings as values of an address (`lensToken=0.2/0.28`, `lensRule=every:6`, ...): only what differs from a base is
 * written, and nothing that is read can throw: a bad value leaves the base's, with a notice.
 */

const NAMES = {
  token: 'lensToken',
  segment: 'lensSegment',
  sequence: 'lensSequence',
  overrides: 'lensEps',
  rule: 'lensRule',
  minLength: 'lensMin',
  edits: 'lensCuts',
  kappa: 'lensKappa',
  lossAggMode: 'lensAgg',
  dualClip: 'lensDual',
  beta: 'lensBeta',
  minibatch: 'lensUpdate',
} as const;

/** The names that the codec reads and writes. */
export const LENS_NAMES: readonly string[] = Object.values(NAMES);

/** Longest text that is read; addresses are typed and shared by people. */
const LONGEST = 4000;

/** What differs from `base`, by name; values not yet percent-encoded. */
export function encodeLens(settings: LensSettings, base: LensSettings): Map<string, string> {
  const out = new Map<string, string>();
  const put = (name: string, of: (s: LensSettings) => string) => {
    const text = of(settings);
    if (text !== of(base)) out.set(name, text);
  };
  for (const level of LEVELS) put(NAMES[level], (s) => pair(s.widths[level]));
  put(NAMES.overrides, (s) => Object.entries(s.overrides).map(([id, widths]) => `${id}:${pair(widths)}`).sort().join(','));
  put(NAMES.rule, (s) => ruleText(s.rule));
  put(NAMES.minLength, (s) => String(s.minLength));
  put(NAMES.edits, (s) => Object.entries(s.edits).map(([i, cuts]) => `${i}:${cuts.join('.')}`).join(','));
  put(NAMES.kappa, (s) => `${s.entropyScaleLow}/${s.entropyScaleHigh}`);
  put(NAMES.lossAggMode, (s) => s.lossAggMode);
  put(NAMES.dualClip, (s) => String(s.dualClip));
  put(NAMES.beta, (s) => String(s.beta));
  put(NAMES.minibatch, (s) => (s.minibatch === null ? 'all' : String(s.minibatch)));
  return out;
}

function pair({ low, high }: { low: number; high: number }): string {
  return low === high ? String(low) : `${low}/${high}`;
}

function ruleText(rule: SegmentRule): string {
  switch (rule.kind) {
    case 'delimiters':
      // A line break would be lost on the way through some chats and mails.
      return `marks:${rule.marks.join('').replaceAll('\n', '\\n')}`;
    case 'everyN':
      return `every:${rule.n}`;
    case 'entropyPeaks':
      return `peaks:${rule.quantile}`;
    default:
      return rule.kind;
  }
}

/** Settings from such values over a base. Names that are not the codec's are left alone. */
export function decodeLens(values: ReadonlyMap<string, string>, base: LensSettings): DecodedLens {
  const problems: Problem[] = [];
  const settings: LensSettings = { ...base, widths: { ...base.widths } };
  const read = <T>(name: string, parse: (text: string) => T | null, take: (value: T) => void, wanted: string) => {
    const text = values.get(name);
    if (text === undefined) return;
    const value = text.length <= LONGEST ? parse(text) : null;
    if (value === null) {
      const shown = text.length > 40 ? `${text.slice(0, 40)}\u2026` : text;
      problems.push({ field: name, message: `${name} in the address: \u201C${shown}\u201D is not ${wanted}; it was ignored.` });
    } else take(value);
  };
  for (const level of LEVELS) read(NAMES[level], widthsFrom, (w) => (settings.widths[level] = w), 'a clip width, or two as low/high, in range');
  read(NAMES.overrides, overridesFrom, (o) => (settings.overrides = o), 'a list of objective:width');
  read(NAMES.rule, ruleFrom, (rule) => (settings.rule = rule), 'a way to cut subsentences');
  read(NAMES.minLength, (t) => whole(t, LENS_BOUNDS.minLength.min, LENS_BOUNDS.minLength.max), (n) => (settings.minLength = n), 'a number of tokens from 1 to 64');
  read(NAMES.edits, editsFrom, (edits) => (settings.edits = edits), 'a list of answer:token.token');
  read(NAMES.kappa, kappaFrom, (kappa) => Object.assign(settings, kappa), 'two factors, low/high around 1');
  read(NAMES.lossAggMode, (t) => (['own', ...LOSS_AGG_MODES] as const).find((mode) => mode === t) ?? null, (mode) => (settings.lossAggMode = mode), 'a way to aggregate losses');
  read(NAMES.dualClip, dualFrom, (c) => (settings.dualClip = c), '0, a number above 1, or \u201Cown\u201D');
  read(NAMES.beta, (t) => number(t, 0, LENS_BOUNDS.beta.max), (beta) => (settings.beta = beta), 'a KL weight from 0 to 10');
  read<number | 'all'>(NAMES.minibatch, (t) => (t === 'all' ? t : whole(t, 1, 1e6)), (n) => (settings.minibatch = n === 'all' ? null : n), 'an update from 1, or \u201Call\u201D');
  return { settings, problems };
}

function number(text: string, min: number, max: number): number | null {
  const value = text.trim() === '' ? NaN : Number(text);
  return value >= min && value <= max ? value : null;
}

function whole(text: string, min: number, max: number): number | null {
  const value = number(text, min, max);
  return value !== null && Number.isInteger(value) ? value : null;
}

function widthsFrom(text: string): { low: number; high: number } | null {
  const parts = text.split('/');
  if (parts.length > 2) return null;
  const { min, lowMax, highMax } = LENS_BOUNDS.width;
  // One width above 1 stands for no bound below.
  const low = parts.length === 1 ? number(parts[0], min, highMax) : number(parts[0], min, lowMax);
  const high = number(parts[parts.length - 1], min, highMax);
  return low === null || high === null ? null : { low: Math.min(low, lowMax), high };
}

function overridesFrom(text: string): LensSettings['overrides'] | null {
  if (text === '') return {};
  const out: Record<string, { low: number; high: number }> = {};
  for (const part of text.split(',')) {
    const [id, widths, ...rest] = part.split(':');
    const parsed = widths === undefined ? null : widthsFrom(widths);
    if (rest.length > 0 || parsed === null || !OBJECTIVES.some((o) => o.id === id)) return null;
    out[id] = parsed;
  }
  return out;
}

function ruleFrom(text: string): SegmentRule | null {
  if (text === 'stored' || text === 'newline' || text === 'whole') return { kind: text };
  const at = text.indexOf(':');
  const [kind, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'every') {
    const n = whole(value, LENS_BOUNDS.everyN.min, LENS_BOUNDS.everyN.max);
    return n === null ? null : { kind: 'everyN', n };
  }
  if (kind === 'peaks') {
    const quantile = number(value, LENS_BOUNDS.quantile.min, LENS_BOUNDS.quantile.max);
    return quantile === null ? null : { kind: 'entropyPeaks', quantile };
  }
  if (kind !== 'marks' || value.length > 100) return null;
  return { kind: 'delimiters', marks: [...new Set(value.replaceAll('\\n', '\n'))] };
}

function editsFrom(text: string): LensSettings['edits'] | null {
  if (text === '') return {};
  const out: Record<number, number[]> = {};
  for (const part of text.split(',')) {
    const [index, cuts, ...rest] = part.split(':');
    const completion = whole(index, 0, 1e6);
    if (completion === null || cuts === undefined || rest.length > 0) return null;
    const starts = cuts === '' ? [] : cuts.split('.').map((t) => whole(t, 1, 1e6));
    if (starts.some((t, i) => t === null || (i > 0 && t <= (starts[i - 1] ?? 0)))) return null;
    out[completion] = starts.filter((t) => t !== null);
  }
  return out;
}

function kappaFrom(text: string): Pick<LensSettings, 'entropyScaleLow' | 'entropyScaleHigh'> | null {
  const parts = text.split('/');
  if (parts.length !== 2) return null;
  const low = number(parts[0], LENS_BOUNDS.entropyScaleLow.min, LENS_BOUNDS.entropyScaleLow.max);
  const high = number(parts[1], LENS_BOUNDS.entropyScaleHigh.min, LENS_BOUNDS.entropyScaleHigh.max);
  return low === null || high === null ? null : { entropyScaleLow: low, entropyScaleHigh: high };
}

function dualFrom(text: string): number | 'own' | null {
  if (text === 'own') return text;
  const value = number(text, 0, LENS_BOUNDS.dualClip.max);
  return value === null || (value !== 0 && value <= 1) ? null : value;
}
