import { useId, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent, PointerEvent } from 'react';
import { LEVEL_TITLE, type Level } from '../../core/levels';
import type { Icicle, IcicleCell } from '../../lens/types';
import { ratioColour } from '../text/ratioBins';
import { ratio, setting } from '../theme/numbers';
import { cellBox, type IcicleLayout } from './icicleGeometry';
import styles from './icicle.module.css';
import { CutHandles } from './CutHandles';
import { Stems } from './Stems';
import { cellWords, isClipped, isKeptOutside, shortRatio, stateSuffix, unitAt, visible } from './words';

/** From top to bottom: the whole, its subsentences, their tokens. */
const ROWS: readonly Level[] = ['sequence', 'segment', 'token'];

interface Props {
  layout: IcicleLayout;
  icicle: Icicle;
  tokens: readonly string[];
  widths: Record<Level, { low: number; high: number }>;
  /** The chosen token. */
  token: number;
  onToken(token: number): void;
  /** Opens what the lens says of the chosen token. */
  onOpen(token: number): void;
  /** The row before its token was moved; null while nothing is moved. */
  before: Icicle | null;
  onMove(logRatio: number): void;
  /** Hand-edited cuts: null when not editing. */
  onToggleCut: ((token: number) => void) | null;
}

/** What is lit: a unit, and by it its token, subsentence and sequence. */
interface Lit {
  level: Level;
  start: number;
  end: number;
}

/** One answer at three levels, and the log ratios under it. A grid of three rows; arrows move inside it. */
export function IcicleChart(props: Props) {
  const { layout, icicle, tokens, token, onToken, onOpen } = props;
  const [lit, setLit] = useState<Lit | null>(null);
  const [level, setLevel] = useState<Level>('token');
  const grid = useRef<SVGGElement>(null);
  const hatch = useId();
  const unitsOf = (row: Level): readonly IcicleCell[] => (row === 'sequence' ? [icicle.sequence] : icicle[row]);
  const focusCell = (row: Level, at: number) => {
    setLevel(row);
    const unit = unitAt(icicle, row, at);
    grid.current?.querySelector<SVGGElement>(`[data-level="${row}"][data-start="${unit.start}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<SVGGElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = (event.target as Element).closest<SVGGElement>('[data-start]');
    if (!cell) return;
    const row = cell.dataset['level'] as Level;
    const start = Number(cell.dataset['start']);
    const units = unitsOf(row);
    const at = units.findIndex((unit) => unit.start === start);
    const rowAt = ROWS.indexOf(row);
    /** Up and down keep the chosen token in sight. */
    const inSight = token >= (units[at]?.start ?? 0) && token < (units[at]?.end ?? 0) ? token : start;
    const goto = (unit: IcicleCell | undefined) => {
      if (!unit) return;
      onToken(unit.start);
      focusCell(row, unit.start);
    };
    if (event.key === 'ArrowRight') goto(units[Math.min(units.length - 1, at + 1)]);
    else if (event.key === 'ArrowLeft') goto(units[Math.max(0, at - 1)]);
    else if (event.key === 'Home') goto(units[0]);
    else if (event.key === 'End') goto(units[units.length - 1]);
    else if (event.key === 'ArrowUp') focusCell(ROWS[Math.max(0, rowAt - 1)] as Level, inSight);
    else if (event.key === 'ArrowDown') focusCell(ROWS[Math.min(ROWS.length - 1, rowAt + 1)] as Level, inSight);
    else if (event.key === 'Enter' || event.key === ' ') {
      const chosen = row === 'token' ? start : inSight;
      onToken(chosen);
      onOpen(chosen);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const light = (event: PointerEvent<SVGGElement>) => {
    const cell = (event.target as Element).closest<SVGGElement>('[data-start]');
    setLit(cell ? { level: cell.dataset['level'] as Level, start: Number(cell.dataset['start']), end: Number(cell.dataset['end']) } : null);
  };
  return (
    <svg className={styles.chart} width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`} data-picture="three-rulers">
      <title>One answer on three rulers</title>
      <defs>
        <pattern id={hatch} width={4} height={4} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M2 0V4" stroke="var(--hatch)" strokeWidth={1.2} />
        </pattern>
      </defs>
      <g ref={grid} role="grid" aria-label="Sequence, subsentences and tokens of one answer" aria-rowcount={3} aria-colcount={tokens.length} onKeyDown={onKeyDown} onPointerMove={light} onPointerLeave={() => setLit(null)}>
        {ROWS.map((row, rowIndex) => (
          <g key={row} role="row" aria-rowindex={rowIndex + 1}>
            <RowName layout={layout} level={row} width={props.widths[row]} />
            {unitsOf(row).map((cell) => (
              <Cell
                key={cell.start}
                layout={layout}
                cell={cell}
                tokens={tokens}
                hatch={hatch}
                isChosen={token >= cell.start && token < cell.end}
                isTabStop={row === level && token >= cell.start && token < cell.end}
                onClick={() => {
                  setLevel(row);
                  const chosen = row === 'token' || token < cell.start || token >= cell.end ? cell.start : token;
                  onToken(chosen);
                  if (row === 'token') onOpen(chosen);
                }}
                onFocus={() => {
                  setLevel(row);
                  setLit({ level: row, start: cell.start, end: cell.end });
                }}
                onBlur={() => setLit(null)}
              />
            ))}
          </g>
        ))}
      </g>
      <g aria-hidden="true" pointerEvents="none">
        {ROWS.flatMap((row) => unitsOf(row)).map((cell) => (
          <CellText key={`${cell.level}${cell.start}`} cell={cell} tokens={tokens} layout={layout} />
        ))}
      </g>
      <Outlines layout={layout} icicle={icicle} token={token} lit={lit} />
      {props.onToggleCut ? <CutHandles layout={layout} icicle={icicle} tokens={tokens} onToggle={props.onToggleCut} /> : null}
      <Stems layout={layout} icicle={icicle} before={props.before} widths={props.widths} token={token} tokens={tokens} onToken={onToken} onMove={props.onMove} />
    </svg>
  );
}

