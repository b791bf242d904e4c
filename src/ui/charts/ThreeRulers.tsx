import { useLayoutEffect, useMemo, useRef } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import type { Level } from '../../core/levels';
import { LEVEL_TITLE, LEVELS } from '../../core/levels';
import { baseOf, getObjective, HISTOGRAM_EDGES } from '../../objectives';
import { Glyph } from '../theme/Glyph';
import { fraction, percent, ratio, significant } from '../theme/numbers';
import { prepareCanvas, readColours } from './canvas';
import { drawClipRow, shareY, ZERO_LIFT } from './drawClipRow';
import type { FanPicture } from './drawFans';
import { drawFans, fanY, maximumPoint } from './drawFans';
import { useSize, useThemeKey, useThrottled } from './hooks';
import { levelColour, objectiveAt, objectiveTitle, ratioLevel, widthLabel } from './looks';
import { allRatiosOne, lastRollouts, linearLimit, nothingLive, RATIO_NOISE, summarise } from './rulersData';
import type { LevelSummary } from './rulersData';
import { columnBoxes } from './rulersGeometry';
import { linearScale, SIGNED_LOG_SCALE } from './scales';
import styles from './threeRulers.module.css';
import type { RulerScale, ThreeRulersProps } from './types';

const COUNT_WORDS = ['no', 'one', 'two', 'three', 'four', 'five'];

/**
 * The same tokens on three rulers: log ratio of every minibatch at token, subsentence and sequence level on one shared
 * axis, the clip band of each level, and what each clip takes. All from the metrics that are computed at every level
 * whichever objective trains.
 */
export function ThreeRulers(props: ThreeRulersProps) {
  const { objective, clip, scale: scaleKind, compact = false } = props;
  const updates = useThrottled(props.updates);
  const fansRef = useRef<HTMLDivElement>(null);
  const rowRef = useRef<HTMLDivElement>(null);
  const fansSize = useSize(fansRef);
  const rowSize = useSize(rowRef);
  const fans = compact ? 3 : 5;
  const rollouts = useMemo(() => lastRollouts(updates, fans), [updates, fans]);
  const summaries = useMemo(() => LEVELS.map((level) => summarise(rollouts, level)), [rollouts]);
  const levelInUse = ratioLevel(objective);
  const edges = useMemo(() => clipEdges(clip), [clip]);
  const scale = useMemo(() => {
    if (scaleKind === 'log') return SIGNED_LOG_SCALE;
    return linearScale(linearLimit(rollouts, Math.max(...LEVELS.map((level) => edges[level].high))));
  }, [scaleKind, rollouts, edges]);
  const columns = useMemo(() => columnBoxes(fansSize.width, compact), [fansSize.width, compact]);
  const picture = useMemo<FanPicture>(
    () => ({ ...fansSize, columns, rollouts, fans, scale, edges, levelInUse, histogramEdges: HISTOGRAM_EDGES }),
    [fansSize, columns, rollouts, fans, scale, edges, levelInUse],
  );
  const clipPicture = useMemo(() => ({ ...rowSize, columns, rollouts, fans, means: summaries.map((s) => s?.clipFraction ?? null) }), [rowSize, columns, rollouts, fans, summaries]);
  const gutters = { '--gutter-left': compact ? '36px' : '58px', '--gutter-right': compact ? '0px' : '46px', '--column-gap': compact ? '10px' : '24px' };
  const shownCount = COUNT_WORDS[rollouts.length] ?? String(rollouts.length);
  return (
    <section className={`${styles.root} ${compact ? styles.compact : ''}`} style={gutters as CSSProperties} aria-label="Three rulers, one batch">
      <Head scale={scaleKind} onScale={props.onScale} compact={compact} />
      <div className={styles.columns}>
        {LEVELS.map((level) => (
          <ColumnHead key={level} level={level} objective={objective} inUse={level === levelInUse} width={clip[level]} compact={compact} />
        ))}
      </div>
      <div className={styles.fans} ref={fansRef}>
        <FanCanvas picture={picture} label={describe(summaries, rollouts.length)} />
        <FanLabels picture={picture} summaries={summaries} compact={compact} />
        <Notice {...props} isEmpty={rollouts.length === 0} isFlat={allRatiosOne(rollouts)} isDead={nothingLive(rollouts)} />
      </div>
      <p className={styles.caption}>
        <span>
          <b>Clip fraction</b>
          {compact ? ', share of live tokens' : ` share of live tokens (A ≠ 0) whose gradient is cut to zero, at each level’s own ε${exceptionWords(objective)}`}
        </span>
        {!compact && rollouts.length > 0 && (
          <span className={styles.quiet}>
            dotted: mean of {shownCount} rollout{rollouts.length === 1 ? '' : 's'}
          </span>
        )}
      </p>
      <div className={styles.clipRow} ref={rowRef}>
        <ClipCanvas picture={clipPicture} />
        <ClipLabels width={rowSize.width} height={rowSize.height} ends={columns.map((box) => box.x + box.width)} summaries={summaries} compact={compact} />
      </div>
      <p className={styles.caption}>
        <span>
          <b>{compact ? 'Clipped tokens' : 'What the clip takes'}</b>
          {compact ? ', and the gradient they carried' : ' share of tokens, then share of the gradient they carried'}
        </span>
      </p>
      <Bars name="tokens" values={summaries.map((s) => s?.clipFraction ?? null)} outlined compact={compact} />
      <Bars name="gradient" values={summaries.map((s) => s?.gradientClipped ?? null)} compact={compact} />
    </section>
  );
}

