import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent } from 'react';
import { CLIP_STATES } from '../../lens/types';
import type { CompletionRecord, LensColumns } from '../../lens/types';
import { useSize } from '../charts/hooks';
import { Segmented } from '../controls/Segmented';
import { Select } from '../controls/Select';
import { Stepper } from '../text/Stepper';
import { ratioColour } from '../text/ratioBins';
import { CrossIcon, TickIcon } from '../theme/icons';
import { percent, ratio, signed } from '../theme/numbers';
import { useLens, useLensModel } from './context';
import type { RewardFilter, SortBy } from './lensModel';
import styles from './answers.module.css';
import { arrange, useSummaries, type RowSummary } from './order';
import { isClipped, isKeptOutside, visible } from './words';

const ROW = 30;
/** Rows drawn beyond the visible ones, so that a quick scroll shows no gap. */
const SPARE = 4;

const SORTS: readonly { value: SortBy; label: string }[] = [
  { value: 'batch', label: 'batch order' },
  { value: 'maxRatio', label: 'max ratio' },
  { value: 'clippedTokens', label: 'clipped share' },
  { value: 'clippedGradient', label: 'clipped gradient' },
];

/** The answers to one prompt under one another, or of the whole batch: filter, sort, search. Only what is in sight is drawn. */
export function AnswersPanel() {
  const model = useLensModel();
  const source = useLens((state) => state.frozen?.source ?? null);
  const columns = useLens((state) => state.answer?.columns ?? null);
  const place = useLens((state) => state.place);
  const sortBy = useLens((state) => state.sortBy);
  const filter = useLens((state) => state.filter);
  const search = useLens((state) => state.search);
  const summaries = useSummaries();
  const group = source?.record.completions[place.completion]?.group ?? 0;
  const isSingle = source ? source.record.completions.length <= source.record.prompts.length : false;
  const [wholeBatch, setWholeBatch] = useState(false);
  const everything = wholeBatch || isSingle;
  const rows = useMemo(() => {
    if (!source) return [];
    const of = everything ? summaries : summaries.filter(({ completion }) => source.record.completions[completion]?.group === group);
    return arrange(of, source, sortBy, filter, search);
  }, [source, summaries, everything, group, sortBy, filter, search]);
  const placeOf = useMemo(() => new Map(columns ? Array.from(columns.completions, (completion, r) => [completion, r] as const) : []), [columns]);
  if (!source || !columns) return <p className={styles.empty}>fills in a moment</p>;
  const { prompts, completions } = source.record;
  const toPrompt = (next: number) => {
    const first = completions.findIndex((row) => row.group === next);
    if (first >= 0) model.choose({ completion: first, token: 0 });
  };
  return (
    <div className={styles.root}>
      <div className={styles.filters}>
        {isSingle ? null : (
          <Segmented label="Which answers" value={everything ? 'all' : 'prompt'} onChange={(value) => setWholeBatch(value === 'all')} options={[{ value: 'prompt', label: 'this prompt' }, { value: 'all', label: 'all prompts' }]} />
        )}
        {everything ? null : (
          <Stepper name="prompt" onPrevious={group > 0 ? () => toPrompt(group - 1) : undefined} onNext={group < prompts.length - 1 ? () => toPrompt(group + 1) : undefined}>
            <span className="mono">{visible(prompts[group] ?? '')}</span>
          </Stepper>
        )}
        <Segmented
          label="Reward"
          value={filter}
          onChange={(value) => model.set({ filter: value as RewardFilter })}
          options={[{ value: 'all', label: 'all' }, { value: 'right', label: 'right' }, { value: 'wrong', label: 'wrong' }]}
        />
        <label className={styles.sort}>
          <span className="quiet">by</span>
          <Select name="Sort answers" value={sortBy} options={SORTS} onChange={(value) => model.set({ sortBy: value as SortBy })} />
        </label>
        <input className={styles.search} type="search" placeholder="search in text" aria-label="Search in prompts and answers" value={search} onChange={(event) => model.set({ search: event.target.value })} />
        <span className="quiet" role="status">
          {rows.length} of {everything ? completions.length : completions.filter((row) => row.group === group).length}
        </span>
      </div>
      <VirtualGrid rows={rows} columns={columns} placeOf={placeOf} completions={completions} prompts={prompts} showPrompt={everything} />
    </div>
  );
}

interface GridProps {
  rows: readonly RowSummary[];
  columns: LensColumns;
  placeOf: ReadonlyMap<number, number>;
  completions: readonly CompletionRecord[];
  prompts: readonly string[];
  showPrompt: boolean;
}

