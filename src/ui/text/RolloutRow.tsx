import { memo } from 'react';
import type { CSSProperties } from 'react';
import type { Level } from '../../core/levels';
import type { CompletionRecord } from '../../worker/protocol';
import { CrossIcon, TickIcon } from '../theme/icons';
import { fraction, ratio, signed } from '../theme/numbers';
import type { Mark, RowMarks, SegmentMark } from './marks';
import { ratioColour } from './ratioBins';
import styles from './rollouts.module.css';
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
  /** Cells only, wide enough for a finger (the phone's strip). */
  wide?: boolean;
}

/** One completion: subsentence brackets, token cells, and what the whole of it earned. */
export const RolloutRow = memo(function RolloutRow(props: RowProps) {
  const { row, marks, name, levelInUse, wide = false } = props;
  const isDead = row.advantage === 0;
  return (
    <div className={`${styles.row} ${isDead ? styles.dead : ''}`} role="row">
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
          <span className={styles.advantage} role="gridcell" aria-label={`advantage ${signed(row.advantage)}`}>
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

function Cells({ index, row, marks, levelInUse, selected, tabStop, onSelect }: RowProps) {
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
          return (
            <span
              key={t}
              role="gridcell"
              className={cellClass(mark)}
              style={{ '--cell': ratioColour(mark.logRatio) } as CSSProperties}
              aria-label={tokenWords(token, mark, marks, t)}
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
      <span>
        advantage <b>{signed(row.advantage)}</b>
      </span>
    </p>
  );
}
