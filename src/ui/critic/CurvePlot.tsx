import { useRef } from 'react';
import { useSize } from '../charts/hooks';
import { significant } from '../theme/numbers';
import type { Box } from './calibrationMarks';
import styles from './critic.module.css';
import { axisY, curvePath, type Axis } from './curves';

const LEFT = 24;
const TOP = 6;
const PLOT = 36;
const HEIGHT = TOP + PLOT + 6;

interface Props {
  title: string;
  unit: string;
  /** What the number is, for a tooltip. */
  help: string;
  pieces: readonly (readonly { x: number; value: number }[])[];
  axis: Axis;
  /** Planned end of the run, iterations. */
  end: number;
  /** The newest value; null where there is none. */
  now: number | null;
  note?: string | null;
}

/** One small curve of the critic over the iterations of the run. */
export function CurvePlot({ title, unit, help, pieces, axis, end, now, note }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const { width } = useSize(frame);
  const box: Box = { left: LEFT, top: TOP, width: Math.max(1, width - LEFT - 2), height: PLOT };
  const last = pieces.at(-1)?.at(-1);
  const range = pieces.flat().map((point) => point.value);
  const spoken = range.length === 0 ? `${title}: no iteration yet.` : `${title}${unit ? `, ${unit}` : ''}, over ${last?.x} of ${end} iterations: now ${significant(now ?? NaN)}, lowest ${significant(Math.min(...range))}, highest ${significant(Math.max(...range))}.`;
  return (
    <figure className={styles.figure} title={help}>
      <h3 className={styles.title}>
        {title}
        {unit && <span>, {unit}</span>}
        <b>{now === null ? '' : significant(now)}</b>
      </h3>
      <div ref={frame} className={styles.frame} role="img" aria-label={spoken}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            {axis.ticks.map((tick) => (
              <g key={tick}>
                <line x1={box.left} x2={box.left + box.width} y1={axisY(tick, axis, box)} y2={axisY(tick, axis, box)} stroke={tick === 0 ? 'var(--line-2)' : 'var(--grid)'} />
                <text className={styles.axis} x={box.left - 5} y={axisY(tick, axis, box) + 4} textAnchor="end">{significant(tick, 1)}</text>
              </g>
            ))}
            <path d={curvePath(pieces, end, axis, box)} fill="none" stroke="var(--ink-2)" strokeWidth={1.4} strokeLinejoin="round" />
          </svg>
        )}
        {range.length === 0 && <p className={styles.empty}>fills while it runs</p>}
      </div>
      {note && <figcaption className={styles.caption}>{note}</figcaption>}
    </figure>
  );
}
