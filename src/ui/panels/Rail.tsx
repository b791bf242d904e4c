import { FIELDS, formatValue, isFieldName, type FieldName } from '../../config/fields';
import { bandsOf, estimatorOf } from '../../config/hyper';
import { ownFieldName } from '../../config/ownFields';
import type { RunConfig } from '../../config/runConfig';
import type { Level } from '../../core/levels';
import { LEVELS } from '../../core/levels';
import { getObjective } from '../../objectives';
import { boundsOf, CLIP_FIELDS, clipWidths, levelOf, stalenessSentence } from '../../store/selectors';
import { Disclosure } from '../controls/Disclosure';
import { EpsSliders, type EpsTick } from '../controls/EpsSliders';
import { CustomParameters } from '../editor/ParameterSliders';
import { Segmented } from '../controls/Segmented';
import { useConfig } from '../session';
import { fraction, setting } from '../theme/numbers';
import { MixGroup } from './MixGroup';
import { SettingField } from './SettingField';

const counts = (values: readonly number[]) => values.map((value) => ({ value, label: String(value) }));

const PRECISIONS = [
  { value: 'f32', label: 'f32' },
  { value: 'e4m3', label: 'E4M3' },
  { value: 'e5m2', label: 'E5M2' },
];
const SOURCES = [
  { value: 'sampler', label: 'sampler' },
  { value: 'trainer', label: 'trainer' },
];

/** The dials that make ratios leave 1, and the product said in words. */
export function StalenessGroup() {
  const config = useConfig((state) => state.config);
  return (
    <section className="rail-group staleness" id="staleness" aria-labelledby="staleness-title">
      <h3 id="staleness-title">How stale is the batch?</h3>
      <p className="soft lead" aria-live="polite">
        {stalenessSentence(config)}
      </p>
      <SettingField name="minibatches" dial={counts([1, 2, 4, 8])} />
      <SettingField name="epochs" dial={counts([1, 2, 4, 8])} />
      <SettingField name="samplerLag" label="Sampler lag, steps" dial={counts([0, 1, 2, 4])} />
      <SettingField name="samplerPrecision" dial={PRECISIONS} />
      <SettingField name="oldLogpSource" label={'\u03c0 old computed by'} dial={SOURCES} />
      {config.oldLogpSource === 'trainer' && samplerDiffers(config) ? <MismatchFields correction={config.mismatchCorrection} /> : null}
    </section>
  );
}

const samplerDiffers = (config: RunConfig): boolean => config.samplerPrecision !== 'f32' || config.samplerLag > 0;

/** What can be done about a sampler that is not the trainer; shown where it can matter. */
function MismatchFields({ correction }: { correction: RunConfig['mismatchCorrection'] }) {
  return (
    <>
      <SettingField name="mismatchCorrection" />
      {correction === 'none' ? null : <SettingField name="mismatchCap" />}
      {correction.endsWith('mask') ? <SettingField name="mismatchFloor" /> : null}
    </>
  );
}

/** Named widths of both sides as ticks, each once. */
const TICKS = Object.fromEntries(
  LEVELS.map((level) => {
    const named = new Map<number, string>();
    for (const side of ['low', 'high'] as const) {
      const field = FIELDS[CLIP_FIELDS[level][side]];
      if (field.kind === 'number') for (const [label, eps] of Object.entries(field.named ?? {})) named.set(eps, label);
    }
    return [level, [...named].map(([eps, label]) => ({ eps, label }))];
  }),
) as unknown as Record<Level, readonly EpsTick[]>;

export function ClipGroup() {
  const config = useConfig((state) => state.config);
  const patch = useConfig((state) => state.patch);
  const choose = useConfig((state) => state.chooseObjective);
  const segmentRatio = config.objective === 'sspo' || config.objective === 'lpo';
  return (
    <section className="rail-group" aria-labelledby="clip-title">
      <h3 id="clip-title">Clip width {'\u03b5'} by level</h3>
      <EpsSliders
        lead={'Changing \u03b5 needs no reset.'}
        widths={clipWidths(config)}
        active={clipsWithWidths(config.objective) ? levelOf(config.objective) : null}
        ticks={TICKS}
        bounds={(level, side) => boundsOf(CLIP_FIELDS[level][side])}
        onChange={(level, sides, eps) => patch(Object.fromEntries(sides.map((side) => [CLIP_FIELDS[level][side], eps])))}
      />
      {bandNote(config) ? <p className="note">{bandNote(config)}</p> : null}
      {ownFieldsOf(config.objective).map((name) => (
        <SettingField key={name} name={name} />
      ))}
      <CustomParameters />
      {segmentRatio ? (
        <div className="variant">
          <Segmented
            label="Width of a subsentence"
            value={config.objective}
            onChange={choose}
            options={[
              { value: 'sspo', label: 'by entropy (ours)' },
              { value: 'lpo', label: 'fixed (LPO)' },
            ]}
          />
        </div>
      ) : null}
    </section>
  );
}

