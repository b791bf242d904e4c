import { useEffect, useMemo, useRef, useState } from 'react';
import { LEVEL_TITLE, type Level } from '../../core/levels';
import { storedAdvantages } from '../../lens/advantage';
import type { Icicle, LensSettings, LensSource } from '../../lens/types';
import { useSize } from '../charts/hooks';
import { Button } from '../controls/Button';
import { Select } from '../controls/Select';
import { Stepper } from '../text/Stepper';
import { CrossIcon, TickIcon } from '../theme/icons';
import { ratio, signed } from '../theme/numbers';
import { icicleFor } from './engine';
import { IcicleChart } from './IcicleChart';
import { icicleLayout } from './icicleGeometry';
import { useLens, useLensModel } from './context';
import { widthsInForce, type SortBy } from './lensModel';
import styles from './lens.module.css';
import { useOrder } from './order';
import { SavePicture } from './SavePicture';
import { isKeptOutside, ratioText, unitAt, visible } from './words';

const SORTS: readonly { value: SortBy; label: string }[] = [
  { value: 'clippedGradient', label: 'sorted by clipped gradient' },
  { value: 'clippedTokens', label: 'sorted by clipped share' },
  { value: 'maxRatio', label: 'sorted by max ratio' },
  { value: 'batch', label: 'in the batch\u2019s order' },
];

/** One answer on three rulers: icicle, stems and a sentence that reads them. */
export function IciclePanel({ compact }: { compact: boolean }) {
  const model = useLensModel();
  const source = useLens((state) => state.frozen?.source ?? null);
  const settings = useLens((state) => state.settings);
  const leaders = useLens((state) => state.leaders);
  const place = useLens((state) => state.place);
  const moved = useLens((state) => state.moved);
  const sortBy = useLens((state) => state.sortBy);
  const editing = useLens((state) => state.editing);
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const [scrolled, setScrolled] = useState(0);
  const order = useOrder();
  const row = source?.record.completions[place.completion];
  const before = useMemo(() => (source && settings && row ? icicleFor(source, settings, place.completion, null) : null), [source, settings, place.completion, row]);
  const icicle = useMemo(
    () => (source && settings && row && moved !== 0 ? icicleFor(source, settings, place.completion, { token: place.token, by: moved }) : before),
    [source, settings, place, moved, row, before],
  );
  const count = row?.tokens.length ?? 0;
  const layout = useMemo(() => icicleLayout(count, { width: size.width, height: size.height }, compact, scrolled), [count, size, compact, scrolled]);
  useEffect(() => {
    // A wide drawing scrolls: the chosen token stays in sight.
    const element = box.current;
    if (!element || layout.width <= element.clientWidth) return;
    const x = layout.left + (place.token + 0.5) * layout.pitch;
    if (x < element.scrollLeft + 24 || x > element.scrollLeft + element.clientWidth - 24) element.scrollLeft = x - element.clientWidth / 2;
    // Not on `layout` as a whole: it also changes while a person scrolls.
  }, [layout.width, layout.left, layout.pitch, place]);
  if (!source || !settings || !row || !icicle || !before) return null;
  const at = order.indexOf(place.completion);
  const goto = (index: number) => {
    const completion = order[index];
    if (completion !== undefined) model.choose({ completion, token: worstIn(source, completion) });
  };
  const widths = widthsInForce(settings, leaders);
  const move = (logRatio: number) => {
    const stands = before.token[place.token]?.logRatio ?? 0;
    const held = Math.min(10, Math.max(-10, logRatio));
    model.set({ moved: Math.abs(held - stands) < 1e-9 ? 0 : held - stands });
  };
  return (
    <section className={`${styles.panel} ${styles.icicle}`} aria-labelledby="lens-icicle">
      <header className={styles.head}>
        <h2 id="lens-icicle">One answer on three rulers</h2>
        <span className="mono">{visible(source.record.prompts[row.group] ?? '')}</span>
        <span className={styles.fact}>
          reward {row.reward} {row.reward > 0 ? <TickIcon /> : <CrossIcon />}
        </span>
        <span className={styles.fact}>
          {row.advantages ? 'mean advantage' : 'advantage'} {signed(row.advantage)}
        </span>
        <span className={styles.push} />
        <Select className={styles.sort ?? ''} name="Order of answers" value={sortBy} options={SORTS} onChange={(value) => model.set({ sortBy: value as SortBy })} />
        <Stepper name="answer" onPrevious={at > 0 ? () => goto(at - 1) : undefined} onNext={at < order.length - 1 ? () => goto(at + 1) : undefined}>
          {at < 0 ? '\u2013' : at + 1} of {order.length}
        </Stepper>
      </header>
      <div ref={box} className={styles.scroller} tabIndex={-1} onScroll={(event) => setScrolled(event.currentTarget.scrollLeft)}>
        {size.width > 0 ? (
          <IcicleChart
            layout={layout}
            icicle={icicle}
            tokens={row.tokens}
            widths={widths}
            token={Math.min(place.token, count - 1)}
            onToken={(token) => {
              if (token !== place.token) model.choose({ completion: place.completion, token });
            }}
            onOpen={() => model.set({ lower: 'token' })}
            before={moved !== 0 ? before : null}
            onMove={move}
            onToggleCut={editing ? (token) => model.patch({ edits: { ...settings.edits, [place.completion]: toggled(before, token) } }) : null}
          />
        ) : null}
      </div>
      <footer className={styles.reading}>
        <p>
          <Reading icicle={icicle} tokens={row.tokens} token={place.token} advantages={storedAdvantages(row)} settings={settings} />
        </p>
        <span className={styles.tools}>
          {moved !== 0 ? <Button onClick={() => model.set({ moved: 0 })}>Put back</Button> : null}
          {editing && settings.edits[place.completion] ? <Button onClick={() => model.patch({ edits: without(settings, place.completion) })}>Undo own cuts</Button> : null}
          <Button aria-pressed={editing} className={editing ? styles.pressed ?? '' : ''} onClick={() => model.set({ editing: !editing })}>
            {editing ? 'Cuts: done' : 'Edit cuts'}
          </Button>
          <SavePicture name="three-rulers" />
        </span>
      </footer>
    </section>
  );
}

