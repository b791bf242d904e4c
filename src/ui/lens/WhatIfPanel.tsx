import { useMemo } from 'react';
import { LEVELS, LEVEL_TITLE } from '../../core/levels';
import type { ClipState } from '../../lens/types';
import { levelColour, objectiveTitle } from '../charts/looks';
import { Button } from '../controls/Button';
import { Glyph, glyphOf } from '../theme/Glyph';
import { fraction, ratio, signed } from '../theme/numbers';
import { longer, moveToken } from './engine';
import { useLens, useLensModel, useShown } from './context';
import styles from './lens.module.css';
import { isClipped, STATE_WORDS, visible } from './words';

const RANGE = 5;

/** Outlier and dilution: move the chosen token's log ratio and see how its units dilute it, and when each objective lets go. */
export function WhatIfPanel() {
  const model = useLensModel();
  const source = useLens((state) => state.frozen?.source ?? null);
  const settings = useLens((state) => state.settings);
  const place = useLens((state) => state.place);
  const moved = useLens((state) => state.moved);
  const shown = useShown();
  const worst = useLens((state) => state.answer?.worst ?? null);
  const move = useMemo(() => (source && settings ? moveToken(source, settings, place, moved, shown) : null), [source, settings, place, moved, shown]);
  const lengths = useMemo(() => (source && settings ? longer(source, settings, place, moved) : null), [source, settings, place, moved]);
  const text = source?.record.completions[place.completion]?.tokens[place.token] ?? '';
  if (!move) return <p className={styles.empty}>choose a token above</p>;
  const stands = move.before.logRatio.token;
  const now = move.after.logRatio.token;
  return (
    <div className={styles.whatIf}>
      <div className={styles.whatIfHead}>
        <label className={styles.moveLine}>
          <span>
            log r of <b className="mono">{visible(text)}</b>
          </span>
          <input
            type="range"
            min={-RANGE}
            max={RANGE}
            step={0.01}
            value={Math.min(RANGE, Math.max(-RANGE, now))}
            aria-valuetext={`log ratio ${fraction(now, 2)}, ratio ${ratio(Math.exp(now))}`}
            onChange={(event) => {
              const to = Number(event.target.value);
              model.set({ moved: Math.abs(to - stands) < 0.005 ? 0 : to - stands });
            }}
          />
          <b className="num">{signed(now, 2)}</b>
        </label>
        <Button onClick={() => jumpToWorst(model)} disabled={!worst?.length} aria-keyshortcuts="J">
          Worst token
        </Button>
        <Button disabled={moved === 0} onClick={() => model.set({ moved: 0 })}>
          Put back
        </Button>
      </div>
      <table className={styles.verdicts}>
        <thead>
          <tr>
            <th scope="col">ruler</th>
            <th scope="col">tokens</th>
            <th scope="col">ratio was</th>
            <th scope="col">becomes</th>
            <th scope="col">share of the move</th>
          </tr>
        </thead>
        <tbody>
          {LEVELS.map((level) => (
            <tr key={level}>
              <th scope="row">
                <span className={styles.objective}>
                  <Glyph kind={level} />
                  {LEVEL_TITLE[level]}
                </span>
              </th>
              <td>{move.lengths[level]}</td>
              <td>{ratio(Math.exp(move.before.logRatio[level]))}</td>
              <td style={{ color: levelColour(level) }}>
                <b>{ratio(Math.exp(move.after.logRatio[level]))}</b>
              </td>
              <td>{move.lengths[level] === 1 ? 'all' : `1/${move.lengths[level]}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table className={styles.verdicts}>
        <thead>
          <tr>
            <th scope="col">lets go</th>
            <th scope="col">at r of this token</th>
            <th scope="col">now</th>
          </tr>
        </thead>
        <tbody>
          {move.letsGo.map(({ objective, tokenLogRatio, reachable }) => {
            const state = move.after.under.find((line) => line.objective === objective)?.state ?? 'inside';
            return (
              <tr key={objective}>
                <th scope="row">
                  <span className={styles.objective}>
                    <Glyph kind={glyphOf(objective)} />
                    {objectiveTitle(objective)}
                  </span>
                </th>
                <td>{tokenLogRatio === null ? 'never' : `${ratio(Math.exp(tokenLogRatio))}${reachable ? '' : ', out of reach'}`}</td>
                <td>
                  <State state={state} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {lengths && lengths.length > 0 ? (
        <div className={styles.longer}>
          {lengths.map((unit) => (
            <p key={unit.level}>
              <span className="quiet">what if this {unit.level === 'segment' ? 'subsentence' : 'answer'} were longer: </span>
              {unit.points.map((point) => (
                <span key={point.length} className={point.length === unit.actual ? styles.actual : ''}>
                  {point.length}: {ratio(point.ratio)}
                  {isClipped(point.state) ? ' clipped' : ''}{' '}
                </span>
              ))}
            </p>
          ))}
        </div>
      ) : null}
    </div>
  );
}

function State({ state }: { state: ClipState }) {
  return isClipped(state) ? <b>{STATE_WORDS[state]}</b> : <>{STATE_WORDS[state]}</>;
}

/** Goes to the token furthest from ratio 1; when already there, to the next of the list. */
export function jumpToWorst(model: ReturnType<typeof useLensModel>): void {
  const { answer, place } = model.getState();
  const list = answer?.worst ?? [];
  const at = list.findIndex(({ completion, token }) => completion === place.completion && token === place.token);
  const next = list[(at + 1) % Math.max(1, list.length)];
  if (next) model.choose({ completion: next.completion, token: next.token });
}

