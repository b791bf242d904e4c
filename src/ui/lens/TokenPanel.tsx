import { useMemo } from 'react';
import type { CSSProperties } from 'react';
import type { LensSettings, LensSource, TokenExplanation, TokenUnder } from '../../lens/types';
import { levelColour, objectiveTitle } from '../charts/looks';
import { LazyTex } from '../formula/LazyTex';
import { Select } from '../controls/Select';
import { Button } from '../controls/Button';
import { ratioColour, ratioTextColour } from '../text/ratioBins';
import { edgeText } from '../text/words';
import { Glyph, glyphOf } from '../theme/Glyph';
import { fraction, ratio, significant, trueMinus } from '../theme/numbers';
import { explain } from './engine';
import { comparedTex, objectiveOptions } from './formulas';
import { useLens, useLensModel, useShown } from './context';
import styles from './lens.module.css';
import { branchWords, isClipped, isKeptOutside, segmentText, ratioText, STATE_WORDS, visible } from './words';

/** The number behind a token: the formula with its own numbers, which branch won, and what every objective makes of it. */
export function TokenPanel() {
  const model = useLensModel();
  const source = useLens((state) => state.frozen?.source ?? null);
  const settings = useLens((state) => state.settings);
  const place = useLens((state) => state.place);
  const formula = useLens((state) => state.formula);
  const compare = useLens((state) => state.compare);
  const shown = useShown(formula);
  const explanation = useMemo(() => (source && settings ? explain(source, settings, place, shown) : null), [source, settings, place, shown]);
  const options = useMemo(() => (source ? objectiveOptions(source) : []), [source]);
  const row = source?.record.completions[place.completion];
  if (!source || !settings || !row || !explanation) return <p className={styles.empty}>choose a token above</p>;
  const under = explanation.under.find(({ objective }) => objective === formula) ?? explanation.under[0];
  return (
    <div className={styles.token2}>
      <div className={styles.tokenLeft}>
        <Facts explanation={explanation} tokens={row.tokens} />
        {under ? <Formula under={under} settings={settings} source={source} compare={compare} /> : null}
        <div className={styles.compareLine}>
          <label>
            Formula of <Select name="Objective of the formula" value={formula} options={options} onChange={(value) => model.set({ formula: value })} />
          </label>
          <label>
            differs from <Select name="Objective to compare the formula with" value={compare} options={options} onChange={(value) => model.set({ compare: value })} />
          </label>
          <Button onClick={() => model.set({ side: 'whatIf' })}>What if</Button>
        </div>
      </div>
      <div className={styles.tokenRight}>
        <Verdicts explanation={explanation} inFormula={formula} />
        <Neighbours explanation={explanation} objective={formula} onChoose={(token) => model.choose({ completion: place.completion, token })} />
      </div>
    </div>
  );
}

function Facts({ explanation, tokens }: { explanation: TokenExplanation; tokens: readonly string[] }) {
  const { before, token, after } = segmentText(tokens, explanation);
  const own = explanation.logRatio.token;
  return (
    <>
      <dl className={styles.facts}>
        <Fact name="token" value={<span className="mono">{visible(explanation.text)}</span>} />
        <Fact name={'log \u03c0 old'} value={fraction(explanation.oldLogp, 3)} />
        <Fact name={'log \u03c0 new'} value={fraction(explanation.newLogp, 3)} />
        <Fact name="entropy, nats" value={fraction(explanation.entropy, 2)} />
        <Fact name="ratio r" value={<span style={{ color: ratioTextColour(own) }}>{ratioText(Math.exp(own))}</span>} />
        <Fact name="advantage" value={fraction(explanation.advantage, 3)} />
      </dl>
      <p className={styles.where}>
        token {explanation.token + 1} of {tokens.length}, in subsentence {explanation.segment.index + 1} of {explanation.segment.count}{' '}
        <span className={`mono ${styles.inText}`}>
          {before}
          <b>{token}</b>
          {after}
        </span>
      </p>
    </>
  );
}

