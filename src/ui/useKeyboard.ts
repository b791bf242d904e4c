import { useEffect } from 'react';
import { DECK_OBJECTIVES } from './panels/objectives';

export interface KeyActions {
  playPause(): void;
  step(): void;
  reset(): void;
  objective(id: string): void;
  theme(): void;
  help(): void;
  escape(): void;
  /** Puts the batch on show under the lens. */
  freeze(): void;
}

/** What the keys do, for the help page. */
export const KEY_LIST: readonly (readonly [string, string])[] = [
  ['Space', 'play or pause'],
  ['\u2192', 'one iteration'],
  ['R', 'reset'],
  ['1 to 4', 'objective: GRPO, SSPO, GSPO, SPPO'],
  ['F', 'freeze this batch in the lens'],
  ['T', 'dark or light'],
  ['?', 'this page'],
  ['Esc', 'let go of the token, close what is open'],
];

/** Elements that use these keys themselves. */
const OWNS_KEYS = 'input, select, textarea, [role=slider], [role=radio], [role=grid], [role=gridcell], [role=option], [contenteditable], [data-owns-keys]';
const OWNS_SPACE = `${OWNS_KEYS}, button, a, summary`;

/** Keys for the whole page; an element that needs a key keeps it. */
export function useKeyboard(actions: KeyActions): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : document.body;
      if (target.closest('dialog[open]')) return;
      if (event.key === 'Escape') return actions.escape();
      if (event.key === ' ' ? target.closest(OWNS_SPACE) : target.closest(OWNS_KEYS)) return;
      const objective = DECK_OBJECTIVES[Number(event.key) - 1];
      if (event.key === ' ') actions.playPause();
      else if (event.key === 'ArrowRight') actions.step();
      else if (event.key === '?') actions.help();
      else if (objective && event.key !== ' ') actions.objective(objective.id);
      else if (event.key.toLowerCase() === 'f') actions.freeze();
      else if (event.key.toLowerCase() === 't') actions.theme();
      else if (event.key.toLowerCase() === 'r') actions.reset();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [actions]);
}
