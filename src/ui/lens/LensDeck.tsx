import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { storedAdvantages } from '../../lens/advantage';
import type { LensSettings, MatchQuantity, SegmentRule } from '../../lens/types';
import { AGGREGATION_HELP, LOSS_AGG_MODES, type LossAggMode } from '../../objectives';
import { LEVELS, LEVEL_TITLE } from '../../core/levels';
import { Button } from '../controls/Button';
import { NumberField } from '../controls/NumberField';
import { Segmented } from '../controls/Segmented';
import { Select } from '../controls/Select';
import { useRun, useSession } from '../session';
import { grouped, percent, setting } from '../theme/numbers';
import { BOUNDS } from './engine';
import { useLens, useLensModel } from './context';
import { widthsInForce } from './lensModel';
import styles from './deck.module.css';

/** What lies under the lens, how it is cut, and the fair comparison. */
export function LensDeck() {
  return (
    <section className={styles.deck} aria-label="Lens">
      <BatchChooser />
      <RuleControls />
      <Counting />
      <MatchControls />
    </section>
  );
}

function BatchChooser() {
  const { lens } = useSession();
  const frozen = useLens((state) => state.frozen);
  const batches = useRun((state) => state.batches);
  if (!frozen) return null;
  const { record } = frozen.source;
  const tokens = record.completions.reduce((sum, row) => sum + row.tokens.length, 0);
  const live = record.completions.reduce((sum, row) => sum + Array.from(storedAdvantages(row)).filter((a) => a !== 0).length, 0);
  const isFile = frozen.origin.kind === 'file';
  const here = isFile ? 'file' : String(record.step);
  const options = [
    ...(isFile ? [{ value: 'file', label: frozen.origin.kind === 'file' ? frozen.origin.name : '' }] : batches.some(({ step }) => step === record.step) ? [] : [{ value: here, label: `step ${here}, an earlier run` }]),
    ...[...batches].reverse().map(({ step }) => ({ value: String(step), label: `step ${step}` })),
  ];
  return (
    <div className={styles.batch}>
      <div>
        <p className={styles.title}>Frozen batch, {isFile ? 'from a file' : `step ${record.step}`}</p>
        <p className={styles.sub}>
          {record.completions.length} answers, {grouped(tokens)} tokens, {percent(tokens > 0 ? live / tokens : 0)} of them live
        </p>
      </div>
      <Select
        className={styles.chooser ?? ''}
        name="Batch under the lens"
        value={here}
        options={options}
        onChange={(value) => {
          const batch = batches.find(({ step }) => String(step) === value);
          if (batch) lens.getState().freeze(batch);
        }}
      />
    </div>
  );
}

const RULES: readonly { value: SegmentRule['kind']; label: string; name: string }[] = [
  { value: 'stored', label: 'task\u2019s', name: 'as the task cut it when it was trained' },
  { value: 'delimiters', label: '. , ;', name: 'after delimiters' },
  { value: 'newline', label: 'newline', name: 'after line breaks' },
  { value: 'everyN', label: 'every n', name: 'every n tokens' },
  { value: 'entropyPeaks', label: 'entropy peak', name: 'before entropy peaks' },
  { value: 'whole', label: 'never', name: 'never: one subsentence per answer' },
];

const START: Record<SegmentRule['kind'], SegmentRule> = {
  stored: { kind: 'stored' },
  delimiters: { kind: 'delimiters', marks: ['.', ',', ';'] },
  newline: { kind: 'newline' },
  everyN: { kind: 'everyN', n: 6 },
  entropyPeaks: { kind: 'entropyPeaks', quantile: 0.9 },
  whole: { kind: 'whole' },
};

function RuleControls() {
  const model = useLensModel();
  const rule = useLens((state) => state.settings?.rule ?? null);
  const edits = useLens((state) => state.settings?.edits ?? null);
  if (!rule) return null;
  const count = Object.keys(edits ?? {}).length;
  return (
    <div className={styles.rule}>
      <span className={styles.label}>Subsentence ends at</span>
      <Segmented
        className={styles.rules ?? ''}
        label="Subsentence ends"
        value={rule.kind}
        onChange={(kind) => model.patch({ rule: START[kind as SegmentRule['kind']] })}
        options={RULES.map((option) => ({ ...option, label: option.value === 'everyN' && rule.kind === 'everyN' ? `every ${rule.n}` : option.label }))}
      />
      <RuleDetail rule={rule} onChange={(next) => model.patch({ rule: next })} />
      {count > 0 ? (
        <Button kind="ghost" onClick={() => model.patch({ edits: {} })} title="Answers whose cuts were edited by hand follow the rule again">
          {count === 1 ? '1 answer' : `${count} answers`} cut by hand, undo
        </Button>
      ) : null}
    </div>
  );
}

