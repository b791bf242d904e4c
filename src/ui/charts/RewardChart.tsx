import { useMemo, useRef } from 'react';
import { ComposedChart, Line, ReferenceDot, ReferenceLine, XAxis, YAxis } from 'recharts';
import { GLYPH_HUE, glyphOf } from '../theme/Glyph';
import { fraction } from '../theme/numbers';
import { useSize, useThrottled } from './hooks';
import { rewardFloor, rewardRows, stepTicks } from './rewardData';
import styles from './rewardChart.module.css';
import type { RewardChartProps } from './types';

const MARGIN = { top: 18, right: 6, bottom: 0, left: 0 };
/** recharts draws no axes for no data: one value on a line without ink makes it draw them, and the base policy's line. */
const AXES_ONLY = [{ step: 0, ceiling: 1 }];
const AXIS_TEXT = { fill: 'var(--ink-3)', fontSize: 11 };

/** Reward over the whole planned run: batch mean, held-out greedy accuracy, and what the base policy scores. */
export function RewardChart(props: RewardChartProps) {
  const { objective, changes, base, totalSteps, isSelective = false, compact = false } = props;
  const points = useThrottled(props.points);
  const evals = useThrottled(props.evals);
  const frame = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(frame);
  const rows = useMemo(() => rewardRows(points, evals), [points, evals]);
  const hue = GLYPH_HUE[glyphOf(objective)];
  const last = rows.findLast((row) => row.smooth !== undefined);
  const greedy = rows.findLast((row) => row.greedy !== undefined)?.greedy;
  const floor = rewardFloor(rows, base);
  const ticks = tickRange(floor);
  return (
    <section className={compact ? styles.compact : styles.root} aria-label="Reward">
      <header className={styles.head}>
        <h2>Reward</h2>
        <p className={styles.figure} title={`Batch mean of the last five steps${isSelective ? ', over all answers drawn, trained on or not' : ''}`}>{fraction(last?.smooth)}</p>
        {compact ? (
          <p className={styles.words}>
            base {fraction(base?.passRate)}
            <br />
            greedy {fraction(greedy)}
          </p>
        ) : (
          <p className={styles.legend}>
            <svg width={16} height={8} aria-hidden="true"><path d="M0 4H16" stroke={hue} strokeWidth={2} /></svg>
            {isSelective ? <span title="Mean over five steps of all answers drawn, trained on or not">mean, all drawn</span> : 'mean of 5 steps'}
            <svg width={9} height={9} viewBox="0 0 9 9" aria-hidden="true"><circle cx={4.5} cy={4.5} r={3.4} fill="none" stroke="var(--ink)" strokeWidth={1.5} /></svg>
            held out, greedy {greedy === undefined ? '' : fraction(greedy)}
          </p>
        )}
      </header>
      <div ref={frame} className={styles.frame} role="img" aria-label={describe(props, last?.smooth, greedy)}>
        {width > 0 && height > 0 && (
          <ComposedChart width={width} height={height} data={rows.length > 0 ? rows : AXES_ONLY} margin={MARGIN} accessibilityLayer={false}>
            <YAxis domain={[floor, 1]} ticks={ticks} width={24} axisLine={false} tickLine={false} tick={AXIS_TEXT} tickFormatter={(v: number) => (v === 1 ? '1' : fraction(v, 1))} interval={0} />
            <XAxis dataKey="step" type="number" domain={[0, Math.max(1, totalSteps)]} ticks={stepTicks(totalSteps)} height={18} axisLine={false} tickLine={false} tick={AXIS_TEXT} interval={0} tickMargin={2} />
            {ticks.map((tick) => (
              <ReferenceLine key={tick} y={tick} stroke={tick === 1 ? 'var(--ink-3)' : 'var(--grid)'} strokeWidth={1} />
            ))}
            <ReferenceLine y={1} stroke="none" label={<LineLabel text="ceiling: every answer right" dy={-6} />} />
            {base && (
              <ReferenceLine
                y={base.passRate}
                stroke="var(--ink-3)"
                strokeDasharray="4 3"
                label={<LineLabel text={compact ? 'base policy' : `base policy: ${fraction(base.passRate)} sampled, ${fraction(base.greedy)} greedy`} dy={compact || base.passRate < floor + 0.1 * (1 - floor) ? -5 : 13} />}
              />
            )}
            {last && <ReferenceLine segment={[{ x: last.step, y: floor }, { x: last.step, y: last.smooth ?? floor }]} stroke="var(--line-2)" />}
            {changes.map((change, index) => (
              <ReferenceLine
                key={`${change.step} ${change.label} ${index}`}
                x={change.step}
                stroke="var(--ink-3)"
                strokeDasharray="1.5 3"
                label={<ChangeLabel text={compact ? '' : change.label} place={index} step={change.step} end={totalSteps} />}
              />
            ))}
            {rows.length === 0 && <Line dataKey="ceiling" stroke="none" dot={false} activeDot={false} isAnimationActive={false} />}
            <Line dataKey="reward" stroke={hue} strokeOpacity={0.55} strokeWidth={1} dot={false} activeDot={false} isAnimationActive={false} connectNulls />
            <Line dataKey="smooth" stroke={hue} strokeWidth={2.2} dot={false} activeDot={false} isAnimationActive={false} connectNulls />
            <Line
              dataKey="greedy"
              stroke="none"
              dot={{ r: compact ? 3 : 3.6, fill: 'var(--halo, var(--surface))', stroke: 'var(--ink)', strokeWidth: 1.5 }}
              activeDot={false}
              isAnimationActive={false}
            />
            {last?.smooth !== undefined && <ReferenceDot x={last.step} y={last.smooth} r={3.4} fill={hue} stroke="var(--halo, var(--surface))" strokeWidth={1} />}
          </ComposedChart>
        )}
        {rows.length === 0 && <p className={styles.empty}>fills while it runs</p>}
      </div>
    </section>
  );
}