const hasEntropyScale = (objective: string): boolean => getObjective(objective).hyperparameters.some((h) => h.name === 'entropyScaleLow');

const clipsWithWidths = (objective: string): boolean => getObjective(objective).hyperparameters.some((h) => h.name === 'clipLow');

/** What the objective makes of its widths, where that is not 1 minus and 1 plus; null where it is. */
function bandNote(config: RunConfig): string | null {
  const { title, importanceSamplingLevel: level } = getObjective(config.objective);
  const [set, band] = [clipWidths(config)[level], bandsOf(config)[level]];
  if (set.low === band.low && set.high === band.high) return null;
  return `${title} lets ratios run from ${fraction(1 - band.low, 2)} to ${fraction(1 + band.high, 2)}${config.objective === 'dcpo' ? ' at an old probability of \u00bd' : ''}.`;
}

/** The settings that only this objective has. */
function ownFieldsOf(objective: string): FieldName[] {
  return getObjective(objective)
    .hyperparameters.map((h) => ownFieldName(objective, h.name))
    .filter((name) => isFieldName(name));
}

export function LearningGroup() {
  const config = useConfig((state) => state.config);
  const estimator = estimatorOf(config);
  const summary = `lr ${setting(config.learningRate)}, ${config.prompts} prompt${config.prompts === 1 ? '' : 's'} \u00d7 ${config.groupSize}, \u03b2 ${setting(config.beta)}, T ${setting(config.temperature)}${config.shuffleRewards ? ', rewards shuffled: a control' : ''}`;
  return (
    <Disclosure title="Learning" summary={summary}>
      <SettingField name="learningRate" />
      <SettingField name="prompts" />
      <SettingField name="groupSize" label="Answers each" />
      <SettingField name="temperature" />
      <SettingField name="beta" />
      <SettingField name="warmupUpdates" />
      <SettingField name="maxGradNorm" label="Grad norm limit" />
      <SettingField name="dynamicSampling" />
      {config.dynamicSampling ? <SettingField name="refillGroups" /> : null}
      <SettingField name="overlongCache" />
      <SettingField name="overlongFilter" />
      <SettingField name="dualClip" label="Dual clip" />
      <SettingField name="shuffleRewards" label="Shuffle rewards (control)" />
      {hasEntropyScale(config.objective) ? (
        <>
          <SettingField name="entropyScaleLow" label="Entropy scale, low (ours)" />
          <SettingField name="entropyScaleHigh" label="Entropy scale, high (ours)" />
        </>
      ) : null}
      {estimator === 'sequenceLevel' ? (
        <>
          <SettingField name="baseline" label="Baseline" />
          <SettingField name="normalizeAdvantage" label={'Divide by spread (ours)'} />
          <SettingField name="criticLearningRate" label="Critic lr" />
        </>
      ) : null}
      {estimator === 'gae' ? (
        <>
          <SettingField name="gaeLambda" label={'GAE \u03bb'} />
          <SettingField name="gaeGamma" label={'Discount \u03b3'} />
          <SettingField name="whitenAdvantages" label="Whiten advantages" />
          <SettingField name="valueClip" label="Value clip" />
          <SettingField name="criticLearningRate" label="Critic lr" />
        </>
      ) : null}
    </Disclosure>
  );
}

export function TaskGroup() {
  const config = useConfig((state) => state.config);
  return (
    <Disclosure title="Task and model" summary={`${formatValue('task', config.task)}, ${config.model}`}>
      <SettingField name="task" />
      <SettingField name="model" />
      <SettingField name="totalSteps" label="Planned steps" />
      <SettingField name="evalEvery" label="Held-out every" />
      <SettingField name="evalPrompts" />
    </Disclosure>
  );
}

export function Rail() {
  return (
    <aside className="rail" aria-label="Settings">
      <h2 className="visually-hidden">Settings</h2>
      <StalenessGroup />
      <ClipGroup />
      <MixGroup />
      <LearningGroup />
      <TaskGroup />
    </aside>
  );
}
