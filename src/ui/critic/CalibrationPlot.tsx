import { useMemo, useRef } from 'react';
import { useSize } from '../charts/hooks';
import { fraction, grouped } from '../theme/numbers';
import { binMarks, placeX, placeY, type Box, type Calibration } from './calibrationMarks';
import styles from './critic.module.css';
import { correlationWords, countedWords, leavesRange } from './words';

const LEFT = 20;
const TOP = 6;
const PLOT = 84;
/** The histogram of V, and the gap above it. */
const HISTOGRAM = 14;
const GAP = 5;
const FLOOR = TOP + PLOT + GAP + HISTOGRAM;
const HEIGHT = FLOOR + 16;
const TICKS = [0, 0.5, 1];
const tickText = (tick: number) => (tick === 1 ? '1' : fraction(tick, 1));

/** V(prompt) against how often those prompts were answered rightly; null before the first report. */
export function CalibrationPlot({ calibration, hue }: { calibration: Calibration | null; hue: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const { width } = useSize(frame);
  const box = useMemo<Box>(() => ({ left: LEFT, top: TOP, width: Math.max(1, width - LEFT - 8), height: PLOT }), [width]);
  const marks = useMemo(() => (calibration ? binMarks(calibration, box, HISTOGRAM) : []), [calibration, box]);
  const right = box.left + box.width;
  return (
    <figure className={`${styles.figure} ${styles.tall}`}>
      <h3 className={styles.title}>Calibration</h3>
      <div ref={frame} className={styles.frame} role="img" aria-label={describe(calibration)}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            {TICKS.map((tick) => (
              <g key={tick}>
                <line x1={box.left} x2={right} y1={placeY(tick, box)} y2={placeY(tick, box)} stroke="var(--grid)" />
                <text className={styles.axis} x={box.left - 5} y={placeY(tick, box) + 4} textAnchor="end">{tickText(tick)}</text>
                <text className={styles.axis} x={placeX(tick, box)} y={HEIGHT - 2} textAnchor={tick === 0 ? 'start' : tick === 1 ? 'end' : 'middle'}>{tick === 0.5 ? 'V(prompt)' : tickText(tick)}</text>
              </g>
            ))}
            <line x1={box.left} y1={placeY(0, box)} x2={right} y2={placeY(1, box)} stroke="var(--ink-3)" strokeDasharray="4 3" />
            <line x1={box.left} x2={right} y1={FLOOR + 0.5} y2={FLOOR + 0.5} stroke="var(--line-2)" />
            {marks.map(({ x, y, radius, yLow, yHigh, bar }) => (
              <g key={bar.x}>
                <rect x={bar.x + 0.5} y={FLOOR - bar.height} width={Math.max(1, bar.width - 1)} height={bar.height} fill="var(--line-2)" />
                <path d={`M${x} ${yHigh}V${yLow}M${x - 2.5} ${yHigh}h5M${x - 2.5} ${yLow}h5`} stroke={hue} strokeWidth={1.1} fill="none" />
                <circle cx={x} cy={y} r={radius} fill={hue} stroke="var(--halo, var(--surface))" />
              </g>
            ))}
            <text className={styles.axis} x={box.left + 4} y={TOP + 9}>share right</text>
          </svg>
        )}
        {calibration === null && <p className={styles.empty}>fills while it runs</p>}
      </div>
      <figcaption className={styles.caption}>
        {calibration ? `${countedWords(calibration.answers, calibration.iterations)}; bars: 95% Wilson interval${leavesRange(calibration) ? '; V outside 0 to 1 stands at the edge' : ''}` : 'by ranges of V; dashed: V as good as its word'}
      </figcaption>
      {calibration && <BinTable calibration={calibration} marks={marks} />}
    </figure>
  );
}

function describe(calibration: Calibration | null): string {
  if (calibration === null) return 'Calibration of V(prompt): no iteration yet.';
  return `V(prompt) against the share of right answers, ${countedWords(calibration.answers, calibration.iterations)}. ${correlationWords(calibration)} The numbers stand in the table that follows.`;
}

/** The plot's numbers for those who cannot see it. */
function BinTable({ calibration, marks }: { calibration: Calibration; marks: ReturnType<typeof binMarks> }) {
  return (
    <table className="visually-hidden">
      <caption>Calibration of V(prompt)</caption>
      <thead>
        <tr>
          <th scope="col">V(prompt)</th>
          <th scope="col">answers</th>
          <th scope="col">mean V</th>
          <th scope="col">share right</th>
          <th scope="col">95 % interval</th>
        </tr>
      </thead>
      <tbody>
        {calibration.bins.map((bin, i) => (
          <tr key={bin.from}>
            <th scope="row">{fraction(bin.from, 1)} to {fraction(bin.to, 1)}</th>
            <td>{grouped(bin.count)}</td>
            <td>{fraction(bin.meanValue)}</td>
            <td>{fraction(bin.successRate)}</td>
            <td>{fraction(marks[i]?.interval.low)} to {fraction(marks[i]?.interval.high)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
