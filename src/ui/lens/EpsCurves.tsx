import { useRef } from 'react';
import type { CSSProperties, KeyboardEvent, PointerEvent } from 'react';
import { LEVELS, LEVEL_TITLE, type Level } from '../../core/levels';
import type { EpsCurve, EpsMark, MatchQuantity } from '../../lens/types';
import { EPS_MAX, EPS_MIN, epsToFraction, fractionToEps, stepEps } from '../controls/logAxis';
import { levelColour, objectiveTitle } from '../charts/looks';
import { shareHeight } from '../charts/scales';
import { Glyph } from '../theme/Glyph';
import { percent, setting } from '../theme/numbers';
import styles from './curves.module.css';
import { placeLabels } from './labels';

const DASH: Record<Level, string | undefined> = { token: '1.5 3', segment: '7 4', sequence: undefined };
const SHARES = [1, 0.1, 0.01, 0.001];
const EPSILONS = [1e-4, 1e-3, 1e-2, 0.1, 1];
const EPS_TEXT: Record<number, string> = { 1e-4: '10\u207b\u2074', 1e-3: '10\u207b\u00b3', 1e-2: '10\u207b\u00b2' };
/** Lowest drawn share on its lane under the log axis. */
const ZERO_LANE = 14;
const LANE = 23;

interface Props {
  width: number;
  height: number;
  curves: readonly EpsCurve[];
  quantity: MatchQuantity;
  /** Widths in force at each level. */
  widths: Record<Level, { low: number; high: number }>;
  /** A typed objective that trained on the batch, with its widths: its curve stands behind the one that leads its level. */
  typed: { objective: string; low: number; high: number } | null;
  /** The counted share at those widths, by objective, where it has been counted; else it is read off the curve. */
  counted: Readonly<Record<string, number>>;
  onWidth(level: Level, width: { low: number; high: number }): void;
}

const sharesOf = (curve: EpsCurve, quantity: MatchQuantity): Float64Array => (quantity === 'clippedTokens' ? curve.tokens : curve.gradient);
const shareOf = (mark: EpsMark, quantity: MatchQuantity): number => (quantity === 'clippedTokens' ? mark.tokens : mark.gradient);
/** Where a pair of widths stands on the axis. */
export const centreOf = ({ low, high }: { low: number; high: number }): number => (low > 0 && high > 0 ? Math.sqrt(low * high) : Math.max(low, high));

/** The share at an epsilon, read off the curve; the curve is a staircase sampled on a grid, so this is good to a pixel. */
export function shareAt(curve: EpsCurve, quantity: MatchQuantity, epsilon: number): number {
  const shares = sharesOf(curve, quantity);
  const { epsilon: grid } = curve;
  let at = 0;
  while (at < grid.length - 1 && (grid[at + 1] as number) <= epsilon) at++;
  const [e0, e1] = [grid[at] as number, grid[Math.min(at + 1, grid.length - 1)] as number];
  const [s0, s1] = [shares[at] as number, shares[Math.min(at + 1, grid.length - 1)] as number];
  if (e1 <= e0 || epsilon <= e0) return s0;
  return s0 + ((s1 - s0) * Math.log(epsilon / e0)) / Math.log(e1 / e0);
}