function RuleDetail({ rule, onChange }: { rule: SegmentRule; onChange(rule: SegmentRule): void }) {
  if (rule.kind === 'everyN') return <NumberField className={styles.tiny ?? ''} name="Tokens per subsentence" integer value={rule.n} min={BOUNDS.everyN.min} max={BOUNDS.everyN.max} step={1} onChange={(n) => onChange({ kind: 'everyN', n })} />;
  if (rule.kind === 'entropyPeaks') return <NumberField className={styles.tiny ?? ''} name="Quantile of entropy above which a token begins a subsentence" value={rule.quantile} min={0} max={1} step={0.01} onChange={(quantile) => onChange({ kind: 'entropyPeaks', quantile })} />;
  if (rule.kind !== 'delimiters') return null;
  return <Marks marks={rule.marks} onChange={(marks) => onChange({ kind: 'delimiters', marks })} />;
}

/** The characters after which a subsentence ends, typed one after the other. */
function Marks({ marks, onChange }: { marks: readonly string[]; onChange(marks: readonly string[]): void }) {
  const [text, setText] = useState<string | null>(null);
  return (
    <input
      className={`${styles.marks} mono`}
      aria-label="Characters that end a subsentence"
      spellCheck={false}
      value={text ?? marks.join('')}
      maxLength={24}
      onChange={(event) => {
        setText(event.target.value);
        const typed = [...new Set([...event.target.value].filter((c) => c.trim() !== ''))];
        if (typed.length > 0) onChange(typed);
      }}
      onBlur={() => setText(null)}
    />
  );
}

