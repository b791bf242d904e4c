import { memo } from 'react';
import type { CSSProperties } from 'react';
import type { Level } from '../../core/levels';
import type { CompletionRecord } from '../../worker/protocol';
import { CrossIcon, TickIcon } from '../theme/icons';
import { fraction, ratio, signed } from '../theme/numbers';
import type { Mark, RowMarks, SegmentMark } from './marks';
import { ratioColour } from './ratioBins';
import styles from './rollouts.module.css';
import { valueHeight, valueLineWords, valueSteps, valueWords } from './valueLine';
import { stateWords, tokenWords } from './words';

interface RowProps {
  /** Index into the batch's completions. */
  index: number;
  row: CompletionRecord;
  marks: RowMarks;
  /** "1", or the prompt where every row has its own. */
  name: string;
  levelInUse: Level;
  /** Selected token of this row, or null. */
  selected: number | null;
  /** Token that the tab key reaches, or null when another row has it. */
  tabStop: number | null;
  onSelect(completion: number, token: number): void;
  /** Range of the line of V under the answer; null where none is drawn. */
  values: { low: number; high: number } | null;
  /** Cells only, wide enough for a finger (the phone's strip). */
  wide?: boolean;
}

/** One completion: subsentence brackets, token cells, and what the whole of it earned. */
export const RolloutRow = memo(function RolloutRow(props: RowProps) {
  const { row, marks, name, levelInUse, wide = false } = props;
  const isDead = row.advantages ? row.advantages.every((a) => a === 0) : row.advantage === 0;
  const mean = row.advantages ? 'mean advantage' : 'advantage';
  return (
    <div className={`${styles.row} ${isDead ? styles.dead : ''} ${props.values && row.values ? styles.withValues : ''}`} role="row">
      {!wide && <span className={styles.rowName} role="rowheader">{name}</span>}
      <Cells {...props} />
      {!wide && (
        <>
          <span className={styles.sequenceCell} role="gridcell" aria-label={`sequence ratio ${ratio(marks.sequence.ratio, row.tokens.length)}${stateWords(marks.sequence)}`}>
            <SequenceRatio mark={marks.sequence} tokens={row.tokens.length} isInUse={levelInUse === 'sequence'} />
          </span>
          <span className={styles.reward} role="gridcell" aria-label={row.reward > 0 ? 'right, reward 1' : 'wrong, reward 0'}>
            {row.reward > 0 ? <TickIcon /> : <CrossIcon />}
          </span>
          {row.value !== null && (
            <span className={styles.value} role="gridcell" aria-label={`V of the prompt ${fraction(row.value)}`}>
              {fraction(row.value)}
            </span>
          )}
          <span className={styles.advantage} role="gridcell" aria-label={`${mean} ${signed(row.advantage)}`}>
            {signed(row.advantage)}
          </span>
          <span className={styles.update} role="gridcell" aria-label={row.minibatch === 0 ? 'left out of the updates' : `seen by update ${row.minibatch} of its iteration`}>
            {row.minibatch === 0 ? '\u2013' : row.minibatch}
          </span>
        </>
      )}
    </div>
  );
});

function Cells({ index, row, marks, levelInUse, selected, tabStop, onSelect, values, wide = false }: RowProps) {
  return (
    <span className={styles.text} style={{ '--tokens': row.tokens.length } as CSSProperties} role="presentation">
      <span className={`${styles.brackets} ${levelInUse === 'segment' ? styles.inUse : ''}`} aria-hidden="true">
        {marks.segments.map((segment) => (
          <Bracket key={segment.start} segment={segment} />
        ))}
      </span>
      <span className={`${styles.tokens} ${levelInUse === 'token' ? styles.inUse : ''}`} role="presentation">
        {row.tokens.map((token, t) => {
          const mark = marks.tokens[t] as Mark;
          const value = valueWords(row, t);
          return (
            <span
              key={t}
              role="gridcell"
              className={cellClass(mark)}
              style={{ '--cell': ratioColour(mark.logRatio) } as CSSProperties}
              aria-label={tokenWords(token, mark, marks, t, value)}
              title={value || undefined}
              aria-selected={t === selected}
              tabIndex={t === tabStop ? 0 : -1}
              data-row={index}
              data-token={t}
              onClick={() => onSelect(index, t)}
            >
              {token}
            </span>
          );
        })}
      </span>
      {values && row.values && !wide && <ValueLine values={row.values} range={values} selected={selected} />}
    </span>
  );
}

