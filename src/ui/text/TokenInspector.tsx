import { useMemo } from 'react';
import type { CSSProperties } from 'react';
import { hyperparametersOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import type { Level } from '../../core/levels';
import { getObjective, objectiveTex } from '../../objectives';
import { useThrottled } from '../charts/hooks';
import { levelColour, objectiveTitle, ratioLevel } from '../charts/looks';
import type { TokenInspectorProps } from '../charts/types';
import { LazyTex } from '../formula/LazyTex';
import { Glyph, glyphOf } from '../theme/Glyph';
import { fraction, ratio, signed, significant, trueMinus } from '../theme/numbers';
import { inspectToken } from './inspect';
import type { Branches, Comparison, TokenFacts } from './inspect';
import { ratioColour, ratioTextColour } from './ratioBins';
import styles from './inspector.module.css';
import type { ValueFacts } from './valueLine';
import { branchWords, edgeText, mixtureWords, natsText, plainWords, VERDICT_WORDS, verdictTitle } from './words';

/** Why one token was clipped or kept: its numbers, the branch of the objective that won, and what other objectives would do. */
export function TokenInspector(props: TokenInspectorProps) {
  const { selected, compact = false } = props;
  const batch = useThrottled(props.batch, 200);
  const config = props.config ?? batch?.config;
  const facts = useMemo(() => (batch && selected && config ? inspectToken(batch, selected, config) : null), [batch, selected, config]);
  if (!facts || !config) return <Empty hasBatch={batch !== null} />;
  return (
    <section className={`${styles.root} ${compact ? styles.compact : ''}`} aria-label="One token">
      <header className={styles.head}>
        <h2>{verdictTitle(facts.inUse.mark, facts.inUse.advantage)}</h2>
        <span className={styles.position}>
          {facts.rowName}, token {facts.tokenNumber} of {facts.row.tokens.length}
        </span>
      </header>
      <Numbers facts={facts} />
      <FormulaBox facts={facts} config={config} />
      <Table facts={facts} inUse={config.objective} />
      {compact && facts.sppoNote && <p className={styles.note}>{facts.sppoNote}</p>}
    </section>
  );
}

function Empty({ hasBatch }: { hasBatch: boolean }) {
  return (
    <section className={styles.root} aria-label="One token">
      <header className={styles.head}>
        <h2>Why a token is clipped</h2>
      </header>
      <p className={styles.empty}>{hasBatch ? 'choose a token in the rollouts: its numbers and the branch that won stand here' : 'fills with the first rollout: then choose any token'}</p>
    </section>
  );
}

function Numbers({ facts }: { facts: TokenFacts }) {
  const { segment } = facts;
  return (
    <>
      <dl className={styles.numbers}>
        <div>
          <dt>token</dt>
          <dd className={styles.token}>{facts.token === ' ' ? '␣' : facts.token}</dd>
        </div>
        <div>
          <dt>log π old</dt>
          <dd>{natsText(facts.oldLogp)}</dd>
        </div>
        <div>
          <dt>log π new</dt>
          <dd>{natsText(facts.newLogp)}</dd>
        </div>
        <div>
          <dt>entropy, nats</dt>
          <dd>{significant(facts.entropy)}</dd>
        </div>
        <div>
          <dt>ratio r</dt>
          <dd style={{ color: ratioTextColour(facts.tokenLogRatio) }}>{ratio(facts.tokenRatio)}</dd>
        </div>
      </dl>
      <p className={styles.segment}>
        in subsentence {segment.number} of {segment.count}{' '}
        <span className={styles.mono}>
          {segment.before}
          <b>{facts.token}</b>
          {segment.after}
        </span>
      </p>
      {facts.value && <Value facts={facts.value} />}
    </>
  );
}

/** What the critic made of the token: V before and after it, the surprise, and the advantage that came of it. */
function Value({ facts }: { facts: ValueFacts }) {
  const { before, after, isLast, delta, advantage, isWhitened } = facts;
  return (
    <dl className={styles.value}>
      <div>
        <dt>V before</dt>
        <dd>{fraction(before)}</dd>
      </div>
      <div>
        <dt>V after</dt>
        <dd>{isLast ? 'end' : fraction(after)}</dd>
      </div>
      <div title="Reward that came with the token, plus \u03b3 times V after it, less V before it">
        <dt>TD error {'\u03b4'}</dt>
        <dd>{delta === null ? 'with other rewards' : signed(delta, 2)}</dd>
      </div>
      <div title={isWhitened ? 'Summed surprises from here on (GAE), shifted and scaled over the batch' : 'Summed surprises from here on (GAE)'}>
        <dt>{isWhitened ? 'A, whitened' : 'A'}</dt>
        <dd>{signed(advantage, 2)}</dd>
      </div>
    </dl>
  );
}

/** TeX of the surrogate at each level, in the level's hue. */
const SURROGATE: Record<Level, string> = {
  token: '\\htmlClass{level-token}{r_t}',
  segment: '\\htmlClass{level-segment}{s_k}',
  sequence: '\\htmlClass{level-sequence}{s}',
};

function surrogateTex(level: Level, hasDual: boolean, low: boolean): string {
  const r = SURROGATE[level];
  const min = `\\min\\bigl(${r}\\hat{A},\\ \\operatorname{clip}(${r},\\,1-\\varepsilon${low ? '_k' : ''},\\,1+\\varepsilon${low ? '_k' : ''})\\,\\hat{A}\\bigr)`;
  return hasDual ? `\\max\\bigl(${min},\\ c\\hat{A}\\bigr)` : min;
}

function FormulaBox({ facts, config }: { facts: TokenFacts; config: RunConfig }) {
  const level = ratioLevel(config.objective);
  const b = facts.surrogate;
  if (b === null) {
    const objective = getObjective(config.objective);
    const formula = objectiveTex(objective, { hyper: hyperparametersOf(config) });
    const words = objective.ratioLevel ? mixtureWords : plainWords;
    return (
      <div className={styles.formula}>
        <LazyTex tex={formula.tokenLoss} />
        <p className={styles.branch}>{words(facts.inUse.mark, facts.inUse.advantage, objective)}</p>
      </div>
    );
  }
  return (
    <div className={styles.formula} style={{ '--hue': levelColour(level) } as CSSProperties}>
      <LazyTex tex={surrogateTex(level, b.dual !== null, config.objective === 'sspo')} />
      <p className={styles.numbersLine}>
        <InNumbers b={b} />
      </p>
      <p className={styles.branch}>{branchWords(facts.inUse.mark, facts.inUse.advantage, config, facts.unitTokens)}</p>
    </div>
  );
}

function InNumbers({ b }: { b: Branches }) {
  const a = b.advantage < 0 ? `(${fraction(b.advantage, 3)})` : fraction(b.advantage, 3);
  const mark = (value: number, wins: boolean) => (wins ? <b className={styles.winner}>{fraction(value, 3)}</b> : fraction(value, 3));
  const min = (
    <>
      min( <b className={styles.hue}>{ratio(b.ratio)}</b> × {a}, <b className={styles.hue}>{ratio(b.clippedRatio)}</b> × {a} )
    </>
  );
  const values = (
    <>
      min( {mark(b.plain, b.winner === 'plain' || b.winner === 'tie')}, {mark(b.clipped, b.winner === 'clipped')} )
    </>
  );
  if (b.dual === null) return <>{min} = {values}</>;
  return (
    <>
      max( {values}, {mark(b.dual, b.winner === 'dual')} ), from {min}
    </>
  );
}

function Table({ facts, inUse }: { facts: TokenFacts; inUse: string }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">if trained with</th>
          <th scope="col">its ratio</th>
          <th scope="col">edge</th>
          <th scope="col">A</th>
          <th scope="col">verdict</th>
          <th scope="col" title="Size of the push on log π: |A| times ratio, 0 when clipped; the mean over tokens is left out">weight</th>
        </tr>
      </thead>
      <tbody>
        {facts.others.map((line) => (
          <Line key={line.objective} line={line} isInUse={line.objective === inUse} aside={line.objective === 'sppo' ? facts.sppoNote : null} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ line, isInUse, aside }: { line: Comparison; isInUse: boolean; aside: string | null }) {
  const { objective, mark, advantage, edge } = line;
  return (
    <tr className={isInUse ? styles.inUse : ''} aria-current={isInUse ? 'true' : undefined}>
      <th scope="row">
        <Glyph kind={glyphOf(objective)} />
        {objectiveTitle(objective)}
        {aside && <span className={styles.aside} title={aside}>no V, same A</span>}
      </th>
      <td>{ratio(mark.ratio)}</td>
      <td>{trueMinus(edgeText(edge))}</td>
      <td>{fraction(advantage, 3)}</td>
      <td>
        <Swatch mark={mark} /> {VERDICT_WORDS[mark.verdict]}
      </td>
      <td>{fraction(mark.weight, 3)}</td>
    </tr>
  );
}

/** A small cell that wears the unit's ratio colour and clip mark. */
function Swatch({ mark }: { mark: Comparison['mark'] }) {
  const state = mark.verdict === 'inside' ? '' : `${mark.verdict === 'clipped' ? styles.clipped : styles.kept} ${mark.side === 'low' ? styles.below : styles.above}`;
  return <i className={`${styles.swatch} ${state}`} style={{ '--cell': ratioColour(mark.logRatio) } as CSSProperties} aria-hidden="true" />;
}
