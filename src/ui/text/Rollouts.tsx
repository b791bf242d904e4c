import { useEffect, useMemo, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent, ReactNode } from 'react';
import type { BatchRecord, ShowcaseAnswer } from '../../worker/protocol';
import { useSize, useThrottled } from '../charts/hooks';
import { ratioLevel } from '../charts/looks';
import type { RolloutsProps, TokenAddress } from '../charts/types';
import { CrossIcon, TickIcon } from '../theme/icons';
import { isSingleAnswers, markRows, shownCompletions } from './marks';
import { binVariable } from './ratioBins';
import { RolloutRow, RowFacts } from './RolloutRow';
import styles from './rollouts.module.css';
import { Stepper } from './Stepper';
import { valueRange } from './valueLine';
import { clipSentence, deadWords, groupWords } from './words';

/** With single answers, how many prompts one page shows. */
const PAGE = 8;
/** Most redraws of the text while it trains, ms: each is a few hundred cells. */
const TEXT_MS = 200;
/** Width of a cell in the phone's strip, CSS px: a finger's. */
const STRIP_CELL = 44;
/** Width of the column of V(prompt), CSS px. */
const VALUE_COLUMN = 36;

/** A rollout as text: every token on its ratio's colour, with what each level's clip does to it. */
export function Rollouts(props: RolloutsProps) {
  const batch = useThrottled(props.batch, TEXT_MS);
  if (!batch) return <Answers answers={props.answers ?? []} />;
  return <BatchView {...props} batch={batch} />;
}

function BatchView(props: RolloutsProps & { batch: BatchRecord }) {
  const { batch, selected, onSelect, compact = false } = props;
  const config = props.config ?? batch.config;
  const single = isSingleAnswers(batch);
  const group = Math.min(props.group, Math.max(0, batch.prompts.length - 1));
  const shown = useMemo(() => shownCompletions(batch, group, PAGE), [batch, group]);
  const rows = useMemo(() => shown.map((index) => batch.completions[index]).filter((row) => row !== undefined), [batch, shown]);
  const marks = useMemo(() => markRows(batch, rows, config), [batch, rows, config]);
  const levelInUse = ratioLevel(config.objective);
  const [place, setPlace] = useState(0);
  const [wantsValues, setWantsValues] = useState(true);
  const valued = rows.some((row) => row.value !== null);
  const alongText = rows.some((row) => row.values !== null);
  const range = useMemo(() => (alongText && wantsValues ? valueRange(rows) : null), [alongText, wantsValues, rows]);
  const visible = compact ? [Math.min(place, Math.max(0, rows.length - 1))] : rows.map((_, i) => i);
  const only = visible[0] ?? 0;
  const onCell = useMemo(
    () => (completion: number, token: number) => onSelect({ completion, token }),
    [onSelect],
  );
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { width } = useSize(body);
  const longest = visible.reduce((most, i) => Math.max(most, rows[i]?.tokens.length ?? 0), 1);
  const tabAt = selected && shown.includes(selected.completion) ? selected : { completion: shown[visible[0] ?? 0] ?? 0, token: 0 };
  const dead = deadWords(rows, single);
  const style = { '--longest': longest, '--cell-width': `${cellWidth(width, longest, compact ? 0 : (single ? 76 : 28) + 196 + (valued ? VALUE_COLUMN : 0), compact)}px`, '--name-width': compact ? '0px' : single ? '76px' : '28px' } as CSSProperties;
  const row = (i: number, wide: boolean) => (
    <RolloutRow
      key={shown[i]}
      index={shown[i] as number}
      row={rows[i] as (typeof rows)[number]}
      marks={marks[i] as (typeof marks)[number]}
      name={single ? (batch.prompts[rows[i]?.group ?? 0] ?? '') : String(i + 1)}
      levelInUse={levelInUse}
      selected={selected?.completion === shown[i] ? selected.token : null}
      tabStop={tabAt.completion === shown[i] ? Math.min(tabAt.token, (rows[i]?.tokens.length ?? 1) - 1) : null}
      onSelect={onCell}
      values={range}
      wide={wide}
    />
  );
  return (
    <section className={`${styles.root} ${compact ? styles.compact : ''} ${valued ? styles.valued : ''}`} aria-label="Rollouts">
      <Head {...props} batch={batch} group={group} single={single} words={groupWords(rows, single)} place={compact ? { at: only, of: rows.length, onPlace: setPlace } : null} values={alongText && compact ? <ValueSwitch shown={wantsValues} onShow={setWantsValues} /> : null} />
      {compact && dead && <p className={styles.deadLine}>{dead}</p>}
      {!compact && (
        <div className={styles.columnNames} style={style}>
          {alongText ? <ValueSwitch shown={wantsValues} onShow={setWantsValues} short={!single} /> : null}
          <span aria-hidden="true" className={dead ? styles.deadName : ''}>{dead ?? clipSentence(config)}</span>
          <span aria-hidden="true" className={levelInUse === 'sequence' ? styles.nameInUse : ''}>sequence</span>
          {valued && <span aria-hidden="true" title="V(prompt): what the critic expected before the answer">V</span>}
          <span aria-hidden="true">{alongText ? 'mean A' : 'advantage'}</span>
          <span aria-hidden="true">update</span>
        </div>
      )}
      <div className={styles.body} ref={body} style={style}>
        <div ref={grid} role="grid" aria-label={single ? 'One answer to each prompt' : `Answers to ${batch.prompts[group] ?? ''}`} onKeyDown={(event) => moveFocus(event, grid.current, onSelect)}>
          {visible.map((i) => row(i, false))}
        </div>
        {compact && rows[only] && marks[only] && <RowFacts row={rows[only]} marks={marks[only]} isInUse={levelInUse === 'sequence'} />}
        {compact && selected?.completion === shown[only] && (
          <Strip token={selected.token} onSelect={onSelect}>
            {row(only, true)}
          </Strip>
        )}
      </div>
    </section>
  );
}

