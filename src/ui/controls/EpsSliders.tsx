import type { CSSProperties, KeyboardEvent, PointerEvent } from 'react';
import { useRef, useState } from 'react';
import type { Level } from '../../core/levels';
import { LEVELS, LEVEL_TITLE } from '../../core/levels';
import type { ClipWidths } from '../../objectives/types';
import { GLYPH_HUE } from '../theme/Glyph';
import { setting } from '../theme/numbers';
import { Button } from './Button';
import { NumberField } from './NumberField';
import { EPS_MAX, EPS_MIN, epsToFraction, fractionToEps, stepEps } from './logAxis';

type Side = 'low' | 'high';

export interface EpsTick {
  eps: number;
  /** "GSPO paper". */
  label: string;
}

interface Props {
  /** Said above the sliders. */
  lead: string;
  widths: ClipWidths;
  /** The level whose width the objective in use clips with; null when it has none. */
  active: Level | null;
  ticks: Record<Level, readonly EpsTick[]>;
  /** Least and largest width that may be typed; the axis shows 1e-4 to 1 of it. */
  bounds(level: Level, side: Side): { min: number; max: number };
  /** `sides`: which of the two widths change to `eps`. */
  onChange(level: Level, sides: readonly Side[], eps: number): void;
}

/** The lower side first: its bounds are the narrower ones and hold for both. */
const BOTH: readonly Side[] = ['low', 'high'];
const percentAt = (eps: number) => `${epsToFraction(eps) * 100}%`;

/** Three clip widths, stacked on one log axis so that they compare at a glance. Low and high move together unless set apart. */
export function EpsSliders({ lead, widths, active, ticks, bounds, onChange }: Props) {
  const [wantApart, setWantApart] = useState(false);
  const anyApart = LEVELS.some((level) => widths[level].low !== widths[level].high);
  const apart = wantApart || anyApart;
  const toggle = () => {
    if (apart) for (const level of LEVELS) onChange(level, ['high'], widths[level].low);
    setWantApart(!apart);
  };
  return (
    <div className="eps">
      <div className="eps-lead">
        <span>{lead}</span>
        <Button kind="ghost" className="eps-link" onClick={toggle}>
          {apart ? 'link sides' : 'split sides'}
        </Button>
      </div>
      {LEVELS.map((level) => (
        <EpsRow
          key={level}
          level={level}
          low={widths[level].low}
          high={widths[level].high}
          apart={wantApart || widths[level].low !== widths[level].high}
          active={level === active}
          ticks={ticks[level]}
          bounds={(side) => bounds(level, side)}
          onChange={(sides, eps) => onChange(level, sides, eps)}
        />
      ))}
      <div className="eps-axis" aria-hidden="true">
        <span>{'10\u207b\u2074'}</span>
        <span>{'10\u207b\u00b2'}</span>
        <span>1</span>
      </div>
    </div>
  );
}

interface RowProps {
  level: Level;
  low: number;
  high: number;
  apart: boolean;
  active: boolean;
  ticks: readonly EpsTick[];
  bounds(side: Side): { min: number; max: number };
  onChange(sides: readonly Side[], eps: number): void;
}

function EpsRow({ level, low, high, apart, active, ticks, bounds, onChange }: RowProps) {
  const track = useRef<HTMLDivElement>(null);
  const dragging = useRef<readonly Side[] | null>(null);
  const epsAt = (clientX: number): number => {
    const box = track.current?.getBoundingClientRect();
    if (!box || box.width === 0) return low;
    return fractionToEps((clientX - box.left) / box.width);
  };
  const nearest = (eps: number): readonly Side[] => {
    if (!apart) return BOTH;
    const toLow = Math.abs(epsToFraction(eps) - epsToFraction(low));
    const toHigh = Math.abs(epsToFraction(eps) - epsToFraction(high));
    return toLow === toHigh ? (eps < low ? ['low'] : ['high']) : toLow < toHigh ? ['low'] : ['high'];
  };
  const down = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const eps = epsAt(event.clientX);
    dragging.current = nearest(eps);
    onChange(dragging.current, eps);
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (dragging.current) onChange(dragging.current, epsAt(event.clientX));
  };
  const up = () => {
    dragging.current = null;
  };
  const title = LEVEL_TITLE[level];
  const handle = (sides: readonly Side[], eps: number, name: string) => (
    <EpsHandle key={name} name={name} eps={eps} mark={sides.length === 2 ? '' : sides[0] === 'low' ? '\u2212' : '+'} active={active} onChange={(next) => onChange(sides, next)} />
  );
  const value = (sides: readonly Side[], eps: number, name: string) => (
    <NumberField name={name} className="eps-value" value={eps} {...bounds(sides[0] as Side)} step={eps >= 0.1 ? 0.01 : eps >= 0.01 ? 0.001 : 1e-4} onChange={(next) => onChange(sides, next)} />
  );
  return (
    <div className={active ? 'eps-row active' : 'eps-row'} style={{ '--hue': GLYPH_HUE[level], color: GLYPH_HUE[level] } as CSSProperties}>
      <div className="eps-head">
        <span className="eps-title">{title}</span>
        <span className="eps-values">
          {apart ? (
            <>
              <span className="quiet">{'\u2212'}</span>
              {value(['low'], low, `${title}, width below 1`)}
              <span className="quiet">+</span>
              {value(['high'], high, `${title}, width above 1`)}
            </>
          ) : (
            value(BOTH, low, `${title}, clip width`)
          )}
          {active ? <span className="eps-in-use">in use</span> : null}
        </span>
      </div>
      <div ref={track} className="eps-track" data-level={level} onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up}>
        <span className="eps-rest" />
        <span className="eps-fill" style={{ width: percentAt(Math.max(low, high)) }} />
        {ticks
          .filter((tick) => tick.eps >= EPS_MIN && tick.eps !== low && tick.eps !== high)
          .map((tick) => (
            <span key={`${tick.label}${tick.eps}`} className="eps-tick" style={{ left: percentAt(tick.eps) }} title={`${tick.label} ${setting(tick.eps)}`} />
          ))}
        {apart ? [handle(['low'], low, `${title}, width below 1`), handle(['high'], high, `${title}, width above 1`)] : handle(BOTH, low, `${title}, clip width`)}
      </div>
    </div>
  );
}

function EpsHandle({ name, eps, mark, active, onChange }: { name: string; eps: number; mark: string; active: boolean; onChange(eps: number): void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const coarse = event.shiftKey || event.key.startsWith('Page');
    if (['ArrowRight', 'ArrowUp', 'PageUp'].includes(event.key)) onChange(stepEps(eps, 1, coarse));
    else if (['ArrowLeft', 'ArrowDown', 'PageDown'].includes(event.key)) onChange(stepEps(eps, -1, coarse));
    else if (event.key === 'Home') onChange(EPS_MIN);
    else if (event.key === 'End') onChange(EPS_MAX);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span
      className={active ? 'eps-handle active' : 'eps-handle'}
      style={{ left: percentAt(eps) }}
      role="slider"
      tabIndex={0}
      aria-label={name}
      aria-valuemin={EPS_MIN}
      aria-valuemax={EPS_MAX}
      aria-valuenow={eps}
      aria-valuetext={`\u03b5 ${setting(eps)}`}
      onKeyDown={onKeyDown}
    >
      {mark}
    </span>
  );
}
