import { useRef } from 'react';
import { useSize } from '../charts/hooks';
import { fraction } from '../theme/numbers';
import type { Box } from './calibrationMarks';
import styles from './critic.module.css';
import { axisY, type Axis } from './curves';
import { PLACES, type Progress, type ProgressLine } from './progress';
import { countedWords, gapWords, plural } from './words';

const LEFT = 20;
const TOP = 6;
const PLOT = 96;
const HEIGHT = TOP + PLOT + 15;

/** Wrong answers are dashed: the two differ by more than a shade. */
const DASH = { right: undefined, wrong: '4 3' } as const;
const NAMES = ['right', 'wrong'] as const;

/** Mean V along the answer, of right and of wrong answers: what a token critic has learnt. */
export function ProgressPlot({ progress, hue }: { progress: Progress | null; hue: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const { width } = useSize(frame);
  const box: Box = { left: LEFT, top: TOP, width: Math.max(1, width - LEFT - 4), height: PLOT };
  const axis = progressAxis(progress);
  const right = box.left + box.width;
  return (
    <figure className={`${styles.figure} ${styles.tall}`}>
      <h3 className={styles.title}>V along the answer</h3>
      <div ref={frame} className={styles.frame} role="img" aria-label={describe(progress)}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            {axis.ticks.map((tick) => (
              <g key={tick}>
                <line x1={box.left} x2={right} y1={axisY(tick, axis, box)} y2={axisY(tick, axis, box)} stroke="var(--grid)" />
                <text className={styles.axis} x={box.left - 5} y={axisY(tick, axis, box) + 4} textAnchor="end">{tick === 1 ? '1' : fraction(tick, 1)}</text>
              </g>
            ))}
            <text className={styles.axis} x={box.left} y={HEIGHT - 2}>first token</text>
            <text className={styles.axis} x={right} y={HEIGHT - 2} textAnchor="end">last</text>
            {progress &&
              NAMES.map((name) => (
                <g key={name}>
                  <path d={bandPath(progress[name], axis, box)} fill={hue} fillOpacity="var(--soft)" />
                  <path d={linePath(progress[name].means, axis, box)} fill="none" stroke={name === 'right' ? hue : 'var(--ink)'} strokeWidth={1.7} strokeDasharray={DASH[name]} strokeLinejoin="round" />
                </g>
              ))}
          </svg>
        )}
        {progress === null && <p className={styles.empty}>fills while it runs</p>}
      </div>
      <figcaption className={styles.caption}>
        {NAMES.map((name) => (
          <span key={name} className={styles.key}>
            <svg width={16} height={8} aria-hidden="true">
              <path d="M0 4H16" stroke={name === 'right' ? hue : 'var(--ink)'} strokeWidth={1.7} strokeDasharray={DASH[name]} />
            </svg>
            {name} {progress ? progress[name].answers : ''}
          </span>
        ))}
        <span className={styles.counted}>{progress ? `${countedWords(progress.right.answers + progress.wrong.answers, progress.iterations)}` : 'mean V before each token'}</span>
      </figcaption>
    </figure>
  );
}

/** 0 to 1, and further by halves where a mean lies outside. */
function progressAxis(progress: Progress | null): Axis {
  const means = progress ? NAMES.flatMap((name) => progress[name].means) : [];
  const low = Math.min(0, Math.floor(2 * Math.min(0, ...means)) / 2);
  const high = Math.max(1, Math.ceil(2 * Math.max(1, ...means)) / 2);
  return { low, high, ticks: [...new Set([low, 0, 0.5, 1, high])].sort((a, b) => a - b) };
}

const placeOf = (place: number, box: Box) => (box.left + (box.width * place) / PLACES).toFixed(1);

function linePath(means: readonly number[], axis: Axis, box: Box): string {
  return means.map((value, place) => `${place === 0 ? 'M' : 'L'}${placeOf(place, box)} ${axisY(value, axis, box).toFixed(1)}`).join('');
}

/** The mean plus and minus its margin. */
function bandPath({ means, margins }: ProgressLine, axis: Axis, box: Box): string {
  if (means.length === 0) return '';
  const edge = (sign: 1 | -1) => means.map((value, place) => `${placeOf(place, box)} ${axisY(value + sign * margins[place], axis, box).toFixed(1)}`);
  return `M${edge(1).join('L')}L${edge(-1).reverse().join('L')}Z`;
}

function describe(progress: Progress | null): string {
  if (progress === null) return 'V along the answer: no iteration yet.';
  const lines = NAMES.map((name) => {
    const { answers, means } = progress[name];
    if (answers === 0) return `No ${name} answer.`;
    return `${plural(answers, `${name} answer`)}: mean V ${fraction(means[0])} before the first token, ${fraction(means[PLACES / 2])} halfway, ${fraction(means[PLACES])} before the last.`;
  });
  return `V along the answer. ${lines.join(' ')} ${gapWords(progress)}`;
}
