import type { CSSProperties } from 'react';
import { useId } from 'react';
import { FIELDS } from '../../config/fields';
import { findPreset, PRESETS, type Preset } from '../../config/presets';
import { changedFromPreset } from '../../store/configStore';
import { NumberField } from '../controls/NumberField';
import { Segmented } from '../controls/Segmented';
import { Select } from '../controls/Select';
import { baseOf } from '../../objectives';
import { registeredCustom } from '../../objectives/custom';
import { openDialog } from '../editor/dialogs';
import { useConfig } from '../session';
import { Glyph, GLYPH_HUE, glyphOf } from '../theme/Glyph';
import { setting } from '../theme/numbers';
import { deckObjectives, FURTHER_OBJECTIVES } from './objectives';
import { StepCount, Transport } from './Transport';

/** Reading starts here: run it, choose the objective, choose the experiment. */
export function Deck() {
  return (
    <section className="deck" aria-label="Run">
      <Transport />
      <StepCount />
      <ObjectivePicker />
      <div className="deck-settings">
        <PresetPicker />
        <SeedField />
        <SpeedPicker />
      </div>
    </section>
  );
}

export function ObjectivePicker({ compact = false }: { compact?: boolean }) {
  const id = useId();
  const objective = useConfig((state) => state.config.objective);
  const choose = useConfig((state) => state.chooseObjective);
  return (
    <>
      <Segmented
        className={compact ? 'objectives compact' : 'objectives'}
        label="Objective"
        value={baseOf(objective)}
        onChange={choose}
        options={deckObjectives(objective).map((entry) => ({
          value: entry.id,
          name: entry.title,
          ...(compact ? {} : { describedBy: `${id}-${entry.id}` }),
          label: (
            <>
              <Glyph kind={entry.glyph} />
              <span className="objective-words">
                <strong>{entry.title}</strong>
                {compact ? null : <span id={`${id}-${entry.id}`}>{entry.line}</span>}
              </span>
            </>
          ),
        }))}
      />
      <MoreObjectives />
    </>
  );
}

/** Opens the editor, where other entries choose. */
const WRITE = 'write';

/** The objectives beyond the four; one that is in use wears the hue of its ratio's level. */
function MoreObjectives() {
  const id = useId();
  const objective = useConfig((state) => state.config.objective);
  const choose = useConfig((state) => state.chooseObjective);
  const typed = registeredCustom(objective)?.objective;
  const chosen = typed !== undefined || FURTHER_OBJECTIVES.some((entry) => entry.value === baseOf(objective));
  const options = [
    ...(chosen ? [] : [{ value: '', label: 'choose' }]),
    ...FURTHER_OBJECTIVES,
    ...(typed ? [{ value: typed.id, label: typed.title, group: 'yours' }] : []),
    { value: WRITE, label: typed ? 'edit the text' : 'write your own', group: 'yours' },
  ];
  const pick = (value: string) => {
    if (value === WRITE) openDialog('editor');
    else if (value !== '') choose(value);
  };
  return (
    <div className={chosen ? 'deck-field more chosen' : 'deck-field more'} style={{ '--hue': GLYPH_HUE[glyphOf(objective)] } as CSSProperties}>
      <label htmlFor={id}>More</label>
      <Select id={id} name="More objectives" value={chosen ? baseOf(objective) : ''} options={options} onChange={pick} />
    </div>
  );
}

const KIND_TITLE: Record<Preset['kind'], string> = { stable: 'Calm: nearly on-policy', stress: 'Stress: ratios leave 1', reference: 'For reference' };

export function PresetPicker() {
  const id = useId();
  const config = useConfig((state) => state.config);
  const choose = useConfig((state) => state.choosePreset);
  const changed = changedFromPreset(config).length;
  const title = findPreset(config.preset)?.title ?? config.preset;
  return (
    <div className="deck-field preset">
      <label htmlFor={id}>
        Preset{changed > 0 ? <span className="quiet">, {changed === 1 ? '1 value changed' : `${changed} values changed`}</span> : null}
      </label>
      <Select
        id={id}
        name={`Preset: ${title}`}
        value={config.preset}
        onChange={choose}
        options={PRESETS.map((preset) => ({ value: preset.id, label: preset.title, group: KIND_TITLE[preset.kind] }))}
      />
    </div>
  );
}

export function SeedField() {
  const id = useId();
  const seed = useConfig((state) => state.config.seed);
  const patch = useConfig((state) => state.patch);
  const { min, max, step } = FIELDS.seed;
  return (
    <div className="deck-field seed">
      <label htmlFor={id}>Seed</label>
      <NumberField id={id} name="Seed" integer value={seed} min={min} max={max} step={step} onChange={(value) => patch({ seed: value })} />
    </div>
  );
}

const SPEEDS = [0, 0.5, 1, 2, 5, 10];

export function SpeedPicker() {
  const id = useId();
  const speed = useConfig((state) => state.config.speed);
  const patch = useConfig((state) => state.patch);
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
  return (
    <div className="deck-field speed">
      <label htmlFor={id}>Speed</label>
      <Select
        id={id}
        name="Speed"
        value={String(speed)}
        onChange={(value) => patch({ speed: Number(value) })}
        options={speeds.map((value) => ({ value: String(value), label: value === 0 ? 'full speed' : `${setting(value)} step${value === 1 ? '' : 's'}/s` }))}
      />
    </div>
  );
}
