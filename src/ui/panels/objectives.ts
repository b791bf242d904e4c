import { LEVELS } from '../../core/levels';
import { baseOf, OBJECTIVES } from '../../objectives';
import type { GlyphKind } from '../theme/Glyph';

export interface DeckObjective {
  id: string;
  title: string;
  /** What its ratio is formed over, or what is special. */
  line: string;
  glyph: GlyphKind;
}

/** The deck's order, which is also that of the keys 1 to 4. LPO is SSPO without entropy scaling and shares its place. */
export const DECK_OBJECTIVES: readonly DeckObjective[] = [
  { id: 'grpo', title: 'GRPO', line: 'ratio per token', glyph: 'token' },
  { id: 'sspo', title: 'SSPO', line: 'per subsentence', glyph: 'segment' },
  { id: 'gspo', title: 'GSPO', line: 'per sequence', glyph: 'sequence' },
  { id: 'sppo', title: 'SPPO', line: 'one credit, value V', glyph: 'sppo' },
];

/** The deck with LPO in SSPO's place while LPO is in use, and with the word for an objective whose levels were set by hand. */
export function deckObjectives(objective: string): readonly DeckObjective[] {
  const base = baseOf(objective);
  const deck = base === 'lpo' ? DECK_OBJECTIVES.map((entry) => (entry.id === 'sspo' ? { ...entry, id: 'lpo', title: 'LPO', line: 'subsentence, fixed \u03b5' } : entry)) : DECK_OBJECTIVES;
  return base === objective ? deck : deck.map((entry) => (entry.id === base ? { ...entry, line: 'mixed by hand' } : entry));
}

const LEVEL_LINE = { token: 'ratio per token', segment: 'ratio per subsentence', sequence: 'ratio per sequence' } as const;

/** The objectives beyond the deck's four, by the level of their ratio. */
export const FURTHER_OBJECTIVES: readonly { value: string; label: string; group: string }[] = LEVELS.flatMap((level) =>
  OBJECTIVES.filter((o) => o.importanceSamplingLevel === level && o.id !== 'lpo' && !DECK_OBJECTIVES.some((entry) => entry.id === o.id)).map((o) => ({
    value: o.id,
    label: o.title,
    group: LEVEL_LINE[level],
  })),
);
