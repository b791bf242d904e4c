import { useState } from 'react';
import type { CSSProperties } from 'react';
import type { LensTableRow } from '../../lens/types';
import { OBJECTIVES } from '../../objectives';
import { levelColour } from '../charts/looks';
import { Button } from '../controls/Button';
import { Glyph, GLYPH_HUE, glyphOf } from '../theme/Glyph';
import { fraction, percent, ratio, scientific, setting } from '../theme/numbers';
import { columnHelp } from './engine';
import { useLens, useLensModel } from './context';
import { MAIN_OBJECTIVES } from './lensModel';
import styles from './lens.module.css';

/** Columns as they stand in the table; each names the definitions (by id) that it shows. */
const COLUMNS: readonly { id: string; head: readonly string[]; help: readonly string[] }[] = [
  { id: 'eps', head: ['', '\u03b5'], help: [] },
  { id: 'units', head: ['clipped', 'units'], help: ['binding.units.both'] },
  { id: 'sides', head: ['clipped tokens', 'low + high'], help: ['binding.tokens.low', 'binding.tokens.high'] },
  { id: 'tokens', head: ['share of', 'tokens clipped'], help: ['clippedTokens', 'binding.tokens.both'] },
  { id: 'gradient', head: ['share of', 'gradient clipped'], help: ['gradientClipped'] },
  { id: 'outside', head: ['outside,', 'tokens'], help: ['outside.tokens.both', 'outside.units.both'] },
  { id: 'max', head: ['', 'max r'], help: ['maxRatio'] },
  { id: 'ess', head: ['', 'ESS'], help: ['ess'] },
  { id: 'entropy', head: ['entropy', 'clipped / kept'], help: ['entropyClipped', 'entropyKept'] },
  { id: 'cosine', head: ['cosine to', 'unclipped'], help: ['cosine'] },
];

/** Every objective on the same tokens. A column's head explains what it counts and what other libraries call it. */
export function TablePanel() {
  const model = useLensModel();
  const table = useLens((state) => state.answer?.table ?? null);
  const showAll = useLens((state) => state.showAll);
  const [explained, setExplained] = useState<string | null>(null);
  if (!table) return <p className={styles.empty}>fills in a moment</p>;
  const column = COLUMNS.find(({ id }) => id === explained);
  const first = table[0];
  return (
    <div className={styles.tableBox} tabIndex={0} role="group" aria-label="Objectives, a table that may scroll">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">
              <span className={styles.headText}>objective</span>
            </th>
            {COLUMNS.map(({ id, head }) => (
              <th key={id} scope="col">
                <button type="button" className={styles.headButton} aria-expanded={explained === id} aria-controls="lens-explained" onClick={() => setExplained(explained === id ? null : id)}>
                  {head[0] ? (
                    <>
                      {head[0]}
                      <br />
                    </>
                  ) : null}
                  {head[1]}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {chosenRows(table).map((row) => (
            <Row key={`${row.objective} ${row.variant ?? ''}`} row={row} />
          ))}
        </tbody>
      </table>
      <Button kind="ghost" className={styles.more ?? ''} aria-expanded={showAll} onClick={() => model.showAll(!showAll)}>
        {showAll ? 'Only the objectives of the deck' : `All ${OBJECTIVES.length} objectives`}
      </Button>
      <div id="lens-explained" className={styles.explained} role="status">
        {column && first ? (
          column.help.map((id) => <Explanation key={id} id={id} row={first} />)
        ) : (
          <p>
            Clipped: the clipped branch of the min won, so the gradient is zero. Choose a column&rsquo;s head for its definition and its name in TRL and verl. SSPO&rsquo;s rule and constants are ours; SPPO keeps the token ratio.
          </p>
        )}
      </div>
    </div>
  );
}

/** Whose named widths are worth lines of their own: those over which the papers disagree. */
const WITH_VARIANTS = ['grpo', 'sspo', 'gspo'];

/** In force first, then the named widths that differ from it; an objective in force at a named width wears that name. */
function chosenRows(table: readonly LensTableRow[]): LensTableRow[] {
  const place = (row: LensTableRow) => (MAIN_OBJECTIVES.indexOf(row.objective) + MAIN_OBJECTIVES.length + 1) % (MAIN_OBJECTIVES.length + 1);
  const isSame = (a: LensTableRow, b: LensTableRow) => a.objective === b.objective && a.widths?.low === b.widths?.low && a.widths?.high === b.widths?.high;
  const own = table.filter((row) => row.variant === null);
  return table
    .filter((row) => row.variant === null || (WITH_VARIANTS.includes(row.objective) && !own.some((other) => isSame(row, other))))
    .map((row, index) => ({ row, index }))
    .sort((a, b) => place(a.row) - place(b.row) || a.index - b.index)
    .map(({ row }) => row);
}

function Explanation({ id, row }: { id: string; row: LensTableRow }) {
  const help = columnHelp(id);
  if (!help) return null;
  const names = [help.trl(row) ? `TRL ${help.trl(row)}` : null, help.verl(row) ? `verl ${help.verl(row)}` : null].filter(Boolean).join(', ');
  return (
    <p>
      <b>{help.title}</b>: {help.definition} {names ? <span className="quiet">{names}.</span> : <span className="quiet">TRL and verl log no such number.</span>}
    </p>
  );
}

const widthText = ({ low, high }: { low: number; high: number }) => (low === high ? setting(low) : `${setting(low)} / ${setting(high)}`);

/** As in verl and TRL, a maximum is worth reading even when it is absurd. */
const maxText = (value: number) => (value >= 1e5 ? scientific(value, 2) : ratio(value, 3));

function Row({ row }: { row: LensTableRow }) {
  const { own, metrics, level } = row;
  const glyph = glyphOf(row.objective);
  const hue = glyph === 'sppo' ? GLYPH_HUE.sppo : levelColour(level);
  const binding = own.binding.tokens;
  return (
    <tr className={row.variant === null ? styles.inForce : ''} style={{ '--hue': hue } as CSSProperties}>
      <th scope="row">
        <span className={styles.objective}>
          <Glyph kind={glyph} />
          {row.title}
          {row.variant ? <span className={styles.variant}>{row.variant}</span> : null}
          {row.note ? (
            <span className={styles.variant} title={row.note}>
              *<span className="visually-hidden"> {row.note}</span>
            </span>
          ) : null}
        </span>
      </th>
      <td>{row.widths ? widthText(row.widths) : '\u2013'}</td>
      <td>{percent(own.binding.units.both)}</td>
      <td>{binding.both === 0 ? '0' : `${percent(binding.low)} + ${percent(binding.high)}`}</td>
      <td>
        <Bar share={metrics.clippedTokens} kind="tokens" />
      </td>
      <td>
        <Bar share={metrics.gradientClipped} kind="gradient" />
      </td>
      <td>{percent(own.outside.tokens.both)}</td>
      <td>{maxText(row.maxRatio)}</td>
      <td>{fraction(own.ess, 3)}</td>
      <td>
        {fraction(metrics.entropyClipped)} / {fraction(metrics.entropyKept)}
      </td>
      <td>{row.cosine === 1 ? '1' : fraction(row.cosine, 3)}</td>
    </tr>
  );
}

/** Outlined for tokens, full for gradient, on one 0 to 100 % track. */
function Bar({ share, kind }: { share: number; kind: 'tokens' | 'gradient' }) {
  return (
    <span className={styles.share}>
      <span className={styles.track} aria-hidden="true">
        <span className={kind === 'tokens' ? styles.tokensBar : styles.gradientBar} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </span>
      <span className={styles.shareText}>{percent(share)}</span>
    </span>
  );
}
