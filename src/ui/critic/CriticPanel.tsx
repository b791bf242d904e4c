import { useMemo } from 'react';
import { FIELDS } from '../../config/fields';
import { criticOf } from '../../config/critic';
import { estimatorOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import { criticView, type CriticView } from '../../store/critic';
import { useThrottled } from '../charts/hooks';
import { Segmented } from '../controls/Segmented';
import { useConfig, useRun, useSession } from '../session';
import styles from './critic.module.css';
import { CriticPictures } from './CriticPictures';
import { offWords } from './words';

/** What the critic has learnt: its calibration, its curves and, where it reads the answer too, V along the text. */
export function CriticPanel() {
  const { run } = useSession();
  const config = useConfig((state) => state.config);
  // `version` stands for the mutable history; a critic's charts redraw at most ten times a second.
  const version = useThrottled(useRun((state) => state.version));
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const view = useMemo(() => criticView(run.getState(), config), [run, config, version]);
  return (
    <section className={styles.root} aria-label="Critic">
      {estimatorOf(config) === 'sequenceLevel' && <BaselineDial />}
      {view ? <Learnt view={view} /> : <Off config={config} />}
    </section>
  );
}

/** SPPO's three baselines; they change while it runs. */
function BaselineDial() {
  const baseline = useConfig((state) => state.config.baseline);
  const patch = useConfig((state) => state.patch);
  const { choices } = FIELDS.baseline;
  return (
    <div className={styles.dial}>
      <span aria-hidden="true">Baseline</span>
      <Segmented label="Baseline" value={baseline} onChange={(value) => patch({ baseline: value })} options={choices.map(({ value, label }) => ({ value: value as RunConfig['baseline'], label }))} />
    </div>
  );
}

function Off({ config }: { config: RunConfig }) {
  const stoppedAt = useRun((state) => (criticOf(config) === null ? (state.history.critic.prompt.loss.buckets.at(-1)?.to ?? null) : null));
  return (
    <p className={styles.off} role="status">
      {offWords(config.baseline, stoppedAt)}
    </p>
  );
}

function Learnt({ view }: { view: CriticView }) {
  const config = useConfig((state) => state.config);
  const batches = useThrottled(useRun((state) => state.batches));
  return <CriticPictures view={view} batches={batches} config={config} />;
}