function Fact({ name, value }: { name: string; value: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The formula in symbols (what differs from another objective's is framed), then in this token's own numbers. */
function Formula({ under, settings, source, compare }: { under: TokenUnder; settings: LensSettings; source: LensSource; compare: string }) {
  const { objective } = under;
  const tex = useMemo(() => comparedTex(objective, compare, settings, source), [objective, compare, settings, source]);
  return (
    <div className={styles.formula} style={{ '--hue': levelColour(under.level) } as CSSProperties}>
      <FormulaLine title={under.title} loss={tex.own} symbols={tex.ownSymbols} />
      <p className={styles.ownNumbers} tabIndex={0}>
        <OwnNumbers under={under} />
      </p>
      <p className="soft">{branchWords(under)}</p>
      {compare !== objective ? <FormulaLine title={objectiveTitle(compare)} loss={tex.other} symbols={tex.otherSymbols} isOther /> : null}
    </div>
  );
}

/** The surrogate with the token's own numbers; for an objective that is no minimum of two branches, its ratio, A and coefficient. */
function OwnNumbers({ under }: { under: TokenUnder }) {
  const { branches: b } = under;
  const a = under.advantage < 0 ? `(${fraction(under.advantage, 3)})` : fraction(under.advantage, 3);
  if (!b) {
    return (
      <>
        ratio <b className={styles.hued}>{ratio(under.ratio)}</b>, A = {fraction(under.advantage, 3)}: coefficient <b className={styles.winner}>{significant(under.coefficient, 3)}</b>
      </>
    );
  }
  const mark = (value: number, wins: boolean) => (wins ? <b className={styles.winner}>{fraction(value, 3)}</b> : <>{fraction(value, 3)}</>);
  const minimum = (
    <>
      min( <b className={styles.hued}>{ratio(b.ratio)}</b> {'\u00d7'} {a}, <b className={styles.hued}>{ratio(b.clippedRatio)}</b> {'\u00d7'} {a} ) = min( {mark(b.plain, b.winner === 'plain' || b.winner === 'tie')}, {mark(b.clipped, b.winner === 'clipped')} )
    </>
  );
  if (b.dual === null) return minimum;
  return (
    <>
      max( {minimum}, {mark(b.dual, b.winner === 'dual')} )
    </>
  );
}

/** One objective's token loss and those of its symbols that the other does not have. */
function FormulaLine({ title, loss, symbols, isOther = false }: { title: string; loss: string; symbols: readonly string[]; isOther?: boolean }) {
  return (
    <div className={`${styles.formulaScroll} ${isOther ? styles.otherFormula : ''}`} tabIndex={0} role="group" aria-label={`Loss of one token under ${title}${isOther ? ', what differs is underlined' : ''}`}>
      <LazyTex tex={`\\text{${title}}\\quad ${loss}`} />
      {symbols.map((symbol) => (
        <LazyTex key={symbol} tex={symbol} />
      ))}
    </div>
  );
}

function Verdicts({ explanation, inFormula }: { explanation: TokenExplanation; inFormula: string }) {
  return (
    <table className={styles.verdicts}>
      <thead>
        <tr>
          <th scope="col">under</th>
          <th scope="col">its ratio</th>
          <th scope="col">edge</th>
          <th scope="col">A</th>
          <th scope="col">verdict</th>
          <th scope="col" title="dLoss/dlog pi of this token, aggregation weight included; negative pushes its probability up">
            coefficient
          </th>
        </tr>
      </thead>
      <tbody>
        {explanation.under.map((line) => (
          <tr key={line.objective} className={line.objective === inFormula ? styles.inForce : ''}>
            <th scope="row">
              <span className={styles.objective} title={line.note ?? undefined}>
                <Glyph kind={glyphOf(line.objective)} />
                {line.title}
              </span>
            </th>
            <td>{ratio(line.ratio, line.unitTokens < 4 && line.level !== 'token' ? 1 : 4)}</td>
            <td>{trueMinus(edgeText(line.edge))}</td>
            <td>{fraction(line.advantage, 3)}</td>
            <td>
              <i className={`${styles.swatch} ${isClipped(line.state) ? styles.swatchClipped : isKeptOutside(line.state) ? styles.swatchKept : ''} ${line.state.endsWith('Low') ? styles.below : ''}`} style={{ '--cell': ratioColour(line.logRatio) } as CSSProperties} aria-hidden="true" />
              {STATE_WORDS[line.state]}
            </td>
            <td>{significant(line.coefficient, 2)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The tokens that share its subsentence: what each carries under the chosen objective. */
function Neighbours({ explanation, objective, onChoose }: { explanation: TokenExplanation; objective: string; onChoose(token: number): void }) {
  return (
    <div className={styles.neighbours}>
      <p className="quiet">its subsentence: ratio, and coefficient under {objectiveTitle(objective)}</p>
      <ul>
        {explanation.neighbours.map((neighbour) => (
          <li key={neighbour.token}>
            <button type="button" aria-pressed={neighbour.token === explanation.token} onClick={() => onChoose(neighbour.token)} style={{ '--cell': ratioColour(neighbour.logRatio) } as CSSProperties}>
              <span className="mono">{visible(neighbour.text)}</span>
              <span>{ratio(Math.exp(neighbour.logRatio), 3)}</span>
              <span className={styles.tiny}>{significant(neighbour.coefficients[objective] ?? 0, 2)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