/** V before each token, as steps under their cells; the last value stands at the end, the chosen one wears a dot. */
function ValueLine({ values, range, selected }: { values: Float32Array; range: { low: number; high: number }; selected: number | null }) {
  const T = values.length;
  const last = values[T - 1];
  const chosen = selected !== null && selected < T ? selected : null;
  return (
    <span className={styles.valueLine} role="gridcell" aria-label={valueLineWords(values)}>
      <svg viewBox={`0 0 ${T} 1`} preserveAspectRatio="none" aria-hidden="true">
        <path className={styles.valueEdges} d={`M0 ${1 - valueHeight(1, range)}H${T}M0 ${1 - valueHeight(0, range)}H${T}`} />
        <path className={styles.valueArea} d={valueSteps(values, range, true)} />
        <path className={styles.valueSteps} d={valueSteps(values, range)} />
      </svg>
      {chosen !== null && <i className={styles.valueDot} style={{ left: `calc(var(--cell-width) * ${chosen + 0.5})`, bottom: `${100 * valueHeight(values[chosen], range)}%` }} />}
      <span className={styles.valueEnd} style={{ bottom: `${100 * valueHeight(last, range)}%` }}>{fraction(last)}</span>
    </span>
  );
}

function cellClass({ verdict, side }: Mark): string {
  if (verdict === 'inside') return styles.cell ?? '';
  return `${styles.cell} ${verdict === 'clipped' ? styles.clipped : styles.kept} ${side === 'low' ? styles.below : styles.above}`;
}

function Bracket({ segment }: { segment: SegmentMark }) {
  const { start, end, verdict } = segment;
  const length = end - start;
  const state = verdict === 'clipped' ? styles.bold : verdict === 'kept' ? styles.dotted : '';
  return (
    <span className={`${styles.bracket} ${state}`} style={{ gridColumn: `${start + 1} / ${end + 1}` }}>
      {length > 1 && <span>{ratio(segment.ratio, length)}</span>}
    </span>
  );
}

/** The ratio of a whole answer, with the clip's bar and a hatch that keeps clear of the number. */
export function SequenceRatio({ mark, tokens, isInUse }: { mark: Mark; tokens: number; isInUse: boolean }) {
  const state = mark.verdict === 'inside' ? '' : `${mark.verdict === 'clipped' ? styles.clipped : styles.kept} ${mark.side === 'low' ? styles.below : styles.above}`;
  return <span className={`${styles.sequenceRatio} ${state} ${isInUse ? styles.inUse : ''}`}>{ratio(mark.ratio, tokens)}</span>;
}

/** "sequence 1.013, reward 1, advantage +.725" under a row on the phone. */
export function RowFacts({ row, marks, isInUse }: { row: CompletionRecord; marks: RowMarks; isInUse: boolean }) {
  return (
    <p className={styles.facts}>
      <span>
        sequence <SequenceRatio mark={marks.sequence} tokens={row.tokens.length} isInUse={isInUse} />
      </span>
      <span className={styles.fact}>
        reward {fraction(row.reward, 0)} {row.reward > 0 ? <TickIcon /> : <CrossIcon />}
      </span>
      {row.value !== null && (
        <span>
          {row.values ? 'V' : 'V(prompt)'} <b>{row.values ? `${fraction(row.values[0])} \u2192 ${fraction(row.values[row.values.length - 1])}` : fraction(row.value)}</b>
        </span>
      )}
      <span>
        {row.advantages ? 'mean advantage' : 'advantage'} <b>{signed(row.advantage)}</b>
      </span>
    </p>
  );
}
