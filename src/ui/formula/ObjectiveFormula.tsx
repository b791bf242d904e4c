import { useMemo } from 'react';
import { hyperparametersOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import { AGGREGATION_HELP, AGGREGATION_TEX, getObjective, objectiveTex } from '../../objectives';
import type { ObjectiveFormulaProps } from '../charts/types';
import styles from './formula.module.css';
import { LazyTex } from './LazyTex';

/** The loss that is running, as it is defined: what the settings switch off is left out, symbols wear their level's hue. */
export function ObjectiveFormula({ objective: id, config }: ObjectiveFormulaProps) {
  const objective = getObjective(id);
  const formula = useMemo(
    () => objectiveTex(objective, { hyper: hyperparametersOf({ ...config, objective: objective.id }), lossAggMode: config.lossAggMode }),
    [objective, config],
  );
  return (
    <section className={styles.root} aria-label={`Formula of ${objective.title}`}>
      <div className={styles.main} tabIndex={0} role="group" aria-label="Loss, minimised">
        <LazyTex tex={twoLines(formula.tokenLoss, config.lossAggMode)} display />
      </div>
      <ul className={styles.definitions}>
        {formula.definitions.map((definition) => (
          <li key={definition.name}>
            <LazyTex tex={definition.tex} />
          </li>
        ))}
      </ul>
      <p className={styles.words}>{objective.summary}</p>
      <p className={styles.words}>{AGGREGATION_HELP[config.lossAggMode]}</p>
      {objective.caveat && <p className={styles.caveat}>{objective.caveat}</p>}
      <p className={styles.sources}>
        {objective.sources.map((source, index) => (
          <span key={source.url}>
            {index > 0 && ', '}
            <a href={source.url} target="_blank" rel="noreferrer" title={source.note}>
              {source.label}
            </a>
          </span>
        ))}
      </p>
    </section>
  );
}

/** The mean over the batch, then the loss of one token: in one line it would be wider than its panel. */
export function twoLines(tokenLoss: string, mode: RunConfig['lossAggMode']): string {
  return `\\begin{array}{l}\\displaystyle\\mathcal{L}(\\theta) = ${AGGREGATION_TEX[mode]}\\mathcal{L}_{i,t} \\\\ \\displaystyle\\mathcal{L}_{i,t} = ${tokenLoss}\\end{array}`;
}