function VirtualGrid({ rows, columns, placeOf, completions, prompts, showPrompt }: GridProps) {
  const model = useLensModel();
  const place = useLens((state) => state.place);
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  const [scroll, setScroll] = useState(0);
  const id = useId();
  const at = rows.findIndex(({ completion }) => completion === place.completion);
  const first = Math.max(0, Math.floor(scroll / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((scroll + Math.max(height, ROW)) / ROW) + SPARE);
  useEffect(() => {
    // The chosen answer stays in sight when it changes or the order does.
    const element = box.current;
    if (!element || at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  }, [at]);
  const goto = (index: number, token: number) => {
    const row = rows[index];
    const length = row ? (completions[row.completion]?.tokens.length ?? 1) : 0;
    if (row) model.choose({ completion: row.completion, token: Math.min(Math.max(0, token), length - 1) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height / ROW) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goto(Math.min(rows.length - 1, at + 1), place.token),
      ArrowUp: () => goto(Math.max(0, at - 1), place.token),
      ArrowRight: () => goto(Math.max(0, at), place.token + 1),
      ArrowLeft: () => goto(Math.max(0, at), place.token - 1),
      PageDown: () => goto(Math.min(rows.length - 1, at + page), place.token),
      PageUp: () => goto(Math.max(0, at - page), place.token),
      Home: () => goto(0, 0),
      End: () => goto(rows.length - 1, place.token),
      Enter: () => model.set({ lower: 'token' }),
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div className={styles.names} aria-hidden="true">
        <span>{showPrompt ? 'prompt' : 'answer'}</span>
        <span>tokens on their ratio; clipped marked</span>
        <span>max r</span>
        <span>token</span>
        <span>subs.</span>
        <span>seq.</span>
        <span>reward, A</span>
      </div>
      <div
        ref={box}
        className={styles.scroller}
        role="grid"
        aria-label="Answers: maximum ratio, share clipped at each level, reward and advantage"
        aria-rowcount={rows.length}
        aria-colcount={6}
        aria-activedescendant={at >= first && at < last ? `${id}-${at}` : undefined}
        tabIndex={0}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: rows.length * ROW, position: 'relative' }} role="rowgroup">
          {rows.slice(first, last).map((summary, i) => {
            const index = first + i;
            const row = completions[summary.completion];
            const r = placeOf.get(summary.completion);
            if (!row || r === undefined) return null;
            return (
              <AnswerRow
                key={summary.completion}
                id={`${id}-${index}`}
                index={index}
                top={index * ROW}
                name={showPrompt ? (prompts[row.group] ?? '') : String(index + 1)}
                row={row}
                summary={summary}
                columns={columns}
                start={columns.rowStart[r] as number}
                token={summary.completion === place.completion ? place.token : null}
                onToken={(token) => model.choose({ completion: summary.completion, token })}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

interface RowProps {
  id: string;
  index: number;
  top: number;
  name: string;
  row: CompletionRecord;
  summary: RowSummary;
  columns: LensColumns;
  /** First token of the row in the columns. */
  start: number;
  token: number | null;
  onToken(token: number): void;
}

function AnswerRow({ id, index, top, name, row, summary, columns, start, token, onToken }: RowProps) {
  const leader = useLens((state) => state.leaders.token);
  const state = columns.objectives[leader]?.state;
  const text = row.tokens.map(visible).join('');
  return (
    <div id={id} role="row" aria-rowindex={index + 1} aria-selected={token !== null} className={`${styles.row} ${token !== null ? styles.chosen : ''}`} style={{ top }}>
      <span role="rowheader" className={`${styles.name} mono`}>
        {visible(name)}
      </span>
      <span role="gridcell" aria-label={token === null ? text : `${text}; token ${token + 1}, ${visible(row.tokens[token] ?? '')}, ratio ${ratio(Math.exp(columns.logRatio.token[start + token] ?? 0))}`} className={styles.tokens}>
        {row.tokens.map((piece, t) => {
          const logRatio = columns.logRatio.token[start + t] ?? 0;
          const verdict = CLIP_STATES[state?.[start + t] ?? 0] ?? 'inside';
          const mark = isClipped(verdict) ? styles.clipped : isKeptOutside(verdict) ? styles.kept : '';
          const isSegmentStart = columns.segStart[start + t] === start + t && t > 0;
          return (
            <i
              key={t}
              aria-hidden="true"
              className={`${styles.cell} ${mark} ${verdict.endsWith('Low') ? styles.below : ''} ${isSegmentStart ? styles.segment : ''} ${t === token ? styles.token : ''}`}
              style={{ '--cell': ratioColour(logRatio) } as CSSProperties}
              onClick={() => onToken(t)}
            >
              {visible(piece)}
            </i>
          );
        })}
      </span>
      <span role="gridcell" aria-label={`max ratio ${ratio(summary.maxRatio, 3)}`}>
        {ratio(summary.maxRatio, 3)}
      </span>
      <span role="gridcell" aria-label={`${percent(summary.clipped.token)} of tokens clipped at token level`}>
        {percent(summary.clipped.token)}
      </span>
      <span role="gridcell" aria-label={`${percent(summary.clipped.segment)} at subsentence level`}>
        {percent(summary.clipped.segment)}
      </span>
      <span role="gridcell" aria-label={`${percent(summary.clipped.sequence)} at sequence level`}>
        {percent(summary.clipped.sequence)}
      </span>
      <span role="gridcell" aria-label={`reward ${row.reward}, ${row.advantages ? 'mean advantage' : 'advantage'} ${signed(row.advantage)}`} className={styles.reward}>
        {row.reward > 0 ? <TickIcon /> : <CrossIcon />} {signed(row.advantage)}
      </span>
    </div>
  );
}
