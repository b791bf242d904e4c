import { useId, useRef } from 'react';
import { LEVELS, LEVEL_TITLE, type Level } from '../../core/levels';
import type { LengthScaling } from '../../lens/types';
import { useSize } from '../charts/hooks';
import { levelColour } from '../charts/looks';
import { signedLog } from '../charts/scales';
import { fraction, setting, significant } from '../theme/numbers';
import { useLens } from './context';
import { widthsInForce } from './lensModel';
import styles from './lens.module.css';
import { SavePicture } from './SavePicture';
import chart from './scaling.module.css';

/** Log ratios of the three levels on one axis, each with its band. */
export function HistogramPanel() {
  const scaling = useLens((state) => state.answer?.scaling ?? null);
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  return (
    <>
      <div ref={box} className={styles.plot}>
        {scaling && settings && width > 0 ? <Histograms scaling={scaling} widths={widthsInForce(settings, leaders)} width={width} height={height} /> : null}
      </div>
      <div className={styles.under}>
        <span className="quiet">each ruler to its own height; outside its band hatched</span>
        <SavePicture name="histograms" />
      </div>
    </>
  );
}

const TICKS = [-1, -0.1, -0.01, 0, 0.01, 0.1, 1];

function Histograms({ scaling, widths, width, height }: { scaling: LengthScaling; widths: Record<Level, { low: number; high: number }>; width: number; height: number }) {
  const hatch = useId();
  const { edges, shares } = scaling.histogram;
  const left = 88;
  const right = width - 8;
  const bottom = height - 30;
  const lane = (bottom - 4) / LEVELS.length;
  const x = (logRatio: number) => left + ((signedLog(logRatio) + 1) / 2) * (right - left);
  const binLeft = (bin: number) => (bin === 0 ? left : x(edges[bin - 1] as number));
  const binRight = (bin: number) => (bin === edges.length ? right : x(edges[bin] as number));
  const summary = LEVELS.map((level) => `${LEVEL_TITLE[level]} sd ${significant(scaling.levels[level].sd)}`).join(', ');
  return (
    <svg className={chart.chart} width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Histograms of log ratio on one signed log axis: ${summary}`} data-picture="histograms">
      <defs>
        <pattern id={hatch} width={4} height={4} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M2 0V4" stroke="var(--surface)" strokeWidth={1.6} />
        </pattern>
      </defs>
      {TICKS.map((tick) => (
        <g key={tick}>
          <path className={tick === 0 ? chart.zero : chart.grid} d={`M${x(tick)} 4V${bottom}`} />
          <text className={chart.axis} x={x(tick)} y={bottom + 13} textAnchor="middle">{tick > 0 ? `+${setting(tick)}` : setting(tick)}</text>
        </g>
      ))}
      <text className={chart.axis} x={right} y={bottom + 27} textAnchor="end">log r, linear inside {'\u00b1'}.01</text>
      {LEVELS.map((level, row) => {
        const base = 4 + (row + 1) * lane - 2;
        const most = Math.max(...shares[level], 1e-9);
        const band = widths[level];
        const low = band.low < 1 ? Math.log(1 - band.low) : -Infinity;
        const high = Math.log(1 + band.high);
        return (
          <g key={level} style={{ color: levelColour(level) }}>
            <rect x={Number.isFinite(low) ? x(low) : left} y={base - lane + 8} width={x(high) - (Number.isFinite(low) ? x(low) : left)} height={lane - 8} fill="var(--band)" />
            {shares[level].map((share, bin) => {
              if (share === 0) return null;
              const centre = ((edges[bin - 1] ?? -10) + (edges[bin] ?? 10)) / 2;
              const isOutside = centre < low || centre > high;
              const barHeight = (share / most) * (lane - 16);
              const box = { x: binLeft(bin) + 0.4, y: base - barHeight, width: Math.max(0.8, binRight(bin) - binLeft(bin) - 0.8), height: barHeight };
              return (
                <g key={bin}>
                  <rect className={chart.bin} {...box} opacity={isOutside ? 0.6 : 1} />
                  {isOutside ? <rect {...box} fill={`url(#${hatch})`} /> : null}
                </g>
              );
            })}
            <path className={chart.edge} d={`M${x(high)} ${base - lane + 8}V${base}${Number.isFinite(low) ? `M${x(low)} ${base - lane + 8}V${base}` : ''}`} />
            <path className={chart.zero} d={`M${left} ${base}H${right}`} />
            <text className={chart.label} x={0} y={base - lane / 2 + 2}>{LEVEL_TITLE[level].toLowerCase()}</text>
            <text className={chart.note} x={0} y={base - lane / 2 + 16}>
              sd {fraction(scaling.levels[level].sd, 3)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