/** What to mind at the level of an objective whose clip does not cut, or that has none. */
function exceptionWords(objective: string): string {
  const { title, clipEffect } = getObjective(objective);
  if (clipEffect === 'hold') return `; ${title} holds their weight instead`;
  return clipEffect === 'none' ? `; ${title} cuts none, its level is only measured` : '';
}

/** Log of each level's clip edges, nats. */
function clipEdges(clip: ThreeRulersProps['clip']): FanPicture['edges'] {
  const edge = (level: Level) => ({ low: clip[level].low < 1 ? Math.log1p(-clip[level].low) : -Infinity, high: Math.log1p(clip[level].high) });
  return { token: edge('token'), segment: edge('segment'), sequence: edge('sequence') };
}

function Head({ scale, onScale, compact }: { scale: RulerScale; onScale(scale: RulerScale): void; compact: boolean }) {
  return (
    <header className={styles.head}>
      <h2>Three rulers, one batch</h2>
      <p className={styles.subtitle}>Each fan is one rollout: ratios start at 1, then drift</p>
      {!compact && (
        <p className={styles.legend} aria-hidden="true">
          <svg width={20} height={14} viewBox="0 0 20 14">
            <rect x={0} y={1} width={20} height={12} fill="var(--ink)" opacity={0.2} />
            <rect x={0} y={4} width={20} height={6} fill="var(--ink)" opacity={0.35} />
            <path d="M0 7H20" stroke="var(--ink)" strokeWidth={1.7} />
            <path d="M0 .9H20M0 13.1H20" stroke="var(--ink)" strokeWidth={0.9} />
          </svg>
          80&thinsp;%, 98&thinsp;%, extremes
          <svg width={16} height={14} viewBox="0 0 16 14">
            <rect x={0} y={2} width={16} height={10} fill="var(--band)" />
            <path d="M0 2H16M0 12H16" stroke="var(--ink)" strokeWidth={1.4} />
          </svg>
          clip band
        </p>
      )}
      <div className={styles.switch} role="group" aria-label="Scale of log r">
        {(['log', 'linear'] as const).map((kind) => (
          <button key={kind} type="button" aria-pressed={scale === kind} onClick={() => onScale(kind)}>
            {kind}
          </button>
        ))}
      </div>
    </header>
  );
}

/** Characters of a pair of widths such as "ε .03/.05"; "ε 3e−4/4e−4" is longer. */
const LONG_LABEL = 9;

interface ColumnHeadProps {
  level: Level;
  objective: string;
  inUse: boolean;
  width: { low: number; high: number };
  compact: boolean;
}