function RowName({ layout, level, width }: { layout: IcicleLayout; level: Level; width: { low: number; high: number } }) {
  const row = layout.rows[level];
  const isAbove = layout.left < 60;
  const eps = width.low === width.high ? setting(width.low) : `${setting(width.low)}/${setting(width.high)}`;
  return (
    <g role="rowheader" aria-label={`${LEVEL_TITLE[level]}, epsilon ${eps}`}>
      {isAbove ? (
        <text className={styles.name} x={layout.left + layout.shift} y={row.y - 6}>
          {LEVEL_TITLE[level]} <tspan className={styles.eps}>{`\u03b5 ${eps}`}</tspan>
        </text>
      ) : (
        <>
          <text className={styles.name} x={0} y={row.y + row.height / 2 - 2}>
            {LEVEL_TITLE[level]}
          </text>
          <text className={styles.eps} x={0} y={row.y + row.height / 2 + 12}>{`\u03b5 ${eps}`}</text>
        </>
      )}
    </g>
  );
}

interface CellProps {
  layout: IcicleLayout;
  cell: IcicleCell;
  tokens: readonly string[];
  hatch: string;
  isChosen: boolean;
  isTabStop: boolean;
  onClick(): void;
  onFocus(): void;
  onBlur(): void;
}

/** Width of text in the page's sans at 12 px, roughly: only to decide whether words fit. */
const textWidth = (text: string): number => text.length * 6.7;

function Cell({ layout, cell, tokens, hatch, isChosen, isTabStop, onClick, onFocus, onBlur }: CellProps) {
  const { x, y, width, height } = cellBox(layout, cell);
  const clipped = isClipped(cell.state);
  const isHigh = cell.state.endsWith('High');
  const radius = Math.min(3, width / 4);
  return (
    <g
      role="gridcell"
      aria-label={cellWords(cell, tokens)}
      aria-selected={isChosen}
      aria-colindex={cell.start + 1}
      aria-colspan={cell.end - cell.start}
      tabIndex={isTabStop ? 0 : -1}
      className={styles.cell}
      data-level={cell.level}
      data-start={cell.start}
      data-end={cell.end}
      style={{ '--cell': ratioColour(cell.logRatio) } as CSSProperties}
      onClick={onClick}
      onFocus={onFocus}
      onBlur={onBlur}
    >
      <rect x={x} y={y} width={width} height={height} rx={radius} fill="var(--cell)" />
      {clipped ? <rect x={x} y={y} width={width} height={height} rx={radius} fill={`url(#${hatch})`} /> : null}
      {clipped ? <rect className={styles.bar} x={x} y={isHigh ? y - 2 : y + height - 1} width={width} height={3} rx={1} /> : null}
      {isKeptOutside(cell.state) ? <path className={styles.dots} d={`M${x} ${isHigh ? y - 1.5 : y + height + 1.5}h${width}`} /> : null}
    </g>
  );
}