/** The chosen answer in cells that a finger can hit, scrolled so that the chosen token stands in the middle. */
function Strip({ token, onSelect, children }: { token: number; onSelect: RolloutsProps['onSelect']; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const strip = ref.current;
    if (strip) strip.scrollLeft = (token + 0.5) * STRIP_CELL - strip.clientWidth / 2;
  }, [token]);
  return (
    <div ref={ref} className={styles.strip} style={{ '--cell-width': `${STRIP_CELL}px` } as CSSProperties} role="grid" aria-label="The same answer in large cells" onKeyDown={(event) => moveFocus(event, ref.current, onSelect)}>
      {children}
    </div>
  );
}

/** Cell pitch, CSS px, where other columns have `taken` some of the width: 14 where it fits, narrower for long answers, never below 10 (the phone: 8.5); then the row scrolls. */
function cellWidth(width: number, longest: number, taken: number, compact: boolean): number {
  if (width === 0) return 14;
  return Math.max(compact ? 8.5 : 10, Math.min(14, (width - taken) / longest));
}

interface HeadProps extends RolloutsProps {
  batch: BatchRecord;
  single: boolean;
  words: string;
  /** The phone shows one row at a time: which, of how many. */
  place: { at: number; of: number; onPlace(at: number): void } | null;
  /** The phone's switch of the line of V. */
  values: ReactNode;
}

function Head({ batch, group, onGroup, steps, onStep, single, words, place, values }: HeadProps) {
  const size = single ? PAGE : 1;
  const at = steps.indexOf(batch.step);
  const before = at > 0 ? steps[at - 1] : undefined;
  const after = at >= 0 ? steps[at + 1] : undefined;
  return (
    <header className={styles.head}>
      <h2>Rollouts</h2>
      <Stepper
        name={single ? 'page of prompts' : 'prompt'}
        onPrevious={group > 0 ? () => onGroup(Math.max(0, group - size)) : undefined}
        onNext={group + size < batch.prompts.length ? () => onGroup(group + size) : undefined}
      >
        <span className={single ? '' : styles.prompt}>
          {single ? `${group + 1} to ${Math.min(batch.prompts.length, group + size)} of ${batch.prompts.length}` : batch.prompts[group]}
        </span>
      </Stepper>
      <span className={styles.words}>{words}</span>
      <Stepper
        name="step"
        onPrevious={before === undefined ? undefined : () => onStep(before)}
        onNext={after === undefined ? undefined : () => onStep(after)}
      >
        step {batch.step}
      </Stepper>
      {values}
      {place === null ? (
        <Legend />
      ) : (
        <Stepper
          name={single ? 'row' : 'answer'}
          onPrevious={place.at > 0 ? () => place.onPlace(place.at - 1) : undefined}
          onNext={place.at < place.of - 1 ? () => place.onPlace(place.at + 1) : undefined}
        >
          {place.at + 1} of {place.of}
        </Stepper>
      )}
    </header>
  );
}

