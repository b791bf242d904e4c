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
import { isCustomId } from '../../objectives/custom';
import type { EpsCurve, LensTableRow, MatchQuantity } from '../../lens/types';

/** Both papers' claims in one picture: how much each objective clips is a choice of epsilon. */
export function CurvesPanel({ compact }: { compact: boolean }) {
  const model = useLensModel();
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const curves = useLens((state) => state.answer?.curves ?? null);
  const quantity = useLens((state) => state.quantity);
  const trained = useLens((state) => state.frozen?.source.record.objective ?? null);
  const table = useLens((state) => state.answer?.table ?? null);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  if (!settings) return null;
  const typedId = trained !== null && isCustomId(trained) ? trained : null;
  const isTyped = (id: string) => id === typedId;
  // The typed one first, so that the others are drawn over it.
  const shown = [...(curves ?? []).filter((curve) => isTyped(curve.objective)), ...(curves ?? []).filter((curve) => Object.values(leaders).includes(curve.objective) && !isTyped(curve.objective))];
  const widths = widthsInForce(settings, leaders);
  const shareOf = ({ metrics }: LensTableRow) => (quantity === 'clippedTokens' ? metrics.clippedTokens : metrics.gradientClipped);
  const counted = Object.fromEntries(
    LEVELS.flatMap((level) => {
      const row = table?.find((line) => line.variant === null && line.objective === leaders[level] && line.widths?.low === widths[level].low && line.widths.high === widths[level].high);
      return row ? [[row.objective, shareOf(row)]] : [];
    }),
  );
  const own = table?.find((line) => line.variant === null && isTyped(line.objective)) ?? null;
  if (own) counted[own.objective] = shareOf(own);
  const typed = own?.widths ? { objective: own.objective, ...own.widths } : null;
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
        {width > 0 ? <EpsCurves width={width} height={height} curves={shown} quantity={quantity} widths={widths} typed={typed} counted={counted} onWidth={(level, next) => model.setWidth(level, next)} /> : null}
      </div>
      <footer className={styles.reading}>
        <p>{shown.length > 0 ? [claim(shown, quantity), own && !own.widths ? `${own.title} has no clip widths (clipLow and clipHigh), so it has no curve.` : ''].filter(Boolean).join(' ') : 'fills in a moment'}</p>
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
