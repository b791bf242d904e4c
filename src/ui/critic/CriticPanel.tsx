import { useMemo } from 'react';
import { FIELDS } from '../../config/fields';
import { criticOf } from '../../config/critic';
import { estimatorOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import { criticView, linePieces, type CriticView } from '../../store/critic';
import { useThrottled } from '../charts/hooks';
import { Segmented } from '../controls/Segmented';
import { useConfig, useRun, useSession } from '../session';
import { GLYPH_HUE, glyphOf } from '../theme/Glyph';
import { CalibrationPlot } from './CalibrationPlot';
import styles from './critic.module.css';
import { CurvePlot } from './CurvePlot';
import { lossAxis, VARIANCE_AXIS } from './curves';
import { valueProgress } from './progress';
import { ProgressPlot } from './ProgressPlot';
import { clippedWords, correlationWords, EXPLAINED, gapWords, LOSS, offWords, READING } from './words';

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
      {view ? <Learnt view={view} config={config} /> : <Off config={config} />}
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

function Learnt({ view, config }: { view: CriticView; config: RunConfig }) {
  const { level, report, history } = view;
  const batches = useThrottled(useRun((state) => state.batches));
  const progress = useMemo(() => (level === 'token' ? valueProgress(batches) : null), [level, batches]);
  const hue = GLYPH_HUE[glyphOf(config.objective)];
  const loss = linePieces(history.loss);
  const variance = linePieces(history.explainedVariance);
  const below = variance.some((piece) => piece.some((point) => point.value < VARIANCE_AXIS.low));
  const end = Math.max(config.totalSteps, view.step ?? 0);
  return (
    <>
      <div className={styles.grid}>
        <CalibrationPlot calibration={report?.calibration ?? null} hue={hue} />
        {level === 'token' && <ProgressPlot progress={progress} hue={hue} />}
        <CurvePlot title="Value loss" unit={LOSS[level].unit} help={LOSS[level].help} pieces={loss} axis={lossAxis(loss)} end={end} now={report?.loss ?? null} format="significant" note={clippedWords(report)} />
        <CurvePlot title="Explained variance" unit="" help={EXPLAINED[level]} pieces={variance} axis={VARIANCE_AXIS} end={end} now={report?.explainedVariance ?? null} format="fraction" note={below ? `below ${'\u2212'}1 drawn at ${'\u2212'}1` : level === 'token' ? 'of the return, over tokens' : 'of the reward, over answers'} />
      </div>
      <p className={styles.words}>
        {report && <b>{correlationWords(report.calibration)} </b>}
        {progress && <b>{gapWords(progress)} </b>}
        {READING[level]}
      </p>
    </>
  );
}