function ColumnHead({ level, objective, inUse, width, compact }: ColumnHeadProps) {
  const owner = objectiveAt(level, objective);
  const hasBand = getObjective(owner).widths !== null;
  const label = widthLabel(width);
  // Beside the longest title there is room for a long pair of widths alone.
  const isTight = compact || (level === 'segment' && label.length > LONG_LABEL);
  return (
    <div className={styles.columnHead}>
      <Glyph kind={level} />
      <h3>{LEVEL_TITLE[level]}</h3>
      <span className={inUse && hasBand ? styles.inUse : styles.quiet}>
        {!isTight && <span className={styles.owner}>{baseOf(owner) === owner ? objectiveTitle(owner) : 'mixed'} </span>}
        {label}
        {inUse && hasBand && (isTight ? <span className="visually-hidden">, in use</span> : ', in use')}
      </span>
    </div>
  );
}

function FanCanvas({ picture, label }: { picture: FanPicture; label: string }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const theme = useThemeKey();
  useLayoutEffect(() => {
    const canvas = ref.current;
    if (!canvas || picture.width === 0 || picture.height === 0) return;
    const context = prepareCanvas(canvas, picture.width, picture.height);
    if (context) drawFans(context, picture, readColours(canvas));
  }, [picture, theme]);
  return <canvas ref={ref} className={styles.canvas} role="img" aria-label={label} />;
}

function ClipCanvas({ picture }: { picture: Parameters<typeof drawClipRow>[1] }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const theme = useThemeKey();
  useLayoutEffect(() => {
    const canvas = ref.current;
    if (!canvas || picture.width === 0 || picture.height === 0) return;
    const context = prepareCanvas(canvas, picture.width, picture.height);
    if (context) drawClipRow(context, picture, readColours(canvas));
  }, [picture, theme]);
  return <canvas ref={ref} className={styles.canvas} aria-hidden="true" />;
}

/** What the fans show, in one sentence a level. */
function describe(summaries: readonly (LevelSummary | null)[], rollouts: number): string {
  if (rollouts === 0) return 'Log ratio at token, subsentence and sequence level: empty until training runs.';
  const parts = LEVELS.map((level, i) => {
    const s = summaries[i];
    if (!s) return '';
    return `${LEVEL_TITLE[level]}: standard deviation ${fraction(s.sd, 3)}, largest ratio ${ratio(Math.exp(s.maxLogRatio))}, ${percent(s.clipFraction)} of live tokens clipped.`;
  });
  return `Log ratio over the last ${rollouts} rollouts. ${parts.join(' ')}`;
}

/** "+0.01", "0", "−1" for the left edge; the ratio itself for the right edge. */
function logLabel(tick: number): string {
  if (tick === 0) return '0';
  const text = String(Number(Math.abs(tick).toPrecision(3)));
  return (tick > 0 ? '+' : '\u2212') + text;
}

function ratioLabel(tick: number): string {
  const value = Math.exp(tick);
  if (tick === 0) return '1';
  return value >= 1000 ? `${Math.round(value / 1000)}k` : value.toFixed(2);
}

function FanLabels({ picture, summaries, compact }: { picture: FanPicture; summaries: readonly (LevelSummary | null)[]; compact: boolean }) {
  const { width, height, scale, columns } = picture;
  if (width === 0 || height === 0) return null;
  const ticks = compact && scale.kind === 'log' ? scale.ticks.filter((tick) => Math.abs(tick) !== 0.01 && tick !== 10) : scale.ticks;
  const y = (tick: number) => fanY(scale, height, tick) + 4;
  const last = columns[2];
  return (
    <svg className={styles.labels} width={width} height={height} aria-hidden="true">
      {!compact && (
        <g className={styles.axisName}>
          <text x={-8} y={-9} textAnchor="end">log r</text>
          <text x={width + 8} y={-9}>r</text>
        </g>
      )}
      {ticks.map((tick) => (
        <g key={tick} className={styles.axis}>
          <text x={-8} y={y(tick)} textAnchor="end">{logLabel(tick)}</text>
          {!compact && <text x={width + 8} y={y(tick)}>{ratioLabel(tick)}</text>}
        </g>
      ))}
      {!compact && last && last.width > 190 && (
        <text className={styles.axisHalo} x={last.x + last.width} y={height - 9} textAnchor="end">
          {scale.kind === 'log' ? 'linear inside ±.01, log outside' : 'linear; beyond the axis at its edge'}
        </text>
      )}
      {LEVELS.map((level, index) => {
        const box = columns[index];
        const summary = summaries[index];
        const point = box && maximumPoint(level, box, picture);
        if (!box || !summary || !point) return null;
        const value = ratio(Math.exp(point.logRatio), 1);
        return (
          <g key={level} className={styles.figure}>
            {!compact && <text x={box.x + 5} y={height - 9}>sd {significant(summary.sd)}</text>}
            {!compact && <text className={styles.quietFigure} x={box.x + box.width} y={11} textAnchor="end">log n</text>}
            {Math.abs(point.logRatio) > RATIO_NOISE && <text x={point.x - 7} y={Math.max(10, point.y + 4)} textAnchor="end">{compact ? value : `max r ${value}`}</text>}
          </g>
        );
      })}
    </svg>
  );
}