/** How things are counted: a panel under its button, so that the deck stays one line. */
function Counting() {
  const model = useLensModel();
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const source = useLens((state) => state.frozen?.source ?? null);
  if (!settings || !source) return null;
  const set = (change: Partial<LensSettings>) => model.patch(change);
  const widths = widthsInForce(settings, leaders);
  const updates = [...new Set(source.record.completions.map(({ minibatch }) => minibatch))].sort((a, b) => a - b);
  const isOff = settings.entropyScaleLow === 1 && settings.entropyScaleHigh === 1;
  const modes = LOSS_AGG_MODES.filter((mode) => mode !== 'constant' || source.maxTokens !== null);
  return (
    <Popover label="Counting" summary={`min length ${settings.minLength}, ${isOff ? 'no entropy scaling' : `entropy \u00d7${setting(settings.entropyScaleLow)} to ${setting(settings.entropyScaleHigh)}`}`}>
      <Line label="Shortest subsentence, tokens">
        <NumberField name="Shortest subsentence, tokens" integer value={settings.minLength} min={BOUNDS.minLength.min} max={BOUNDS.minLength.max} step={1} onChange={(minLength) => set({ minLength })} />
      </Line>
      <Line label={'SSPO\u2019s band follows entropy: least and greatest factor'}>
        <NumberField name="Least entropy factor" value={settings.entropyScaleLow} min={0} max={1} step={0.05} onChange={(entropyScaleLow) => set({ entropyScaleLow })} />
        <NumberField name="Greatest entropy factor" value={settings.entropyScaleHigh} min={1} max={10} step={0.1} onChange={(entropyScaleHigh) => set({ entropyScaleHigh })} />
        <Button kind="ghost" onClick={() => set(isOff ? { entropyScaleLow: 0.5, entropyScaleHigh: 2 } : { entropyScaleLow: 1, entropyScaleHigh: 1 })}>
          {isOff ? 'turn on' : 'turn off'}
        </Button>
      </Line>
      <Line label="Aggregation of the losses">
        <Select name="Aggregation" value={settings.lossAggMode} options={[{ value: 'own', label: 'each its own' }, ...modes.map((mode) => ({ value: mode, label: mode }))]} onChange={(value) => set({ lossAggMode: value as LossAggMode | 'own' })} />
      </Line>
      {settings.lossAggMode === 'own' ? null : <p className={styles.help}>{AGGREGATION_HELP[settings.lossAggMode]}</p>}
      <Line label="Dual clip c, for A < 0">
        <Select
          name="Dual clip"
          value={settings.dualClip === 'own' ? 'own' : settings.dualClip === 0 ? 'off' : 'all'}
          options={[{ value: 'own', label: 'SPPO 3, others none' }, { value: 'off', label: 'none' }, { value: 'all', label: 'all of them' }]}
          onChange={(value) => set({ dualClip: value === 'own' ? 'own' : value === 'off' ? 0 : 3 })}
        />
        {typeof settings.dualClip === 'number' && settings.dualClip > 0 ? <NumberField name="Dual clip c" value={settings.dualClip} min={1.01} max={BOUNDS.dualClip.max} step={0.5} onChange={(dualClip) => set({ dualClip })} /> : null}
      </Line>
      {updates.length > 1 ? (
        <Line label="Answers last trained on by">
          <Select name="Update of the iteration" value={settings.minibatch === null ? 'all' : String(settings.minibatch)} options={[{ value: 'all', label: 'any update' }, ...updates.map((update) => ({ value: String(update), label: `update ${update} alone` }))]} onChange={(value) => set({ minibatch: value === 'all' ? null : Number(value) })} />
        </Line>
      ) : null}
      {LEVELS.map((level) => (
        <Line key={level} label={`${LEVEL_TITLE[level]}, \u03b5 below, above 1`}>
          {(['low', 'high'] as const).map((side) => (
            <NumberField
              key={side}
              name={`${LEVEL_TITLE[level]}, width ${side === 'low' ? 'below' : 'above'} 1`}
              value={widths[level][side]}
              min={BOUNDS.width.min}
              max={side === 'low' ? BOUNDS.width.lowMax : BOUNDS.width.highMax}
              step={widths[level][side] >= 0.1 ? 0.01 : widths[level][side] >= 0.01 ? 0.001 : 1e-4}
              onChange={(value) => model.setWidth(level, { ...widths[level], [side]: value })}
            />
          ))}
        </Line>
      ))}
      <Button onClick={() => model.reset()}>As the run trained it</Button>
    </Popover>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles.line}>
      <span>{label}</span>
      <span className={styles.fields}>{children}</span>
    </div>
  );
}

/** A panel under its button; Escape, or a press elsewhere, closes it. */
export function Popover({ label, summary, children, align = 'left' }: { label: string; summary?: string; children: ReactNode; align?: 'left' | 'right' }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPress = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, [open]);
  return (
    <div
      ref={root}
      className={styles.popover}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && open) {
          setOpen(false);
          root.current?.querySelector('button')?.focus();
          event.stopPropagation();
        }
      }}
    >
      <Button aria-expanded={open} title={summary} onClick={() => setOpen(!open)}>
        {label}
      </Button>
      {open ? <div className={`${styles.sheet} ${align === 'right' ? styles.right : ''}`}>{children}</div> : null}
    </div>
  );
}

const TARGETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

function MatchControls() {
  const model = useLensModel();
  const match = useLens((state) => state.match);
  const targets = TARGETS.includes(match.target) ? TARGETS : [...TARGETS, match.target].sort((a, b) => a - b);
  return (
    <div className={styles.match}>
      <span className={styles.label}>
        Fair comparison: the same share clipped
      </span>
      <Select
        className={styles.quantity ?? ''}
        name="Share of what"
        value={match.quantity}
        options={[{ value: 'clippedTokens', label: 'of tokens' }, { value: 'clippedGradient', label: 'of gradient' }]}
        onChange={(value) => model.set({ match: { ...match, quantity: value as MatchQuantity } })}
      />
      <Select className={styles.target ?? ''} name="Target" value={String(match.target)} options={targets.map((target) => ({ value: String(target), label: `${(target * 100).toPrecision(2).replace(/\.0$/, '.0')} %` }))} onChange={(value) => model.set({ match: { ...match, target: Number(value) } })} />
      <Button kind="solid" className={styles.primary ?? ''} aria-keyshortcuts="M" onClick={() => model.matchAll()}>
        Match
      </Button>
    </div>
  );
}