/** Clip share over epsilon for the three levels; the sliders under it are its x axis. */
export function EpsCurves({ width, height, curves, quantity, widths, typed, counted, onWidth }: Props) {
  const left = 42;
  const right = Math.max(left + 60, width - 10);
  const top = 12;
  const lanesTop = height - 20 - LANE * LEVELS.length;
  const zero = lanesTop - 14;
  const bottom = Math.max(top + 40, zero - ZERO_LANE);
  const x = (epsilon: number) => left + epsToFraction(epsilon) * (right - left);
  const y = (share: number) => {
    const h = shareHeight(share);
    return h === null ? zero : bottom - h * (bottom - top);
  };
  const lane = (level: Level) => lanesTop + 10 + LANE * LEVELS.indexOf(level);
  const all = curves.flatMap((curve) => {
    const inForce = curve.objective === typed?.objective ? typed : widths[curve.level];
    const current = centreOf(inForce);
    const named = curve.marks.filter((mark) => mark.kind !== 'current' && mark.kind !== 'sdEquivalent' && Math.abs(Math.log(mark.epsilon / current)) > 0.02);
    const same = curve.marks.find((mark) => mark.kind !== 'current' && mark.kind !== 'sdEquivalent' && Math.abs(Math.log(mark.epsilon / current)) <= 0.02);
    const now = { curve, epsilon: current, share: counted[curve.objective] ?? shareAt(curve, quantity, current), name: same && curve.objective === 'gspo' ? same.kind : objectiveTitle(curve.objective), isCurrent: true, shown: inForce.low };
    const others = named
      .filter(() => curve.objective === 'gspo')
      .map((mark) => ({ curve, epsilon: mark.epsilon, share: shareOf(mark, quantity), name: mark.kind as string, isCurrent: false, shown: mark.low }));
    return [now, ...others];
  });
  // Where a typed objective does what its level's leader does, one mark stands for both.
  const own = all.find((point) => point.curve.objective === typed?.objective);
  const twin = all.find((point) => own && point !== own && point.isCurrent && point.curve.level === own.curve.level && point.epsilon === own.epsilon && point.share === own.share);
  const points = own && twin ? all.filter((point) => point !== own).map((point) => (point === twin ? { ...twin, name: `${twin.name} and ${own.name}` } : point)) : all;
  const words = points.map((point) => `${point.name} ${setting(Number(point.shown.toPrecision(3)))}, ${point.share === 0 ? 'none' : percent(point.share)}`);
  const places = placeLabels(
    points.map((point, i) => ({ x: x(point.epsilon), y: y(point.share), text: words[i] ?? '' })),
    { x: left, y: 0, width: right - left, height: zero + 8 },
    curves.flatMap((curve) => Array.from(curve.epsilon, (epsilon, i) => ({ x: x(epsilon) - 2, y: y(sharesOf(curve, quantity)[i] ?? 0) - 2, width: 4, height: 4 }))),
  );
  return (
    <svg className={styles.chart} width={width} height={height} viewBox={`0 0 ${width} ${height}`} data-picture="epsilon-curves" role="group" aria-label="Clip share over epsilon">
      <title>Clip share over epsilon</title>
      <g aria-hidden="true">
        {SHARES.map((share) => (
          <g key={share}>
            <path className={styles.grid} d={`M${left} ${y(share)}H${right}`} />
            <text className={styles.axis} x={left - 8} y={y(share) + 4} textAnchor="end">{`${setting(share * 100)}%`}</text>
          </g>
        ))}
        <path className={styles.zero} d={`M${left} ${zero}H${right}`} />
        <text className={styles.axis} x={left - 8} y={zero + 4} textAnchor="end">0</text>
        {EPSILONS.map((epsilon) => (
          <g key={epsilon}>
            <path className={styles.grid} d={`M${x(epsilon)} ${top}V${zero}`} />
            <text className={styles.axis} x={x(epsilon)} y={height - 3} textAnchor={epsilon === 1 ? 'end' : 'middle'}>{EPS_TEXT[epsilon] ?? setting(epsilon)}</text>
          </g>
        ))}
        {curves.map((curve) => (
          <path
            key={curve.objective}
            className={curve.objective === typed?.objective ? styles.typed : styles.curve}
            style={{ color: levelColour(curve.level) }}
            strokeDasharray={DASH[curve.level]}
            d={Array.from(curve.epsilon, (epsilon, i) => `${i === 0 ? 'M' : 'L'}${x(epsilon).toFixed(1)} ${y(sharesOf(curve, quantity)[i] ?? 0).toFixed(1)}`).join('')}
          />
        ))}
        {points.filter((point) => point.isCurrent).map((point) => (
          <path key={point.curve.objective} className={styles.join} style={{ color: levelColour(point.curve.level) }} d={`M${x(point.epsilon)} ${y(point.share)}V${lane(point.curve.level)}`} />
        ))}
        {points.map((point, i) => (
          <g key={`${point.curve.objective}${point.name}${i}`} style={{ color: levelColour(point.curve.level) }}>
            <circle className={point.isCurrent ? styles.current : styles.mark} cx={x(point.epsilon)} cy={y(point.share)} r={4.5} />
          </g>
        ))}
        {points.map((point, i) => (
          <text key={`${point.curve.objective}${point.name}${i}`} className={styles.label} x={places[i]?.x} y={places[i]?.y} textAnchor={places[i]?.anchor}>
            {words[i]}
          </text>
        ))}
      </g>
      {LEVELS.map((level) => (
        <Lane
          key={level}
          level={level}
          y={lane(level)}
          left={left}
          right={right}
          width={widths[level]}
          ticks={curves.find((curve) => curve.level === level && curve.objective !== typed?.objective)?.marks ?? []}
          onWidth={(next) => onWidth(level, next)}
        />
      ))}
    </svg>
  );
}

