import { useRef } from 'react';
import type { KeyboardEvent, PointerEvent } from 'react';
import { LEVELS, type Level } from '../../core/levels';
import type { Icicle, IcicleCell } from '../../lens/types';
import { levelColour } from '../charts/looks';
import { fraction, ratio, setting } from '../theme/numbers';
import { spread, stemInverse, stemLimit, stemScale, type IcicleLayout } from './icicleGeometry';
import styles from './icicle.module.css';
import { spoken, unitAt } from './words';

const DASH: Record<Level, string | undefined> = { token: '1.5 3', segment: '7 4', sequence: undefined };

interface Props {
  layout: IcicleLayout;
  icicle: Icicle;
  before: Icicle | null;
  widths: Record<Level, { low: number; high: number }>;
  token: number;
  tokens: readonly string[];
  onToken(token: number): void;
  onMove(logRatio: number): void;
}

/** Log ratios of the three levels over one another, between the nested bands. The chosen token's dot can be taken hold of. */
export function Stems({ layout, icicle, before, widths, token, tokens, onToken, onMove }: Props) {
  const { plot, left, pitch, count } = layout;
  if (plot.bottom - plot.top < 40) return null;
  const limit = Math.max(stemLimit(icicle), before ? stemLimit(before) : 0);
  const y = stemScale(layout, limit);
  const end = left + pitch * count;
  const ticks = limit > 1 ? [10, 1, 0.1, 0, -0.1, -1, -10] : [1, 0.1, 0, -0.1, -1];
  const centre = (t: number) => left + (t + 0.5) * pitch;
  const chosen = icicle.token[token];
  const was = before?.token[token];
  return (
    <g>
      <g aria-hidden="true">
        {left > 60 ? <text className={styles.axis} x={0} y={plot.top + 8}>log r</text> : null}
        {ticks.map((tick) => (
          <g key={tick}>
            <path className={tick === 0 ? styles.zero : styles.grid} d={`M${left} ${y(tick)}H${end}`} />
            {left > 60 ? (
              <text className={styles.axis} x={left - 8} y={y(tick) + 4} textAnchor="end">
                {tick > 0 ? `+${setting(tick)}` : setting(tick)}
              </text>
            ) : null}
          </g>
        ))}
        <rect className={styles.column} x={left + token * pitch} y={plot.top - 8} width={pitch} height={plot.bottom - plot.top + 8} />
        {LEVELS.map((level) => (
          <Band key={level} level={level} cells={level === 'sequence' ? [icicle.sequence] : icicle[level]} layout={layout} y={y} />
        ))}
        <EpsLabels layout={layout} icicle={icicle} widths={widths} y={y} />
        {icicle.token.map((cell) => (
          <g key={cell.start} className={styles.stem} onClick={() => onToken(cell.start)}>
            <rect x={left + cell.start * pitch} y={plot.top} width={pitch} height={plot.bottom - plot.top} fill="transparent" />
            <path d={`M${centre(cell.start)} ${y(0)}V${y(cell.logRatio)}`} />
            <circle cx={centre(cell.start)} cy={y(cell.logRatio)} r={Math.min(2.7, pitch / 4)} />
          </g>
        ))}
        {before ? <Ghost before={before} layout={layout} token={token} y={y} /> : null}
        {icicle.segment.map((cell) => (
          <path key={cell.start} className={styles.segmentLine} d={`M${left + cell.start * pitch + 1.5} ${y(cell.logRatio)}H${left + cell.end * pitch - 1.5}`} />
        ))}
        <path className={styles.sequenceLine} d={`M${left} ${y(icicle.sequence.logRatio)}H${end}`} />
      </g>
      {chosen ? (
        <Handle
          x={centre(token)}
          y={y(chosen.logRatio)}
          logRatio={chosen.logRatio}
          limit={limit}
          words={`log ratio ${fraction(chosen.logRatio, 3)}, ratio ${ratio(chosen.ratio)}${was ? `, was ${ratio(was.ratio)}` : ''}; subsentence ${ratio(unitAt(icicle, 'segment', token).ratio, 4)}, sequence ${ratio(icicle.sequence.ratio, 4)}`}
          name={`Log ratio of ${spoken(tokens[token] ?? '')}: drag or arrow keys move it`}
          inverse={stemInverse(layout, limit)}
          onMove={onMove}
        />
      ) : null}
    </g>
  );
}

