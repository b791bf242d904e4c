import { mixtureWarnings } from '../../config/warnings';
import { LEVELS, type Level } from '../../core/levels';
import { getObjective, mixtureId, mixtureOf, type Mixture } from '../../objectives';
import { Button } from '../controls/Button';
import { Disclosure } from '../controls/Disclosure';
import { Field } from '../controls/Field';
import { Segmented } from '../controls/Segmented';
import { useConfig } from '../session';
import { Glyph } from '../theme/Glyph';
import { SettingField } from './SettingField';

const WORD: Record<Level, string> = { token: 'token', segment: 'subsentence', sequence: 'sequence' };

/** What the objective is made of, piece by piece: level of ratio and clip, aggregation, advantage, place of the KL; and what is known to go wrong. */
export function MixGroup() {
  const config = useConfig((state) => state.config);
  const choose = useConfig((state) => state.chooseObjective);
  const objective = getObjective(config.objective);
  const mixture = mixtureOf(config.objective);
  const warnings = mixtureWarnings(config);
  // One line, or the rail would not fit beside the rest.
  const parts = [mixture ? levelsOf(mixture) : `${objective.title} as it is`, ...(warnings.length > 0 ? [warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`] : [])];
  return (
    <Disclosure title="Mix by hand" summary={parts.join(', ')}>
      {mixture ? (
        <>
          <LevelDial
            label="Ratio that weighs the advantage"
            help="Per token, or the geometric mean over the token’s subsentence or over its answer."
            value={mixture.ratioLevel}
            onChange={(level) => choose(mixtureId(mixture.base, level, mixture.clipLevel))}
          />
          <LevelDial
            label="Ratio that is clipped"
            help="Whose ratio is held against the band, with that level’s ε. Where it is not the ratio that weighs, a token is cut or kept by it."
            value={mixture.clipLevel}
            onChange={(level) => choose(mixtureId(mixture.base, mixture.ratioLevel, level))}
          />
        </>
      ) : (
        <p className="note">{objective.title} is no plain clipped surrogate: its levels are part of what it is.</p>
      )}
      {/* Below the dials, so that none moves under the pointer when a warning comes or goes. */}
      {warnings.map((warning) => (
        <p key={warning} className="note" role="status">
          {warning}
        </p>
      ))}
      {mixture && objective.id !== mixture.base.id ? (
        <Button kind="ghost" className="eps-link" onClick={() => choose(mixture.base.id)}>
          back to {mixture.base.title}’s own levels
        </Button>
      ) : null}
      <SettingField name="lossAggMode" />
      <SettingField name="advantage" />
      {config.beta > 0 ? <SettingField name="klPlacement" /> : null}
    </Disclosure>
  );
}

function levelsOf({ ratioLevel, clipLevel }: Mixture): string {
  return ratioLevel === clipLevel ? `ratio and clip per ${WORD[ratioLevel]}` : `ratio per ${WORD[ratioLevel]}, clip per ${WORD[clipLevel]}`;
}

function LevelDial({ label, help, value, onChange }: { label: string; help: string; value: Level; onChange(level: Level): void }) {
  return (
    <Field label={label} name={label} help={help}>
      {(ids) => (
        <Segmented
          className="levels"
          label={label}
          describedBy={ids.help}
          value={value}
          onChange={onChange}
          options={LEVELS.map((level) => ({
            value: level,
            name: WORD[level],
            label: (
              <span className="level-choice">
                <Glyph kind={level} muted={level !== value} />
                {WORD[level]}
              </span>
            ),
          }))}
        />
      )}
    </Field>
  );
}
