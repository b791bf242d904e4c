import { useMemo } from 'react';
import type { RunConfig } from '../../config/runConfig';
import { linePieces, type CriticView } from '../../store/critic';
import type { BatchRecord } from '../../worker/protocol';
import { GLYPH_HUE, glyphOf } from '../theme/Glyph';
import { CalibrationPlot } from './CalibrationPlot';
import styles from './critic.module.css';
import { CurvePlot } from './CurvePlot';
import { lossAxis, VARIANCE_AXIS } from './curves';
import { valueProgress } from './progress';
import { ProgressPlot } from './ProgressPlot';
import { clippedWords, correlationWords, EXPLAINED, gapWords, LOSS, READING } from './words';

interface Props {
  view: CriticView;
  /** The newest rollout batches, oldest first. */
  batches: readonly BatchRecord[];
  config: Pick<RunConfig, 'objective' | 'totalSteps'>;
}

/** Calibration, value loss and explained variance of a critic; V along the answer where it reads the answer too. */
export function CriticPictures({ view, batches, config }: Props) {
  const { level, report, history } = view;
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
        <CurvePlot title="Value loss" unit={LOSS[level].unit} help={LOSS[level].help} pieces={loss} axis={lossAxis(loss)} end={end} now={report?.loss ?? null} note={clippedWords(report)} />
        <CurvePlot title="Explained variance" unit="" help={EXPLAINED[level]} pieces={variance} axis={VARIANCE_AXIS} end={end} now={report?.explainedVariance ?? null} note={below ? `below ${'\u2212'}1 drawn at ${'\u2212'}1` : level === 'token' ? 'of the return, over tokens' : 'of the reward, over answers'} />
      </div>
      <p className={styles.words}>
        {report && <b>{correlationWords(report.calibration)} </b>}
        {progress && <b>{gapWords(progress)} </b>}
        {READING[level]}
      </p>
    </>
  );
}
