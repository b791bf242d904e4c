import { useRef } from 'react';
import { LEVELS, LEVEL_TITLE } from '../../core/levels';
import type { LengthScaling } from '../../lens/types';
import { useSize } from '../charts/hooks';
import { levelColour } from '../charts/looks';
import { Button } from '../controls/Button';
import { Glyph } from '../theme/Glyph';
import { fraction, setting, significant } from '../theme/numbers';
import { useLens, useLensModel } from './context';
import { placeLabels } from './labels';
import { widthsInForce } from './lensModel';
import styles from './lens.module.css';
import { SavePicture } from './SavePicture';
import chart from './scaling.module.css';

/** Spread against length on log-log axes, with the epsilon of equal reach at each level. */
export function ScalingPanel() {
  const model = useLensModel();
  const scaling = useLens((state) => state.answer?.scaling ?? null);
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  return (
    <div className={styles.split}>
      <div ref={box} className={styles.plot}>
        {scaling && width > 0 ? <Scaling scaling={scaling} width={width} height={height} /> : null}
      </div>
      {scaling && settings ? (
        <aside className={styles.aside} aria-label="Epsilon of equal reach">
          <p className="quiet">{'\u03b5'} of equal reach</p>
          <dl className={styles.reach}>
            {LEVELS.map((level) => (
              <div key={level}>
                <dt>
                  <Glyph kind={level} />
                  <span className="visually-hidden">{LEVEL_TITLE[level]}</span>
                </dt>
                <dd>{significant(scaling.levels[level].epsilon.high, 2)}</dd>
              </div>
            ))}
          </dl>
          <p className="soft">{reach(scaling, widthsInForce(settings, leaders).sequence)}</p>
          <Button
            onClick={() => {
              const at = (level: (typeof LEVELS)[number]) => ({ low: tidy(scaling.levels[level].epsilon.low), high: tidy(scaling.levels[level].epsilon.high) });
              model.patch({ widths: { token: at('token'), segment: at('segment'), sequence: at('sequence') }, overrides: {} });
            }}
          >
            Use these {'\u03b5'}
          </Button>
          <SavePicture name="length-scaling" />
        </aside>
      ) : null}
    </div>
  );
}

const tidy = (value: number) => Number(value.toPrecision(2));

/** How the sequence's band now compares with the one of equal reach. */
function reach(scaling: LengthScaling, current: { low: number; high: number }): string {
  const { epsilon } = scaling.levels.sequence;
  const factor = current.high / epsilon.high;
  const slope = scaling.slope === null ? '' : ` Slope here ${fraction(scaling.slope, 2)}.`;
  if (!Number.isFinite(factor) || factor <= 0) return slope.trim();
  const round = (x: number) => significant(x, 2);
  const claim = factor > 1.15 ? `is ${round(factor)} times too wide` : factor < 0.87 ? `is ${round(1 / factor)} times too narrow` : 'suits it';
  return `\u03b5 ${setting(current.high)} on the sequence ruler ${claim} here.${slope}`;
}

function Scaling({ scaling, width, height }: { scaling: LengthScaling; width: number; height: number }) {
  const left = 34;
  const right = width - 14;
  const top = 14;
  const bottom = height - 32;
  const longest = Math.max(2, ...scaling.windows.map(({ length }) => length), ...LEVELS.map((level) => scaling.levels[level].meanLength));
  const sds = [...scaling.windows.map(({ sd }) => sd), ...scaling.guide.map(({ sd }) => sd), ...LEVELS.map((level) => scaling.levels[level].sd)].filter((sd) => sd > 0);
  if (sds.length === 0) return <text className={chart.empty}>every ratio is 1</text>;
  const [low, high] = [Math.min(...sds) * 0.8, Math.max(...sds) * 1.25];
  const x = (length: number) => left + (Math.log2(Math.max(1, length)) / Math.log2(longest)) * (right - left);
  const y = (sd: number) => bottom - (Math.log(Math.max(low, sd) / low) / Math.log(high / low)) * (bottom - top);
  const lengths: number[] = [];
  for (let length = 1; length <= longest * 1.01; length *= 2) lengths.push(length);
  const line = (points: readonly { length: number; sd: number }[]) => points.filter(({ sd }) => sd > 0).map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point.length).toFixed(1)} ${y(point.sd).toFixed(1)}`).join('');
  const dots = LEVELS.map((level) => ({ level, x: x(scaling.levels[level].meanLength), y: y(scaling.levels[level].sd) }));
  const labels = placeLabels(dots.map((dot) => ({ x: dot.x, y: dot.y, text: LEVEL_TITLE[dot.level] })), { x: left, y: top - 10, width: right - left + 12, height: bottom - top + 6 }, scaling.windows.map((point) => ({ x: x(point.length) - 3, y: y(point.sd) - 3, width: 6, height: 6 })));
  const last = scaling.guide[Math.floor(scaling.guide.length / 2)];
  const summary = LEVELS.map((level) => `${LEVEL_TITLE[level]}: ${significant(scaling.levels[level].meanLength)} tokens, sd ${significant(scaling.levels[level].sd)}`).join('; ');
  return (
    <svg className={chart.chart} width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Standard deviation of the mean log ratio over window length. ${summary}. Slope ${scaling.slope === null ? 'unknown' : fraction(scaling.slope, 2)}.`} data-picture="length-scaling">
      {lengths.map((length) => (
        <g key={length}>
          <path className={chart.grid} d={`M${x(length)} ${top}V${bottom}`} />
          <text className={chart.axis} x={x(length)} y={bottom + 14} textAnchor="middle">{length}</text>
        </g>
      ))}
      <text className={chart.axis} x={right} y={bottom + 27} textAnchor="end">tokens averaged</text>
      {niceTicks(low, high).map((sd) => (
        <g key={sd}>
          <path className={chart.grid} d={`M${left} ${y(sd)}H${right}`} />
          <text className={chart.axis} x={left - 6} y={y(sd) + 4} textAnchor="end">{setting(sd)}</text>
        </g>
      ))}
      <path className={chart.guide} d={line(scaling.guide)} />
      {last ? (
        <text className={chart.note} x={x(last.length) - 8} y={y(last.sd) + 16} textAnchor="end">slope {'\u2212\u00bd'}</text>
      ) : null}
      <path className={chart.line} d={line(scaling.windows)} />
      {scaling.windows.map((point) => (
        <circle key={point.length} className={chart.point} cx={x(point.length)} cy={y(point.sd)} r={2.6} />
      ))}
      {dots.map((dot, i) => (
        <g key={dot.level} style={{ color: levelColour(dot.level) }}>
          <circle className={chart.dot} cx={dot.x} cy={dot.y} r={5.5} />
          <text className={chart.label} x={labels[i]?.x} y={labels[i]?.y} textAnchor={labels[i]?.anchor}>{LEVEL_TITLE[dot.level].toLowerCase()}</text>
        </g>
      ))}
    </svg>
  );
}

/** Round values of a log axis: 1, 2, 5 (1, 3 over more than two decades). */
function niceTicks(low: number, high: number): number[] {
  const steps = high / low > 100 ? [1] : high / low > 12 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(2));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks.slice(0, 6);
}