interface LaneProps {
  level: Level;
  y: number;
  left: number;
  right: number;
  width: { low: number; high: number };
  ticks: readonly EpsMark[];
  onWidth(width: { low: number; high: number }): void;
}

/** One level's slider on the shared axis. Unequal sides keep their proportion when it moves. */
function Lane({ level, y, left, right, width, ticks, onWidth }: LaneProps) {
  const isHeld = useRef(false);
  const centre = centreOf(width);
  const x = left + epsToFraction(centre) * (right - left);
  const set = (epsilon: number) => {
    const factor = width.low === width.high || centre <= 0 ? null : epsilon / centre;
    const scaled = (value: number) => Number((value * (factor ?? 1)).toPrecision(2));
    onWidth(factor === null ? { low: epsilon, high: epsilon } : { low: scaled(width.low), high: scaled(width.high) });
  };
  const at = (event: PointerEvent<SVGGElement>): number => {
    const svg = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    return fractionToEps((event.clientX - (svg?.left ?? 0) - left) / (right - left));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const coarse = event.shiftKey || event.key.startsWith('Page');
    if (['ArrowRight', 'ArrowUp', 'PageUp'].includes(event.key)) set(stepEps(centre, 1, coarse));
    else if (['ArrowLeft', 'ArrowDown', 'PageDown'].includes(event.key)) set(stepEps(centre, -1, coarse));
    else if (event.key === 'Home') set(EPS_MIN);
    else if (event.key === 'End') set(EPS_MAX);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const text = width.low === width.high ? setting(width.low) : `${setting(width.low)} below, ${setting(width.high)} above`;
  return (
    <g style={{ color: levelColour(level), '--hue': levelColour(level) } as CSSProperties}>
      <g transform={`translate(0 ${y - 8})`} aria-hidden="true">
        <Glyph kind={level} />
      </g>
      <g
        className={styles.lane}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          isHeld.current = true;
          set(at(event));
        }}
        onPointerMove={(event) => {
          if (isHeld.current) set(at(event));
        }}
        onPointerUp={() => {
          isHeld.current = false;
        }}
        onPointerCancel={() => {
          isHeld.current = false;
        }}
      >
        <rect x={left - 8} y={y - LANE / 2} width={right - left + 16} height={LANE} fill="transparent" />
        <path className={styles.rest} d={`M${left} ${y}H${right}`} />
        <path className={styles.fill} strokeDasharray={DASH[level]} d={`M${left} ${y}H${x}`} />
        {ticks.filter((tick) => tick.kind === 'paper' || tick.kind === 'borrowed' || tick.kind === 'sized').map((tick) => {
          const place = left + epsToFraction(tick.epsilon) * (right - left);
          return (
            <path key={tick.kind} className={styles.tick} d={`M${place} ${y - 5}V${y + 5}`}>
              <title>{`${tick.label} ${setting(tick.low)}`}</title>
            </path>
          );
        })}
        <g role="slider" tabIndex={0} className={styles.handle} aria-label={`${LEVEL_TITLE[level]}, clip width`} aria-valuemin={EPS_MIN} aria-valuemax={EPS_MAX} aria-valuenow={centre} aria-valuetext={`\u03b5 ${text}`} data-level={level} onKeyDown={onKeyDown}>
          <circle cx={x} cy={y} r={6.5} />
        </g>
      </g>
    </g>
  );
}
