import type { Level } from '../core/levels';
import { registerCustom, registeredCustom } from '../objectives/custom';
import { FIELDS } from './fields';
import type { FieldName } from './fieldTypes';
import { isShared } from './ownFields';
import { objectivePatch } from './presets';
import type { RunConfig } from './runConfig';

const CLIP: Record<Level, string> = { token: 'Token', segment: 'Segment', sequence: 'Sequence' };

/**
 * The change of settings that puts a typed objective to use: its text, its aggregation and advantage, and for parameters that share
 * a setting (clip widths, dual clip, beta) the declared values, unless they were declared so before and the person has moved them since.
 * @throws ObjectiveTextError
 */
export function adoptPatch(config: RunConfig, text: string): Record<string, unknown> {
  const before = registeredCustom(config.objective)?.objective ?? null;
  const { objective } = registerCustom(text);
  const level = objective.importanceSamplingLevel;
  const patch: Record<string, unknown> = { ...objectivePatch(config, objective.id), objective: objective.id, customObjective: text };
  if (before?.lossAggMode !== objective.lossAggMode) patch.lossAggMode = objective.lossAggMode;
  if (before === null) patch.advantage = 'own';
  for (const spec of objective.hyperparameters) {
    if (!isShared(spec.name)) continue;
    const declared = before?.importanceSamplingLevel === level ? before.hyperparameters.find((h) => h.name === spec.name)?.default : undefined;
    if (declared === spec.default) continue;
    const name = (spec.name.startsWith('clip') ? `${spec.name}${CLIP[level]}` : spec.name) as FieldName;
    const field = FIELDS[name];
    if (field.kind === 'number') patch[name] = Math.min(field.max, Math.max(field.min, spec.default));
  }
  return patch;
}