/** What is written on a cell. It stands apart from the cell, whose name says it in whole words. */
function CellText({ cell, tokens, layout }: { cell: IcicleCell; tokens: readonly string[]; layout: IcicleLayout }) {
  return (
    <g style={{ '--cell': ratioColour(cell.logRatio) } as CSSProperties}>
      <Words cell={cell} tokens={tokens} layout={layout} />
    </g>
  );
}

function Words({ cell, tokens, layout }: { cell: IcicleCell; tokens: readonly string[]; layout: IcicleLayout }) {
  const { x: left, y, width, height } = cellBox(layout, cell);
  const x = cell.level === 'sequence' ? left + layout.shift : left;
  const clipped = isClipped(cell.state);
  const middle = x + width / 2;
  const length = cell.end - cell.start;
  if (cell.level === 'token') {
    const isFar = Math.abs(cell.logRatio) >= 0.022;
    const text = visible(tokens[cell.start] ?? '');
    return (
      <>
        <text className={styles.char} x={middle} y={y + 18} style={text.length > 1 ? { fontSize: `${Math.max(11, Math.min(15, (width - 2) / (0.62 * text.length)))}px` } : undefined}>
          {text.length * 6.6 > width + 4 ? `${text.slice(0, Math.max(1, Math.floor(width / 6.6) - 1))}\u2026` : text}
        </text>
        {isFar && width >= 17 ? (
          <text className={styles.number} x={middle} y={y + 36}>
            {shortRatio(cell.ratio)}
          </text>
        ) : null}
      </>
    );
  }
  const value = ratio(cell.ratio, length);
  if (cell.level === 'segment') {
    const long = `${value}${clipped ? ' clipped' : ''}`;
    const text = textWidth(long) + 18 <= width ? long : textWidth(value) - 4 <= width ? value : width >= 20 ? shortRatio(cell.ratio) : '';
    const plate = textWidth(text) + 14;
    return (
      <>
        {clipped && text ? <rect x={middle - Math.min(plate, width) / 2} y={y + height / 2 - 8} width={Math.min(plate, width)} height={16} rx={3} fill="var(--cell)" /> : null}
        <text className={styles.value} x={middle} y={y + height / 2 + 4}>
          {text}
        </text>
      </>
    );
  }
  const words = ` geometric mean of ${length} tokens${stateSuffix(cell.state)}`;
  const isLong = textWidth(value + words) + 24 < width;
  const shown = isLong ? words : stateSuffix(cell.state).replace(', ', ' ');
  return (
    <>
      <rect x={x + 7} y={y + height / 2 - 9} width={textWidth(value + shown) * 0.92 + 18} height={18} rx={3} fill="var(--cell)" />
      <text className={styles.sequence} x={x + 15} y={y + height / 2 + 4}>
        <tspan className={styles.strong}>{value}</tspan>
        {shown}
      </text>
    </>
  );
}

/** The chosen token, its subsentence and the sequence outlined together; what the pointer lights, thinner. */
function Outlines({ layout, icicle, token, lit }: { layout: IcicleLayout; icicle: Icicle; token: number; lit: Lit | null }) {
  const boxes = (start: number, end: number, level: Level) => {
    const inner: { level: Level; start: number; end: number }[] = ROWS.map((row) => {
      if (ROWS.indexOf(row) > ROWS.indexOf(level)) return { level: row, start, end };
      const unit = unitAt(icicle, row, start);
      return { level: row, start: unit.start, end: unit.end };
    });
    return inner.map((unit) => cellBox(layout, unit));
  };
  const outline = (box: { x: number; y: number; width: number; height: number }, key: number, className: string | undefined) => (
    <rect key={key} className={className} x={box.x - 3} y={box.y - 3} width={box.width + 6} height={box.height + 6} rx={5} />
  );
  return (
    <g aria-hidden="true" pointerEvents="none">
      {lit ? boxes(lit.start, lit.end, lit.level).map((box, i) => outline(box, i, styles.lit)) : null}
      {boxes(token, token + 1, 'token').map((box, i) => outline(box, i, styles.chosen))}
    </g>
  );
}