/** A level's band: soft fill, edges in its hue and dash; SSPO's edges differ by subsentence. */
function Band({ level, cells, layout, y }: { level: Level; cells: readonly IcicleCell[]; layout: IcicleLayout; y(logRatio: number): number }) {
  const { left, pitch, plot } = layout;
  const edge = (value: number) => (value > 0 ? Math.log(value) : -Infinity);
  const place = (logRatio: number) => (Number.isFinite(logRatio) ? y(logRatio) : plot.bottom);
  const runs: { start: number; end: number; low: number; high: number }[] = [];
  for (const { start, end, low, high } of cells) {
    const last = runs[runs.length - 1];
    if (last && last.low === low && last.high === high) last.end = end;
    else runs.push({ start, end, low, high });
  }
  return (
    <g style={{ color: levelColour(level) }}>
      {runs.map((run) => {
        const x = left + run.start * pitch;
        const width = (run.end - run.start) * pitch;
        const top = place(edge(run.high));
        const bottom = place(edge(run.low));
        return (
          <g key={run.start}>
            <rect x={x} y={top} width={width} height={Math.max(0, bottom - top)} fill="var(--band)" />
            <path className={styles.edge} strokeDasharray={DASH[level]} d={`M${x} ${top}h${width}${run.low > 0 ? `M${x} ${bottom}h${width}` : ''}`} />
          </g>
        );
      })}
    </g>
  );
}

function EpsLabels({ layout, icicle, widths, y }: { layout: IcicleLayout; icicle: Icicle; widths: Props['widths']; y(logRatio: number): number }) {
  const places = LEVELS.map((level) => y(Math.log(level === 'sequence' ? icicle.sequence.high : level === 'token' ? (icicle.token[0]?.high ?? 1) : 1 + widths.segment.high)));
  const spaced = spread(places, 15);
  return (
    <g>
      <text className={styles.axis} x={layout.right} y={Math.min(layout.plot.top, (spaced[0] ?? 0) - 18) + 4}>{'\u03b5'}</text>
      {LEVELS.map((level, i) => (
        <text key={level} className={styles.epsLabel} x={layout.right} y={(spaced[i] ?? 0) + 4}>
          {setting(widths[level].high)}
        </text>
      ))}
    </g>
  );
}

/** Where the moved token and its units stood before. */
function Ghost({ before, layout, token, y }: { before: Icicle; layout: IcicleLayout; token: number; y(logRatio: number): number }) {
  const { left, pitch } = layout;
  const segment = unitAt(before, 'segment', token);
  const logRatio = before.token[token]?.logRatio ?? 0;
  return (
    <g className={styles.ghost}>
      <circle cx={left + (token + 0.5) * pitch} cy={y(logRatio)} r={4} />
      <path d={`M${left + segment.start * pitch + 1.5} ${y(segment.logRatio)}H${left + segment.end * pitch - 1.5}M${left} ${y(before.sequence.logRatio)}H${left + pitch * layout.count}`} />
    </g>
  );
}

interface HandleProps {
  x: number;
  y: number;
  logRatio: number;
  limit: number;
  name: string;
  words: string;
  inverse(y: number): number;
  onMove(logRatio: number): void;
}

/** The dot of the chosen token: a slider of its log ratio. */
function Handle({ x, y, logRatio, limit, name, words, inverse, onMove }: HandleProps) {
  const isHeld = useRef(false);
  const at = (event: PointerEvent<SVGGElement>): number => {
    const box = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    return inverse(event.clientY - (box?.top ?? 0));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.shiftKey ? 0.25 : 0.02;
    if (event.key === 'ArrowUp') onMove(logRatio + step);
    else if (event.key === 'ArrowDown') onMove(logRatio - step);
    else if (event.key === 'PageUp') onMove(logRatio + 0.25);
    else if (event.key === 'PageDown') onMove(logRatio - 0.25);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <g
      className={styles.handle}
      role="slider"
      tabIndex={0}
      aria-label={name}
      aria-orientation="vertical"
      aria-valuemin={-limit}
      aria-valuemax={limit}
      aria-valuenow={Number(logRatio.toFixed(4))}
      aria-valuetext={words}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        isHeld.current = true;
      }}
      onPointerMove={(event) => {
        if (isHeld.current) onMove(at(event));
      }}
      onPointerUp={() => {
        isHeld.current = false;
      }}
      onPointerCancel={() => {
        isHeld.current = false;
      }}
    >
      <circle cx={x} cy={y} r={14} fill="transparent" />
      <circle className={styles.dot} cx={x} cy={y} r={4.5} />
    </g>
  );
}