interface ClipLabelsProps {
  width: number;
  height: number;
  /** Right edge of each column, CSS px. */
  ends: readonly number[];
  summaries: readonly (LevelSummary | null)[];
  compact: boolean;
}

function ClipLabels({ width, height, ends, summaries, compact }: ClipLabelsProps) {
  if (width === 0 || height === 0) return null;
  const ticks = compact ? [1, 0.01] : [1, 0.1, 0.01, 0.001];
  return (
    <svg className={styles.labels} width={width} height={height} aria-hidden="true">
      {ticks.map((share) => (
        <text key={share} className={styles.axis} x={-8} y={shareY(height, share) + 4} textAnchor="end">{`${fraction(share * 100, share < 0.01 ? 1 : 0)}%`}</text>
      ))}
      <text className={styles.axis} x={-8} y={height - ZERO_LIFT + 4} textAnchor="end">0</text>
      {!compact &&
        summaries.map((summary, index) => {
          if (!summary) return null;
          const y = Math.min(height - 2, Math.max(12, shareY(height, summary.clipFraction) + 4));
          return (
            <text key={index} className={styles.share} x={ends[index]} y={y} textAnchor="end">{percent(summary.clipFraction)}</text>
          );
        })}
    </svg>
  );
}

interface BarsProps {
  name: string;
  /** Shares 0..1 by level; null without data. */
  values: readonly (number | null)[];
  outlined?: boolean;
  compact: boolean;
}

function Bars({ name, values, outlined = false, compact }: BarsProps) {
  return (
    <div className={styles.bars}>
      <span className={styles.barName}>{compact ? '' : name}</span>
      <div className={styles.barColumns}>
        {LEVELS.map((level, index) => {
          const value = values[index] ?? null;
          return (
            <div key={level} className={styles.bar}>
              <span className={styles.track}>
                {value !== null && value > 0 && (
                  <span className={outlined ? styles.outlined : styles.solid} style={{ width: `${100 * value}%`, color: levelColour(level) }} />
                )}
              </span>
              <span className={outlined ? styles.barValue : styles.barValueStrong}>
                <span className="visually-hidden">{`${LEVEL_TITLE[level]}, share of ${name} clipped: `}</span>
                {percent(value)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

type NoticeProps = Pick<ThreeRulersProps, 'onPolicy' | 'updatesPerRollout' | 'onShowDial'> & { isEmpty: boolean; isFlat: boolean; isDead: boolean };

/** Why there is nothing to see, where that is so: no data yet, ratios that cannot leave 1, or no group that teaches. */
function Notice({ isEmpty, isFlat, isDead, onPolicy, updatesPerRollout, onShowDial }: NoticeProps): ReactNode {
  if (isEmpty && !onPolicy) return <p className={styles.notice}>fills while it runs</p>;
  if (!isFlat && !isEmpty) return null;
  if (isDead && !onPolicy) {
    return (
      <div className={`${styles.notice} ${styles.reason}`}>
        <p>every group is all alike: advantage 0, so the policy stays where it is</p>
      </div>
    );
  }
  if (!onPolicy) return null;
  const reason = updatesPerRollout <= 1 ? 'one update per rollout: every ratio is 1' : 'no update has used this rollout yet: every ratio is 1';
  return (
    <div className={`${styles.notice} ${styles.reason}`}>
      <p>{reason}</p>
      {onShowDial && (
        <button type="button" onClick={onShowDial}>
          Set minibatches and epochs
        </button>
      )}
    </div>
  );
}