/** The token of a row that is furthest from ratio 1. */
function worstIn(source: LensSource, completion: number): number {
  const row = source.record.completions[completion];
  if (!row) return 0;
  let worst = 0;
  let most = -1;
  for (let t = 0; t < row.tokens.length; t++) {
    const size = Math.abs((row.newLogp[t] ?? 0) - (row.oldLogp[t] ?? 0));
    if (size > most) [worst, most] = [t, size];
  }
  return worst;
}

function toggled(icicle: Icicle, token: number): number[] {
  const starts = new Set(icicle.segment.map(({ start }) => start).filter((start) => start > 0));
  if (!starts.delete(token)) starts.add(token);
  return [...starts].sort((a, b) => a - b);
}

function without(settings: LensSettings, completion: number): LensSettings['edits'] {
  return Object.fromEntries(Object.entries(settings.edits).filter(([key]) => Number(key) !== completion));
}

const TONE: Record<Level, string | undefined> = { token: styles.token, segment: styles.segment, sequence: styles.sequence };

/** The picture in words: how the chosen token's ratio is diluted, and which edge cuts. */
function Reading({ icicle, tokens, token, advantages, settings }: { icicle: Icicle; tokens: readonly string[]; token: number; advantages: ArrayLike<number>; settings: LensSettings }) {
  const units = (['token', 'segment', 'sequence'] as const).map((level) => unitAt(icicle, level, token));
  const [own, segment, sequence] = units as [Icicle['sequence'], Icicle['sequence'], Icicle['sequence']];
  const lengthOf = (cell: Icicle['sequence']) => cell.end - cell.start;
  const advantage = advantages[token] ?? 0;
  // Where advantages differ along the answer, only a token of the same sign is an example of what is said here.
  const kept = icicle.token.find((cell) => isKeptOutside(cell.state) && Math.sign(advantages[cell.start]) === Math.sign(advantage));
  const edge = advantage < 0 ? 'lower' : 'upper';
  const cut = settings.dualClip !== 'own' && settings.dualClip > 0 && advantage < 0 ? ' (and, far above, the dual clip)' : '';
  return (
    <>
      <b className="mono">{visible(tokens[token] ?? '')}</b> Token <b className={TONE.token}>{ratioText(own.ratio)}</b> becomes <b className={TONE.segment}>{ratioText(segment.ratio)}</b> over {lengthOf(segment)}{' '}
      {lengthOf(segment) === 1 ? 'token' : 'tokens'} and <b className={TONE.sequence}>{ratioText(sequence.ratio)}</b> over {lengthOf(sequence)}.{' '}
      {advantage === 0 ? (
        <>Advantage 0: nothing here has a gradient that a clip could take.</>
      ) : (
        <>
          With a {advantage < 0 ? 'negative' : 'positive'} advantage only the {edge} edge cuts{cut}
          {kept ? (
            <>
              : <b className="mono">{visible(tokens[kept.start] ?? '')}</b> at {ratio(kept.ratio, 3)} lies outside the {LEVEL_TITLE.token.toLowerCase()} band, yet keeps its gradient.
            </>
          ) : (
            '.'
          )}
        </>
      )}
    </>
  );
}
