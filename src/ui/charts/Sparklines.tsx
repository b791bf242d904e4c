import { fraction, grouped, percent, significant } from '../theme/numbers';
import { useThrottled } from './hooks';
import styles from './sparklines.module.css';
import type { SparklineSeries, SparklinesProps } from './types';

const WIDTH = 110;
const HEIGHT = 16;

/** Small lines on one x axis, each with its unit and its current value. */
export function Sparklines({ series, length }: SparklinesProps) {
  const shown = useThrottled(series);
  return (
    <dl className={styles.root}>
      {shown.map((line) => (
        <div key={line.id} className={styles.row} title={line.help}>
          <dt>
            {line.label}
            {line.unit && <span>, {line.unit}</span>}
          </dt>
          <dd className={styles.line}>
            <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`} preserveAspectRatio="none" aria-hidden="true">
              <path d={`M0 ${HEIGHT + 1.5}H${WIDTH}`} stroke="var(--line-2)" strokeWidth={1} vectorEffect="non-scaling-stroke" />
              <path d={sparkPath(line.values, Math.max(length, line.values.length))} fill="none" stroke="var(--ink-2)" strokeWidth={1.3} strokeLinejoin="round" vectorEffect="non-scaling-stroke" />
            </svg>
          </dd>
          <dd className={styles.value}>{currentValue(line)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** SVG path of the values over `length` places; a gap where a value is missing, a flat line in the middle when all are alike. */
export function sparkPath(values: readonly (number | null)[], length: number): string {
  const finite = values.filter((v): v is number => v !== null && Number.isFinite(v));
  if (finite.length === 0) return '';
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const place = (value: number) => (high > low ? HEIGHT - 1 - ((value - low) / (high - low)) * (HEIGHT - 2) : HEIGHT / 2);
  let path = '';
  let pen = 'M';
  values.forEach((value, index) => {
    if (value === null || !Number.isFinite(value)) {
      pen = 'M';
      return;
    }
    const x = length > 1 ? (index / (length - 1)) * WIDTH : 0;
    path += `${pen}${x.toFixed(1)} ${place(value).toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

/** The last value that exists, written as the series asks. */
function currentValue({ values, format }: SparklineSeries): string {
  const last = values.findLast((value) => value !== null);
  if (last === undefined || last === null) return fraction(null);
  if (format === 'percent') return percent(last);
  return format === 'count' ? grouped(last) : significant(last);
}
