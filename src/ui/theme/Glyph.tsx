import type { ReactNode } from 'react';
import { getObjective } from '../../objectives';

/** A level's or an objective's mark: shape says the granularity where hue cannot. */
export type GlyphKind = 'token' | 'segment' | 'sequence' | 'sppo';

const squares = (y: number, height: number): ReactNode =>
  [0, 1, 2, 3, 4, 5].map((i) => <rect key={i} x={i * 5.1} y={y} width={3.6} height={height} rx={0.6} />);

const SHAPES: Record<GlyphKind, ReactNode> = {
  token: squares(5, 6),
  segment: (
    <>
      <rect x={0} y={5} width={8} height={6} rx={0.8} />
      <rect x={10} y={5} width={13} height={6} rx={0.8} />
      <rect x={25} y={5} width={5} height={6} rx={0.8} />
    </>
  ),
  sequence: <rect x={0} y={5} width={30} height={6} rx={0.8} />,
  sppo: (
    <>
      <path d="M0.7 8 V3.4 H26" fill="none" stroke="currentColor" strokeWidth={1.4} />
      <circle cx={27.4} cy={3.4} r={2.4} />
      {squares(9.2, 5.6)}
    </>
  ),
};

/** The hue of a glyph, as a CSS value. */
export const GLYPH_HUE: Record<GlyphKind, string> = {
  token: 'var(--level-token)',
  segment: 'var(--level-sub)',
  sequence: 'var(--level-seq)',
  sppo: 'var(--obj-sppo)',
};

/** The glyph that an objective wears: by the level of its ratio; one that learns V(prompt) has its own. */
export function glyphOf(objective: string): GlyphKind {
  const { advantageEstimator, importanceSamplingLevel } = getObjective(objective);
  return advantageEstimator === 'sequenceLevel' ? 'sppo' : importanceSamplingLevel;
}

/** 30 x 16, in the level's hue; decorative, since text always stands beside it. */
export function Glyph({ kind, muted = false }: { kind: GlyphKind; muted?: boolean }) {
  return (
    <svg className="glyph" width={30} height={16} viewBox="0 0 30 16" aria-hidden="true" style={{ color: muted ? 'var(--ink-3)' : GLYPH_HUE[kind], fill: 'currentColor' }}>
      {SHAPES[kind]}
    </svg>
  );
}

/** The three rulers, stacked. */
export function BrandMark() {
  return (
    <svg width={20} height={16} viewBox="0 0 20 16" aria-hidden="true" fill="currentColor">
      <rect x={0} y={0} width={20} height={4} rx={0.6} />
      <rect x={0} y={6} width={5} height={4} rx={0.6} />
      <rect x={6.5} y={6} width={8} height={4} rx={0.6} />
      <rect x={16} y={6} width={4} height={4} rx={0.6} />
      {[0, 4.1, 8.2, 12.3, 16.4].map((x) => (
        <rect key={x} x={x} y={12} width={3} height={4} rx={0.5} />
      ))}
    </svg>
  );
}
