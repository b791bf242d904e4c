import { useRef } from 'react';
import { LEVELS } from '../../core/levels';
import { useSize } from '../charts/hooks';
import { Segmented } from '../controls/Segmented';
import { percent, setting } from '../theme/numbers';
import { useLens, useLensModel } from './context';
import { EpsCurves } from './EpsCurves';
import { widthsInForce } from './lensModel';
import styles from './lens.module.css';
import { SavePicture } from './SavePicture';
import type { EpsCurve, MatchQuantity } from '../../lens/types';

/** Both papers' claims in one picture: how much each objective clips is a choice of epsilon. */
export function CurvesPanel({ compact }: { compact: boolean }) {
  const model = useLensModel();
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const curves = useLens((state) => state.answer?.curves ?? null);
  const quantity = useLens((state) => state.quantity);
  const table = useLens((state) => state.answer?.table ?? null);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  if (!settings) return null;
  const shown = (curves ?? []).filter((curve) => Object.values(leaders).includes(curve.objective));
  const widths = widthsInForce(settings, leaders);
  const counted = Object.fromEntries(
    LEVELS.flatMap((level) => {
      const row = table?.find((line) => line.variant === null && line.objective === leaders[level] && line.widths?.low === widths[level].low && line.widths.high === widths[level].high);
      return row ? [[row.objective, quantity === 'clippedTokens' ? row.metrics.clippedTokens : row.metrics.gradientClipped]] : [];
    }),
  );
  return (
    <section className={`${styles.panel} ${styles.curves}`} aria-labelledby="lens-curves">
      <header className={styles.head}>
        <h2 id="lens-curves">Clip fraction is a choice of {'\u03b5'}</h2>
        <span className={styles.push} />
        <Segmented
          className={styles.small ?? ''}
          label="Share of what"
          value={quantity}
          onChange={(value) => model.set({ quantity: value as MatchQuantity })}
          options={[
            { value: 'clippedTokens', label: compact ? 'tokens' : 'of tokens' },
            { value: 'clippedGradient', label: compact ? 'gradient' : 'of gradient' },
          ]}
        />
      </header>
      <div ref={box} className={styles.plot}>
        {width > 0 ? <EpsCurves width={width} height={height} curves={shown} quantity={quantity} widths={widths} counted={counted} onWidth={(level, next) => model.setWidth(level, next)} /> : null}
      </div>
      <footer className={styles.reading}>
        <p>{shown.length > 0 ? claim(shown, quantity) : 'fills in a moment'}</p>
        <span className={styles.tools}>
          <SavePicture name="epsilon-curves" />
        </span>
      </footer>
    </section>
  );
}

/** What both papers say, with this batch's numbers: measured, so it may also say that it is not so here. */
function claim(curves: readonly EpsCurve[], quantity: MatchQuantity): string {
  const share = (mark: EpsCurve['marks'][number] | undefined) => (mark ? (quantity === 'clippedTokens' ? mark.tokens : mark.gradient) : null);
  const gspo = curves.find(({ objective }) => objective === 'gspo');
  const grpo = curves.find(({ objective }) => objective === 'grpo');
  const paper = gspo?.marks.find(({ kind }) => kind === 'paper');
  const borrowed = gspo?.marks.find(({ kind }) => kind === 'borrowed');
  const token = grpo?.marks.find(({ kind }) => kind === 'paper') ?? grpo?.marks.find(({ kind }) => kind === 'current');
  const [p, b, t] = [share(paper), share(borrowed), share(token)];
  if (p === null || b === null || t === null || !paper || !borrowed || !token) return '';
  const what = quantity === 'clippedTokens' ? 'of the tokens' : 'of the gradient';
  const times = t > 0 ? `${percent(p)} ${what}, ${(p / t).toPrecision(2).replace(/e.*/, '')} times as much as GRPO at ${setting(token.low)}` : `${percent(p)} ${what}, GRPO at ${setting(token.low)} none`;
  const end = b === 0 ? 'none' : percent(b);
  const isBoth = p > t && b < t;
  return `${isBoth ? 'Both papers can be right. ' : ''}At its own ${setting(paper.low)} GSPO clips ${times}; at GRPO\u2019s ${setting(borrowed.low)} it clips ${end}.`;
}
