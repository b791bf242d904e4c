import { getObjective, objectiveTex, OBJECTIVES } from '../../objectives';
import type { LensSettings, LensSource } from '../../lens/types';
import { hyperOf } from './engine';
import { markDifferences } from './texDiff';

/** The listed objectives, and the one that trained on the batch if it was typed. */
export function objectiveOptions({ record }: LensSource): { value: string; label: string }[] {
  const listed = OBJECTIVES.map(({ id, title }) => ({ value: id, label: title }));
  return listed.some(({ value }) => value === record.objective) ? listed : [...listed, { value: record.objective, label: getObjective(record.objective).title }];
}

/** The loss of one token and the symbols in it, as one formula; as the product defines it, with what the settings switch off left out. */
export function lossTex(objectiveId: string, settings: LensSettings, source: LensSource): { loss: string; symbols: string[] } {
  const objective = getObjective(objectiveId);
  const { tokenLoss, definitions } = objectiveTex(objective, { hyper: hyperOf(objective, settings, source) });
  return { loss: tokenLoss, symbols: definitions.map(({ tex }) => tex) };
}

/** Both formulas with what differs framed in each. */
export function comparedTex(objectiveId: string, otherId: string, settings: LensSettings, source: LensSource): { own: string; other: string; ownSymbols: string[]; otherSymbols: string[] } {
  const own = lossTex(objectiveId, settings, source);
  const other = lossTex(otherId, settings, source);
  const apart = (mine: readonly string[], theirs: readonly string[]) => mine.filter((tex) => !theirs.includes(tex));
  return {
    own: markDifferences(own.loss, other.loss),
    other: markDifferences(other.loss, own.loss),
    ownSymbols: apart(own.symbols, other.symbols),
    otherSymbols: apart(other.symbols, own.symbols),
  };
}