/** Multiples of .2 from `floor` to 1. */
function tickRange(floor: number): number[] {
  const ticks: number[] = [];
  for (let i = Math.round(floor * 5); i <= 5; i++) ticks.push(i / 5);
  return ticks;
}

/** The chart in words, for those who cannot see it. */
function describe({ base, totalSteps, points, isSelective = false }: RewardChartProps, reward: number | undefined, greedy: number | undefined): string {
  const start = base ? `The base policy gets ${fraction(base.passRate)} sampled and ${fraction(base.greedy)} greedy.` : '';
  if (points.length === 0) return `Reward: no step yet of ${totalSteps} planned. ${start}`;
  const heldOut = greedy === undefined ? '' : ` Held-out greedy accuracy ${fraction(greedy)}.`;
  return `Reward after ${points.at(-1)?.step} of ${totalSteps} steps: batch mean${isSelective ? ' over all answers drawn' : ''} ${fraction(reward)}.${heldOut} ${start}`;
}

/** The box of a reference line, as recharts hands it to a label element. */
interface LabelBox {
  viewBox?: { x?: number; y?: number; width?: number; height?: number };
}

/** Words at the right end of a horizontal line, with a halo of the surface. */
function LineLabel({ viewBox, text, dy }: LabelBox & { text: string; dy: number }) {
  const x = (viewBox?.x ?? 0) + (viewBox?.width ?? 0);
  return <text className={styles.label} x={x} y={(viewBox?.y ?? 0) + dy} textAnchor="end">{text}</text>;
}

/** "epochs 1 → 4" beside its vertical; neighbours take turns at three heights so that they stay apart. */
function ChangeLabel({ viewBox, text, place, step, end }: LabelBox & { text: string; place: number; step: number; end: number }) {
  const isLate = step > end * 0.6;
  const y = (viewBox?.y ?? 0) + (viewBox?.height ?? 0) * (0.56 + 0.12 * (place % 3 === 0 ? 0 : place % 3 === 1 ? 1 : -1));
  return <text className={styles.label} x={(viewBox?.x ?? 0) + (isLate ? -5 : 5)} y={y} textAnchor={isLate ? 'end' : 'start'}>{text}</text>;
}