/** Shows or hides V before each token under the text. */
function ValueSwitch({ shown, onShow, short = false }: { shown: boolean; onShow(shown: boolean): void; short?: boolean }) {
  return (
    <button type="button" className={styles.valueSwitch} aria-pressed={shown} aria-label="V line under the text" title="V before each token, as a line under the text" onClick={() => onShow(!shown)}>
      {short ? 'V' : 'V line'}
    </button>
  );
}

/** Encodings of the cells: colour by ratio, and the two marks. */
function Legend() {
  return (
    <p className={styles.legend}>
      <span>r .61</span>
      <span className={styles.ramp} aria-hidden="true">
        {[-4, -3, -2, -1, 0, 1, 2, 3, 4].map((bin) => (
          <i key={bin} style={{ background: `var(${binVariable(bin)})` }} />
        ))}
      </span>
      <span>1.65</span>
      <i className={`${styles.sample} ${styles.clipped} ${styles.above}`} style={{ '--cell': 'var(--ratio-hi-3)' } as CSSProperties} aria-hidden="true" />
      <span>clipped</span>
      <i className={`${styles.sample} ${styles.kept} ${styles.below}`} style={{ '--cell': 'var(--ratio-lo-3)' } as CSSProperties} aria-hidden="true" />
      <span>outside, kept</span>
    </p>
  );
}

/** Arrow keys, Home, End and Escape inside the grid; focus and selection move together. */
function moveFocus(event: KeyboardEvent, grid: HTMLElement | null, onSelect: (address: TokenAddress | null) => void): void {
  const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-token]');
  if (!cell || !grid || event.ctrlKey || event.metaKey || event.altKey) return;
  const lines = [...grid.querySelectorAll<HTMLElement>('[role=row]')].map((line) => [...line.querySelectorAll<HTMLElement>('[data-token]')]);
  const y = lines.findIndex((line) => line.includes(cell));
  const x = lines[y]?.indexOf(cell) ?? 0;
  const last = (lines[y]?.length ?? 1) - 1;
  const targets: Record<string, HTMLElement | undefined> = {
    ArrowRight: lines[y]?.[Math.min(last, x + 1)],
    ArrowLeft: lines[y]?.[Math.max(0, x - 1)],
    ArrowDown: lines[y + 1]?.[Math.min(x, (lines[y + 1]?.length ?? 1) - 1)] ?? cell,
    ArrowUp: lines[y - 1]?.[Math.min(x, (lines[y - 1]?.length ?? 1) - 1)] ?? cell,
    Home: lines[y]?.[0],
    End: lines[y]?.[last],
    Enter: cell,
    ' ': cell,
  };
  const target = targets[event.key];
  if (event.key === 'Escape') onSelect(null);
  else if (target) {
    onSelect({ completion: Number(target.dataset['row']), token: Number(target.dataset['token']) });
    target.focus();
    target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Before any training: what the base policy writes, so that its habit is seen. */
function Answers({ answers }: { answers: readonly ShowcaseAnswer[] }) {
  return (
    <section className={styles.root} aria-label="What the base policy writes">
      <header className={styles.head}>
        <h2>What the base policy writes</h2>
        <span className={styles.words}>before any training, most likely token each time</span>
      </header>
      {answers.length === 0 ? (
        <p className={styles.emptyLine}>answers appear here when the policy has loaded; rollouts fill it while it runs</p>
      ) : (
        <ul className={styles.answers}>
          {answers.map((answer) => (
            <li key={answer.prompt}>
              <span className={styles.answerPrompt}>{answer.prompt}</span>
              <span className={styles.answerText}>{answer.response}</span>
              <span className={styles.answerVerdict}>
                {answer.correct ? <TickIcon /> : <CrossIcon />}
                <span className="visually-hidden">{answer.correct ? 'right' : 'wrong'}</span>
                {!answer.correct && <span>should end in {answer.expected}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
