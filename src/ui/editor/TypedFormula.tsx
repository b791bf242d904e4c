import { useMemo } from 'react';
import { objectiveTex, type Objective } from '../../objectives';
import { twoLines } from '../formula/ObjectiveFormula';
import { LazyTex } from '../formula/LazyTex';
import styles from './editor.module.css';

/** Longer TeX than this takes KaTeX too long to set at every keystroke. */
const MAX_TEX = 8000;

/** The formula of a typed objective with all its parts; symbols wear their level's hue. */
export function TypedFormula({ objective }: { objective: Objective }) {
  const tex = useMemo(() => objectiveTex(objective), [objective]);
  const length = tex.tokenLoss.length + tex.definitions.reduce((sum, d) => sum + d.tex.length, 0);
  if (length > MAX_TEX) return <p className="soft">The formula is too long to be set.</p>;
  return (
    <section aria-label="Formula">
      <div className={styles.tex} tabIndex={0} role="group" aria-label="Loss, minimised">
        <LazyTex tex={twoLines(tex.tokenLoss, objective.lossAggMode)} display />
      </div>
      <ul className={styles.definitions}>
        {tex.definitions.map((definition) => (
          <li key={definition.name}>
            <LazyTex tex={definition.tex} />
          </li>
        ))}
      </ul>
    </section>
  );
}
